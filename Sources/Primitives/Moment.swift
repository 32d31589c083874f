/// One moment on both clocks: the product's, which may have been moved, and the machine's.
public struct Moment: Hashable, Sendable {
  /// The product's time.
  public var now: Instant
  /// The machine's time.
  public var real: Instant
  /// Whether the product's time stands still.
  public var isFrozen: Bool

  /// A moment with these readings.
  @inlinable public init(now: Instant, real: Instant, isFrozen: Bool = false) {
    self.now = now
    self.real = real
    self.isFrozen = isFrozen
  }

  /// A moment at which both clocks show the same.
  @inlinable public init(_ now: Instant) { self.init(now: now, real: now) }

  /// How far the product's time is ahead of the machine's; negative when it is behind.
  @inlinable public var lead: TimeSpan { now - real }
}
