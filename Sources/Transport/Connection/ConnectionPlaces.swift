import Primitives
import Reactor

/// The places that the connections of one face have: whose they are, and who gives way when they are short.
///
/// A connection that costs a stranger nothing must not keep out one that is meant in earnest. So a connection is *unproven* until the
/// layers above have seen from it what that face asks for: a request, or an admitted credential. When the places are short, an unproven
/// one gives way to the newcomer, the oldest first, since whoever is in earnest has proven himself long before.
///
/// ```
///   newcomer ─▶ his address has its share ──▶ its own oldest unproven connection
///            └▶ otherwise ──▶ the oldest unproven one of the address that has most of them
///                         └▶ none anywhere ──▶ the longest idle one of an address that has more than its share
/// ```
///
/// Belongs to its loop; several servers of one face may share it.
public final class ConnectionPlaces {
  /// Who shares a part of the places: an IPv4 address, or the 64 bits of an IPv6 address that its network gives out.
  struct Origin: Hashable {
    private let isV6: Bool
    private let bits: UInt64

    init(_ peer: SocketAddress) {
      switch peer.host {
      case .v4(let address): (isV6, bits) = (false, UInt64(address))
      // An IPv4 peer as a socket for both families shows it.
      case .v6(0, let low, _) where low.bigEndian >> 32 == 0xffff: (isV6, bits) = (false, low >> 32)
      case .v6(let high, let low, _): (isV6, bits) = (true, high == 0 ? low : high)
      }
    }
  }

  /// The connections of one origin.
  private struct Line {
    var places = 0
    var unproven = 0
    /// The unproven ones, the oldest first, from `head` on; those that have ended or proven themselves meanwhile are passed over.
    var queue: ContiguousArray<SlabKey> = []
    var head = 0

    /// Drops what is passed over, once that is most of it.
    mutating func compact(_ isWaiting: (SlabKey) -> Bool) {
      guard queue.count > 2 * unproven + 32 else { return }
      queue = ContiguousArray(queue[head...].filter(isWaiting))
      head = 0
    }
  }

  /// Connections at once.
  public let capacity: Int
  /// Connections of one origin from which on its new ones take its own places.
  let share: Int
  private var holders: [SlabKey: (origin: Origin, isProven: Bool)] = [:]
  private var lines: [Origin: Line] = [:]

  /// `capacity` places, all free; half of them are the share of one origin.
  public init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    share = max(1, capacity / 2)
  }

  /// Places that are taken.
  var count: Int { holders.count }

  /// Gives a place to a new connection.
  func take(_ key: SlabKey, _ origin: Origin) {
    holders[key] = (origin, false)
    lines[origin, default: Line()].places += 1
    lines[origin]?.unproven += 1
    lines[origin]?.queue.append(key)
    lines[origin]?.compact { holders[$0]?.isProven == false }
  }

  /// The connection has shown what the face asks for; it gives way to nobody while others are unproven.
  func prove(_ key: SlabKey) {
    guard let holder = holders[key], !holder.isProven else { return }
    holders[key] = (holder.origin, true)
    lines[holder.origin]?.unproven -= 1
  }

  /// The connection is closed.
  func release(_ key: SlabKey) {
    guard let holder = holders.removeValue(forKey: key) else { return }
    lines[holder.origin]?.places -= 1
    if !holder.isProven { lines[holder.origin]?.unproven -= 1 }
    if lines[holder.origin]?.places == 0 { lines[holder.origin] = nil }
  }

  /// The connection that gives way to a newcomer, which the caller then closes; nil when none does.
  ///
  /// O(1) for one of its own origin, else O(origins); only where every connection is proven, O(connections).
  ///
  /// - Parameter idleSince: Since when a connection has neither asked anything nor is owed anything; nil while it is busy.
  func victim(for newcomer: Origin, idleSince: (SlabKey) -> Uptime?) -> SlabKey? {
    if (lines[newcomer]?.places ?? 0) >= share, let own = oldestUnproven(of: newcomer) { return own }
    if let longest = lines.max(by: { $0.value.unproven < $1.value.unproven }), let oldest = oldestUnproven(of: longest.key) {
      return oldest
    }
    guard let largest = lines.max(by: { $0.value.places < $1.value.places }), largest.value.places > share else { return nil }
    var found: (key: SlabKey, since: Uptime)?
    for (key, holder) in holders where holder.origin == largest.key {
      if let since = idleSince(key), found.map({ since < $0.since }) ?? true { found = (key, since) }
    }
    return found?.key
  }

  private func oldestUnproven(of origin: Origin) -> SlabKey? {
    guard let line = lines[origin], line.unproven > 0 else { return nil }
    var head = line.head
    while head < line.queue.count, holders[line.queue[head]]?.isProven != false { head += 1 }
    lines[origin]?.head = head
    return head < line.queue.count ? line.queue[head] : nil
  }
}
