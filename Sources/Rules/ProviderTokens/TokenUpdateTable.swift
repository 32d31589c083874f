public import Primitives

/// Counts the provider tokens of one key that come from one address, over all its connections.
public protocol ProviderTokenUpdates: AnyObject {
  /// Whether the token may be used now, as `TokenUpdateTable.note` says.
  func note(_ token: UInt64, source: UInt64, provider: UInt64, now: Instant, keeps: Bool) -> Bool
}

/// The provider tokens that were last new, for each address and key: as many pairs as the table has places.
///
/// Four places for each hash; a new pair goes over the one that has been without a new token for the longest. Who fills the table
/// from ever new addresses only has the others' counts forgotten.
public struct TokenUpdateTable: Sendable {
  private struct Place {
    var key: UInt64 = 0
    var window = TokenUpdateWindow()
  }

  private static let ways = 4
  private var places: [Place]

  /// A table of `capacity` places, a power of two of at least 4.
  public init(capacity: Int) {
    precondition(capacity >= Self.ways && capacity & (capacity - 1) == 0, "the capacity must be a power of two")
    places = Array(repeating: Place(), count: capacity)
  }

  /// Whether a token may be used now: one that was used before may, and a new one unless too many were within 20 minutes.
  ///
  /// - Parameters:
  ///   - token: A hash of the token, never 0.
  ///   - source: A hash of the address, of whose bits all depend on a secret.
  ///   - provider: What tells the token's key from others, the same whatever keys there are besides.
  ///   - keeps: Whether a token that may not be used counts all the same.
  public mutating func note(_ token: UInt64, source: UInt64, provider: UInt64, now: Instant, keeps: Bool) -> Bool {
    // An odd factor spreads the keys over the table; 0 is a place that was never used.
    let key = source ^ (provider &* 0x9E37_79B9_7F4A_7C15) | 1
    let first = Int(truncatingIfNeeded: key >> 1) & (places.count - 1) & ~(Self.ways - 1)
    var oldest = first
    for index in first..<first + Self.ways {
      if places[index].key == key { return places[index].window.note(token, now, keeps: keeps) }
      if places[index].window.lastUpdate < places[oldest].window.lastUpdate { oldest = index }
    }
    places[oldest] = Place(key: key)
    return places[oldest].window.note(token, now, keeps: keeps)
  }
}
