import Delivery
import Primitives
import Push

// What the pushes of each upstream hold of the memory for pushes, so that one that is down takes none of what others need.
extension StoreState {
  /// Why a push of a token cannot be taken in.
  func noRoom(for number: UInt32) -> Admission {
    let upstream = routes[tokens[number].pointee.route].pointee.upstream
    return shares.isKnown(upstream) ? .refused(.serviceUnavailable, .upstreamFull) : .refused(.serviceUnavailable)
  }

  /// Notes that a push of a token was not taken in.
  mutating func noteFull(_ number: UInt32) {
    let upstream = routes[tokens[number].pointee.route].pointee.upstream
    if shares.isKnown(upstream), !full.contains(Int(upstream)) { full.append(Int(upstream)) }
  }

  /// Which upstream it is that has no room left, and how much it holds.
  func fullness(of operation: AdmitOperation) -> String {
    guard let number = tokens.find(operation.token) else { return "" }
    let upstream = routes[tokens[number].pointee.route].pointee.upstream
    guard shares.isKnown(upstream) else { return "" }
    return
      "pushes for the upstream \(settings.upstreams[Int(upstream)]) hold \(shares.held[Int(upstream)] >> 20) MB, which is all that they may while it takes none of them"
  }

  /// Notes what the pushes hold anew: they have been loaded, or the configuration sends them to other upstreams. O(pushes).
  mutating func countShares() {
    shares.clear()
    for slot in 0..<pushes.end where pushes[slot].pointee.sequence != 0 {
      let push = pushes[slot]
      guard push.pointee.token != none, let block = push.pointee.block else { continue }
      push.pointee.upstream = routes[tokens[push.pointee.token].pointee.route].pointee.upstream
      shares.add(block.capacity, to: push.pointee.upstream)
    }
  }

  /// The warnings that hold of upstreams without room; one that has some again is taken off.
  mutating func fullUpstreams() -> [StoreWarning] {
    guard !full.isEmpty else { return [] }
    // Not before there is some more than for the next push, so that it is not full and not full again in turns.
    full.removeAll { shares.room(for: UInt16($0)) > shares.total / 64 }
    return full.sorted().map { .upstreamFull(settings.upstreams[$0]) }
  }
}
