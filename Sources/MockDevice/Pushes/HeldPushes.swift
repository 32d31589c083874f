import Primitives
import Push
import Reactor

/// Pushes that are held until the gateway has been asked something, or until that takes too long; each by what was asked about.
///
/// Belongs to its loop.
final class HeldPushes<Key: Hashable> {
  private struct Held {
    let deadline: Uptime
    var resume: [() -> Void]
  }

  /// Told when one was held for as long as may be, which that is: whoever was asked is silent.
  var lapsed: (TimeSpan) -> Void = { _ in }
  private unowned let loop: EventLoop
  private let span: TimeSpan
  private var held: [Key: Held] = [:]
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

  /// Holds a push; true when it is the first of its key, and the gateway is to be asked.
  func hold(_ key: Key, _ resume: @escaping () -> Void) -> Bool {
    count += 1
    if held[key] != nil {
      held[key]?.resume.append(resume)
      return false
    }
    held[key] = Held(deadline: loop.uptime + span, resume: [resume])
    armTimer()
    return true
  }

  /// Lets the pushes of the key go on, in the order in which they came.
  func release(_ key: Key) {
    guard let released = held.removeValue(forKey: key) else { return }
    count -= released.resume.count
    for resume in released.resume { resume() }
  }

  /// Has the pushes of one key wait under another, which has none.
  func move(_ key: Key, to other: Key) {
    guard let moved = held.removeValue(forKey: key) else { return }
    held[other] = moved
  }

  /// Whether any push of the key is held.
  func holds(_ key: Key) -> Bool { held[key] != nil }

  private func giveUp() {
    let now = loop.uptime
    let late = held.filter { $0.value.deadline <= now }.keys
    if !late.isEmpty { lapsed(span) }
    for key in late { release(key) }
    armTimer()
  }

  private func armTimer() {
    if let earliest = held.values.map(\.deadline).min() { timer?.arm(at: earliest) }
  }
}
