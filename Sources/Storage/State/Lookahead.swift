import Primitives
import Push

/// Where the next admissions find what they need, looked up for a block of them at once.
///
/// With a hundred thousand tokens nothing of a push is in the processor's caches: its token's place in the index, the token, the places
/// in the log's index of the push that comes and of the one that must go for it. One push after another, each would wait for memory some
/// five times; here the loads of a whole block are under way together.
struct Lookahead: ~Copyable {
  /// Operations of a block: enough to keep memory busy, and few enough that what was loaded is still there when it is used.
  static let count = 32

  fileprivate let hashes = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
  fileprivate let forgotten = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
  fileprivate let numbers = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
  /// What was loaded only to have it at hand; kept, so that the compiler does not leave the loads out.
  fileprivate let loaded = UnsafeMutablePointer<UInt64>.allocate(capacity: 4 * count)

  deinit {
    hashes.deallocate()
    forgotten.deallocate()
    numbers.deallocate()
    loaded.deallocate()
  }
}

extension StoreState {
  /// Admits all of a batch, block by block.
  mutating func admitAll(_ operations: UnsafeMutableBufferPointer<AdmitOperation>, _ batch: Batch, at now: Instant) {
    var start = 0
    while start < operations.count {
      let block = start..<min(start + Lookahead.count, operations.count)
      lookAhead(UnsafeMutableBufferPointer(rebasing: operations[block]))
      for index in block {
        let number = lookahead.numbers[index - start]
        admit(&operations[index], index, batch, known: number == none ? nil : number, at: now)
        if !operations[index].mismatch.isEmpty { keepMismatch(of: operations[index], batch) }
        if !operations[index].warningDetails.isEmpty { keepWarningDetails(of: operations[index], batch) }
      }
      start = block.upperBound
    }
  }

  // Each loop does one kind of load, and little else, so that many are under way at once.
  private func lookAhead(_ operations: UnsafeMutableBufferPointer<AdmitOperation>) {
    let (hashes, forgotten, numbers, loaded) = (lookahead.hashes, lookahead.forgotten, lookahead.numbers, lookahead.loaded)
    let count = operations.count
    for index in 0..<count { hashes[index] = tokens.hash(of: operations[index].token) }
    for index in 0..<count { loaded[index] = tokens.peek(hashes[index]) }
    for index in 0..<count { forgotten[index] = log.hashOfForgotten(index) }
    for index in 0..<count { loaded[index + Lookahead.count] = log.peek(forgotten[index]) }
    for index in 0..<count { numbers[index] = tokens.find(operations[index].token, hash: hashes[index]) ?? none }
    for index in 0..<count { loaded[index + 2 * Lookahead.count] = log.peek(log.hash(operations[index].id)) }
    for index in 0..<count where numbers[index] != none {
      loaded[index + 3 * Lookahead.count] = UInt64(tokens[numbers[index]].pointee.laneCount)
    }
  }
}
