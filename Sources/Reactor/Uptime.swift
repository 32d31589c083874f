import Glibc
public import Primitives

/// A point on the clock that only ever runs forward (`CLOCK_MONOTONIC`), for timeouts.
///
/// A type of its own beside `Instant`: the product's clock may be set, or be virtual, and a jump of it must not
/// time out every connection.
public struct Uptime: Hashable, Comparable, Sendable {
  /// Nanoseconds since some fixed point in the past.
  public var nanoseconds: Int64

  /// The point `nanoseconds` after the origin of the clock.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// After every other point.
  public static let never = Uptime(nanoseconds: .max)

  /// Reads the kernel's clock: about 25 ns, so once a poll round and not once a request.
  public static func read() -> Uptime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Uptime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Whether `a` comes before `b`.
  @inlinable public static func < (a: Uptime, b: Uptime) -> Bool { a.nanoseconds < b.nanoseconds }
  /// The point `b` later, saturating.
  @inlinable public static func + (a: Uptime, b: TimeSpan) -> Uptime {
    Uptime(nanoseconds: a.nanoseconds.saturatingAdd(b.nanoseconds))
  }
  /// The span from `b` to `a`.
  @inlinable public static func - (a: Uptime, b: Uptime) -> TimeSpan {
    TimeSpan(nanoseconds: a.nanoseconds.saturatingSubtract(b.nanoseconds))
  }
}
