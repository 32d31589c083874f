/// One moment on three clocks: the product's, which may have been moved, the machine's, which may be set, and a steady one.
public struct Moment: Hashable, Sendable {
  /// The product's time.
  public var now: Instant
  /// The machine's time.
  public var real: Instant
  /// The machine's time at the start of the process, and what has passed since: it never goes back, and never leaps. What waits for a while
  /// goes by it; it is no date to tell anybody.
  public var steady: Instant
  /// Whether the product's time stands still.
  public var isFrozen: Bool

  /// A moment with these readings; a steady clock that is not given shows the machine's time.
  @inlinable public init(now: Instant, real: Instant, steady: Instant? = nil, isFrozen: Bool = false) {
    self.now = now
    self.real = real
    self.steady = steady ?? real
    self.isFrozen = isFrozen
  }

  /// A moment at which all clocks show the same.
  @inlinable public init(_ now: Instant) { self.init(now: now, real: now) }

  /// How far the product's time is ahead of the machine's; negative when it is behind.
  @inlinable public var lead: TimeSpan { now - real }

  /// How far the product's time is ahead of the steady clock's; negative when it is behind.
  @inlinable public var steadyLead: TimeSpan { now - steady }
}
