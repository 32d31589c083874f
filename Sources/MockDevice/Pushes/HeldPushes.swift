import Primitives
import Push
import Reactor

/// Pushes to tokens that nobody has described here, held until the gateway has said what it knows of them, or until that takes too long.
///
/// Belongs to its loop.
final class HeldPushes {
  private struct Held {
    let deadline: Uptime
    var resume: [() -> Void]
  }

  /// Told when one was held for as long as may be: whoever was asked is silent.
  var lapsed: () -> Void = {}
  private unowned let loop: EventLoop
  private let span: TimeSpan
  private var held: [DeviceToken: Held] = [:]
  private var count = 0
  private var timer: Timer?

  /// - Parameter span: How long each is held at most.
  init(on loop: EventLoop, atMost span: TimeSpan) {
    self.loop = loop
    self.span = span
    timer = loop.makeTimer { [unowned self] in self.giveUp() }
  }

  /// Whether one more push may be held.
  var hasRoom: Bool { count < Limits.heldPushes }

  /// Holds a push; true when it is the first to its token, and the gateway is to be asked.
  func hold(_ token: DeviceToken, _ resume: @escaping () -> Void) -> Bool {
    count += 1
    if held[token] != nil {
      held[token]?.resume.append(resume)
      return false
    }
    held[token] = Held(deadline: loop.uptime + span, resume: [resume])
    armTimer()
    return true
  }

  /// Lets the pushes to the token go on, in the order in which they came.
  func release(_ token: DeviceToken) {
    guard let released = held.removeValue(forKey: token) else { return }
    count -= released.resume.count
    for resume in released.resume { resume() }
  }

  private func giveUp() {
    let now = loop.uptime
    let late = held.filter { $0.value.deadline <= now }.keys
    if !late.isEmpty { lapsed() }
    for token in late { release(token) }
    armTimer()
  }

  private func armTimer() {
    if let earliest = held.values.map(\.deadline).min() { timer?.arm(at: earliest) }
  }
}
