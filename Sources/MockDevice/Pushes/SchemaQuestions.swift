import Primitives
import Push
import Reactor

/// Pushes to activities, held until the gateway has told the schemas of their app, so that each is judged by what held when it came.
///
/// One question serves all pushes that came before it was asked. A push that comes while one is under way waits for the next: the answer
/// to the first may be older than the push. A gateway that keeps pushes waiting in vain is not asked again for a while. What it told last
/// holds then, which the outcome of the push says.
///
/// Belongs to its loop.
final class SchemaQuestions {
  /// The pushes that one question serves.
  private struct Round: Hashable {
    let bundleID: String
    let number: UInt64
  }

  /// Told when a push was held for as long as may be, which that is.
  var lapsed: (TimeSpan) -> Void = { _ in }
  private unowned let loop: EventLoop
  private let held: HeldPushes<Round>
  /// The number of the question that is under way, by its app.
  private var asked: [String: UInt64] = [:]
  private var last: UInt64 = 0
  private var notBefore = Uptime(nanoseconds: .min)

  /// - Parameter span: How long a push is held at most.
  init(on loop: EventLoop, atMost span: TimeSpan) {
    self.loop = loop
    held = HeldPushes(on: loop, atMost: span)
    held.lapsed = { [unowned self] span in
      pause()
      lapsed(span)
    }
  }

  /// Whether a push is to wait for an answer.
  func asks(about bundleID: String) -> Bool { held.hasRoom && (asked[bundleID] != nil || loop.uptime >= notBefore) }

  /// Holds a push.
  ///
  /// - Parameter ask: Asks the gateway; false when it cannot be asked.
  func hold(_ bundleID: String, _ resume: @escaping () -> Void, ask: (String) -> Bool) {
    if let number = asked[bundleID] {
      _ = held.hold(Round(bundleID: bundleID, number: number + 1), resume)
      return
    }
    // Even numbers apart, so that the round after the one under way has a number of its own.
    last += 2
    _ = held.hold(Round(bundleID: bundleID, number: last), resume)
    begin(bundleID, last, ask)
  }

  /// The question about an app has been answered: its pushes go on, and those that came meanwhile are asked for.
  ///
  /// - Parameter silence: Why it has not; nil when it has.
  func settle(_ bundleID: String, silence: Registrar.Silence?, ask: (String) -> Bool) {
    guard let number = asked.removeValue(forKey: bundleID) else { return }
    let isSilence = silence != nil
    if silence?.costsTime == true { pause() }
    let next = Round(bundleID: bundleID, number: number + 1)
    let isWaitedFor = held.holds(next)
    if isWaitedFor, !isSilence {
      last += 2
      held.move(next, to: Round(bundleID: bundleID, number: last))
    }
    held.release(Round(bundleID: bundleID, number: number))
    if isSilence { held.release(next) }
    if isWaitedFor, !isSilence { begin(bundleID, last, ask) }
  }

  private func begin(_ bundleID: String, _ number: UInt64, _ ask: (String) -> Bool) {
    asked[bundleID] = number
    guard !ask(bundleID) else { return }
    asked[bundleID] = nil
    held.release(Round(bundleID: bundleID, number: number))
  }

  /// Ends the pause: the gateway tells.
  func resume() { notBefore = Uptime(nanoseconds: .min) }

  private func pause() { notBefore = loop.uptime + .milliseconds(Limits.tokenQuestionPauseMilliseconds) }
}
