import Primitives
import Push
import Synchronization

extension Gateway {
  /// What looks, whenever it is called, whether the machine's clock was set since it was last, and tells by how much.
  static func clockWatch(_ clock: VirtualClock, tell: @escaping @Sendable (TimeSpan) -> Void) -> @Sendable () -> Void {
    let watch = Watch()
    return { if let leap = watch.look(at: clock.moment) { tell(leap) } }
  }

  private final class Watch: Sendable {
    private let watch = Mutex(ClockWatch(threshold: .seconds(Limits.clockLeapSeconds)))
    func look(at moment: Moment) -> TimeSpan? { watch.withLock { $0.look(at: moment) } }
  }
}
