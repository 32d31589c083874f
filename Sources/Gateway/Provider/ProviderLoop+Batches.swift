import Primitives
import Push
import Storage
import Transport

/// What a loop has in the store's hands: how much, and whether it is more than a loop goes on adding to.
///
/// A store whose disk is slow answers later, and nobody need be refused for that: a loop that has enough in its hands reads no further
/// requests, so that TCP and HTTP/2 have the clients wait, and goes on once a quarter of it is settled.
struct StorePressure {
  private var pushes = 0
  private var bytes = 0
  /// Whether no more requests are read for now.
  private(set) var isHigh = false

  /// Counts a push that is handed in.
  mutating func add(_ operation: borrowing AdmitOperation) {
    pushes += 1
    bytes += Int(operation.payload.count) + MemoryLayout<AdmitOperation>.stride
    if pushes >= Limits.unsettledPushes || bytes >= Limits.unsettledBytes { isHigh = true }
  }

  /// Takes pushes out that are settled; true when requests are to be read again.
  mutating func remove(_ operations: ContiguousArray<AdmitOperation>) -> Bool {
    pushes -= operations.count
    for place in operations.indices { bytes -= Int(operations[place].payload.count) + MemoryLayout<AdmitOperation>.stride }
    guard isHigh, pushes < Limits.unsettledPushes / 4 * 3, bytes < Limits.unsettledBytes / 4 * 3 else { return false }
    isHigh = false
    return true
  }
}

// The way of a round's operations to the store.
extension ProviderLoop {
  /// The batch for this round's operations: while the store is behind, the last one that was handed in, as long as it has room, so that a
  /// slow disk meets few large batches and not one for each round.
  var openBatch: Batch {
    let open = state.value.batch
    guard state.value.mayTakeBack, open.isEmpty else { return open }
    state.value.mayTakeBack = false
    guard let waiting = store.takeBack(from: index) else { return open }
    store.recycle(open)
    (state.value.batch, state.value.isTakenBack) = (waiting, true)
    return waiting
  }

  /// Whether requests are to be read: not while the store has enough of this loop's in its hands.
  var wantsRequests: Bool { !state.value.pressure.isHigh }

  /// Hands the round's batch to the store; when the store has no room, its pushes are answered 503.
  func submit() {
    let batch = state.value.batch
    guard !batch.isEmpty else { return }
    let isReturned = state.value.isTakenBack
    state.value.isTakenBack = false
    if !store.submit(batch, from: index, isReturned: isReturned) {
      for index in batch.admits.indices { batch.admits[index].result = .refused(.serviceUnavailable) }
      _ = answer(batch.admits, batch.bytes)
      relieve(batch.admits)
      batch.admits.removeAll(keepingCapacity: true)
      // Outcomes always have room, and refusals are only for the log.
      guard !batch.completions.isEmpty, store.submit(batch, from: index) else { return batch.reset() }
    }
    state.value.batch = store.makeBatch()
    state.value.mayTakeBack = true
  }

  /// The store has these pushes in its hands no longer.
  func relieve(_ operations: ContiguousArray<AdmitOperation>) {
    if state.value.pressure.remove(operations) { whenRelieved() }
  }
}
