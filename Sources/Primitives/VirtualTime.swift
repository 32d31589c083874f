/// How the product's time follows from the machine's: ahead of it by some span, or standing still.
///
/// It never goes back: what has been decided at an instant would else be decided again before it. A clock that is stopped for a while
/// and then runs on is behind the machine's by that while, and may be moved up to it.
public struct VirtualTime: Hashable, Sendable {
  /// How far the product's time is ahead of the machine's while it runs; negative when it is behind.
  public private(set) var lead: TimeSpan
  /// Where it stands still; nil while it runs.
  public private(set) var frozenAt: Instant?

  /// Time that runs `lead` ahead of the machine's.
  public init(lead: TimeSpan = .zero) { self.lead = lead }

  /// Time that stands still.
  public init(frozenAt: Instant) {
    lead = .zero
    self.frozenAt = frozenAt
  }

  /// Whether it is the machine's own.
  public var isReal: Bool { frozenAt == nil && lead == .zero }

  /// The product's time when the machine's is `real`.
  public func now(at real: Instant) -> Instant { frozenAt ?? real + lead }

  /// Makes it stand still where it is.
  public mutating func freeze(at real: Instant) { frozenAt = now(at: real) }

  /// Makes it run on from where it stands.
  public mutating func run(at real: Instant) {
    guard let frozenAt else { return }
    lead = frozenAt - real
    self.frozenAt = nil
  }

  /// Sets it to `instant`, which may lie before: for clocks that follow another.
  public mutating func set(to instant: Instant, at real: Instant) {
    if frozenAt == nil { lead = instant - real } else { frozenAt = instant }
  }

  /// Moves it on to `instant`, where it stands or runs as before; false, and nothing changes, when it is past that.
  public mutating func move(to instant: Instant, at real: Instant) -> Bool {
    guard instant >= now(at: real) else { return false }
    set(to: instant, at: real)
    return true
  }
}
