public import Primitives

/// One deadline on a loop that is moved often and passed rarely.
///
/// Arming it again for a later time, which is what every sign of life does to a timeout, is one store: the
/// loop's heap keeps the earlier entry, finds out when that comes up, and files the timer anew.
public final class Timer {
  /// When the action is due; `.never` while disarmed.
  private(set) var deadline = Uptime.never
  /// The time the heap has it filed under, not later than `deadline`.
  var filed = Uptime.never
  /// Its place in the heap, or -1.
  var index = -1
  let action: () -> Void
  private unowned let loop: EventLoop

  init(loop: EventLoop, action: @escaping () -> Void) {
    self.loop = loop
    self.action = action
  }

  /// Whether the action is due some time.
  public var isArmed: Bool { deadline != .never }

  /// Makes the action run once, `delay` after the time of this poll round, and not when it was due before.
  public func arm(after delay: TimeSpan) { arm(at: loop.uptime + delay) }

  /// Makes the action run once, in the first round not before `deadline`.
  public func arm(at deadline: Uptime) {
    self.deadline = deadline
    if index < 0 || deadline < filed { loop.timers.file(self) }
  }

  /// Forgets the deadline; as cheap as arming.
  public func disarm() { deadline = .never }

  /// Disarms the timer and takes it out of the loop at once, so that the loop holds its owner no longer.
  public func cancel() {
    deadline = .never
    loop.timers.remove(self)
  }

  func fire() {
    deadline = .never
    action()
  }
}
