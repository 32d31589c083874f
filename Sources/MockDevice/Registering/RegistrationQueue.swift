import DeviceModel
import Primitives
import Push
import Reactor

/// What the gateway has yet to be told about tokens, and when to try: a pure state machine.
///
/// Only the newest word on a token counts, so the queue is never longer than there are tokens. A gateway that cannot be reached makes
/// all wait alike, with delays that double up to a bound; what it refuses for good is given up and said so.
struct RegistrationQueue: Sendable {
  /// How a call to the gateway went.
  enum Outcome: Sendable, Equatable {
    /// It did what was asked.
    case done
    /// It will not do it, and trying again would not help.
    case refused(String)
    /// It could not be reached or was not able to; worth another attempt.
    case failed(String)
  }

  /// What a finished call means for its token.
  enum Verdict: Sendable, Equatable {
    /// A newer word on the token waits already.
    case superseded
    case settled(RegistrationState)
    case givenUp(String)
    /// To be tried again; `isFirst` when the call before had not failed.
    case again(String, isFirst: Bool)
  }

  private static let always = Uptime(nanoseconds: .min)

  private let retry: (first: TimeSpan, longest: TimeSpan)
  private var wanted: [DeviceToken: DeviceEffect] = [:]
  private var order: [DeviceToken] = []
  /// The start of what is left of `order`.
  private var head = 0
  /// The newest token that stands, or is to stand, where another stood; while that is still to be told, the old one stays.
  private var successors: [DeviceToken: DeviceToken] = [:]
  private var delay: TimeSpan?
  private var notBefore = Self.always

  /// An empty queue with delays from `first` to `longest`.
  init(retry: (first: TimeSpan, longest: TimeSpan)) { self.retry = retry }

  /// How many tokens the gateway has yet to be told about.
  var count: Int { wanted.count }

  /// When the next call may be made; nil when there is none to make.
  var due: Uptime? { wanted.isEmpty ? nil : notBefore }

  /// Adds an effect, in place of an older one on the same token; what that one was to replace, the newer one replaces.
  mutating func add(_ effect: DeviceEffect) {
    var effect = effect
    switch effect {
    case .register(let registration):
      if case .replace(let old, _)? = wanted[effect.token] { effect = .replace(old, by: registration) }
    case .replace(let old, let registration):
      // The gateway has not heard of `old` yet.
      if case .replace(let first, _)? = wanted[old] { effect = .replace(first, by: registration) }
    case .unregister, .fetchMessage, .teach: break
    }
    if case .replace(let old, _) = effect { successors[old] = effect.token }
    if wanted.updateValue(effect, forKey: effect.token) == nil { order.append(effect.token) }
  }

  /// The effect to carry out now, which stays first until `finish`; nil when there is none, or the gateway is given time.
  mutating func next(at now: Uptime) -> DeviceEffect? {
    guard now >= notBefore, head < order.count else { return nil }
    while case .unregister(let token) = wanted[order[head]], isToBeReplaced(token) { advance(keeping: token) }
    return wanted[order[head]]
  }

  /// Takes the outcome of the call that `next` gave.
  mutating func finish(_ effect: DeviceEffect, _ outcome: Outcome, at now: Uptime) -> Verdict {
    precondition(head < order.count && order[head] == effect.token, "one call at a time")
    if case .failed(let reason) = outcome {
      let isFirst = delay == nil
      let wait = delay.map { min($0 * 2, retry.longest) } ?? retry.first
      delay = wait
      notBefore = now + wait
      return .again(reason, isFirst: isFirst)
    }
    delay = nil
    notBefore = Self.always
    if case .replace(let old, _) = effect, successors[old] == effect.token { successors[old] = nil }
    let isNewest = wanted[effect.token] == effect
    advance(keeping: isNewest ? nil : effect.token)
    guard isNewest else { return .superseded }
    switch outcome {
    case .refused(let reason): return .givenUp(reason)
    case .done, .failed:
      return .settled(effect.registration == nil ? .none : .registered)
    }
  }

  /// Lets the next call be made at once: the gateway is there again.
  mutating func endPause() {
    delay = nil
    notBefore = Self.always
  }

  /// Whether the gateway has yet to be told which token stands in this one's place.
  private func isToBeReplaced(_ token: DeviceToken) -> Bool {
    guard let successor = successors[token], case .replace(token, _) = wanted[successor] else { return false }
    return true
  }

  /// Takes the first token off; one with a newer word goes to the end.
  private mutating func advance(keeping token: DeviceToken?) {
    if let token { order.append(token) } else { wanted[order[head]] = nil }
    head += 1
    guard head == order.count || head >= 1024 else { return }
    order.removeFirst(head)
    head = 0
  }
}
