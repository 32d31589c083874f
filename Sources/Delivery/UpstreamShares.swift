/// Who holds how much of a bounded amount: bytes of waiting pushes, or places in a queue. One upstream that takes nothing off never leaves
/// another one without.
///
/// Half of the amount is kept for the upstreams, in equal parts: what is kept for one is never given to another, however much that asks
/// for. The other half goes to whoever asks first. So a single upstream can have nearly all of it, and of two the one that is down three
/// quarters. Pure; everything is O(1).
public struct UpstreamShares: Sendable {
  /// The whole amount.
  public let total: Int
  /// How much is kept for each upstream.
  public let reserve: Int
  /// How much each holds. The last place is that of all numbers that no upstream has; nothing is kept for it.
  public private(set) var held: ContiguousArray<Int>
  /// How much all hold.
  public private(set) var heldInAll = 0
  /// How much is kept for those that hold less than their part.
  private var kept: Int

  /// Shares of `total` for `upstreams`, which have the numbers from 0.
  public init(of total: Int, upstreams: Int) {
    precondition(total >= 0 && upstreams >= 0)
    self.total = total
    reserve = upstreams == 0 ? 0 : total / (2 * upstreams)
    held = ContiguousArray(repeating: 0, count: upstreams + 1)
    kept = reserve * upstreams
  }

  /// The place of an upstream in `held`.
  public func place(of upstream: UInt16) -> Int { min(Int(upstream), held.count - 1) }

  /// Whether the number is one of an upstream.
  public func isKnown(_ upstream: UInt16) -> Bool { Int(upstream) < held.count - 1 }

  /// How much more an upstream may have.
  public func room(for upstream: UInt16) -> Int {
    let place = place(of: upstream)
    return total - heldInAll - (kept - keptFor(place))
  }

  /// The most that an upstream can have while the others hold nothing.
  public func most(for upstream: UInt16) -> Int { total - reserve * (held.count - 1) + (isKnown(upstream) ? reserve : 0) }

  /// Whether an upstream holds little: less than what is kept for it, or less than half of what it could have.
  public func isAtEase(_ upstream: UInt16) -> Bool {
    held[place(of: upstream)] < reserve || room(for: upstream) > most(for: upstream) / 2
  }

  /// Notes that an upstream holds more, or with a negative `amount` less.
  ///
  /// What was there before a restart is held even where it would not be given now.
  public mutating func add(_ amount: Int, to upstream: UInt16) {
    let place = place(of: upstream)
    kept -= keptFor(place)
    held[place] += amount
    heldInAll += amount
    kept += keptFor(place)
  }

  /// Notes that nobody holds anything.
  public mutating func clear() { self = UpstreamShares(of: total, upstreams: held.count - 1) }

  private func keptFor(_ place: Int) -> Int { place == held.count - 1 ? 0 : max(0, reserve - held[place]) }
}
