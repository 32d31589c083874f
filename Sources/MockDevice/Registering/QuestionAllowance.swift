import Primitives
import Push
import Reactor

/// How many questions about tokens the gateway may be asked: a bucket, which is full at the start, and shut for a while after a question
/// that kept a push waiting in vain.
struct QuestionAllowance: Sendable {
  private let atOnce: Int64
  private let interval: TimeSpan
  /// When the bucket is full again.
  private var full = Uptime(nanoseconds: .min)
  private var notBefore = Uptime(nanoseconds: .min)

  /// A full bucket.
  init(atOnce: Int = Limits.tokenQuestions.atOnce, eachSecond: Int = Limits.tokenQuestions.eachSecond) {
    self.atOnce = Int64(atOnce)
    interval = TimeSpan(nanoseconds: 1_000_000_000 / Int64(eachSecond))
  }

  /// Takes one question out, where there is one. O(1).
  ///
  /// - Parameter isNeeded: The question is asked in any case.
  mutating func take(at now: Uptime, isNeeded: Bool) -> Bool {
    let from = max(full, now)
    guard isNeeded || (now >= notBefore && from + interval <= now + interval * atOnce) else { return false }
    full = min(from, now + interval * atOnce) + interval
    return true
  }

  /// Asks nothing for a while but what is needed.
  mutating func pause(at now: Uptime) { notBefore = now + .milliseconds(Limits.tokenQuestionPauseMilliseconds) }

  /// Ends the pause: the gateway tells.
  mutating func resume() { notBefore = Uptime(nanoseconds: .min) }
}
