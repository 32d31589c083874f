import Primitives
import Push

/// What the next commit changes about the payloads that are kept with the log, where they are kept at all.
///
/// They lie beside the log, in a table of their own: most stores keep none, and the log's records stay as small as they are.
struct KeptPayloads {
  private let arena = ByteArena(capacity: 64)
  private var kept: [(number: UInt64, bytes: ByteRange)] = []
  private var forgotten: [UInt64] = []

  /// Whether there is any change.
  var hasChanges: Bool { !kept.isEmpty || !forgotten.isEmpty }

  /// Keeps the payload of the push of that number.
  mutating func keep(_ number: UInt64, _ payload: RawSpan) {
    kept.append((number, payload.withUnsafeBytes { arena.append($0) }))
  }

  /// Forgets the payload of the push of that number, which may have none.
  mutating func forget(_ number: UInt64) { forgotten.append(number) }

  /// The changes, for a log whose oldest entry has the number `oldest`.
  func change(oldest: UInt64, bytesMax: Int) -> PayloadChange {
    let all = arena.buffer
    return PayloadChange(
      kept: kept.map {
        ($0.number, UnsafeRawBufferPointer(rebasing: all[Int($0.bytes.offset)..<Int($0.bytes.offset) + Int($0.bytes.count)]))
      },
      forgotten: forgotten, oldest: oldest, bytesMax: bytesMax)
  }

  /// The commit has saved every change.
  mutating func committed() {
    guard hasChanges else { return }
    kept.removeAll(keepingCapacity: true)
    forgotten.removeAll()
    arena.removeAll(keeping: 1 << 20)
  }
}

extension StoreState {
  /// Keeps the payload of a push that was just taken in.
  mutating func keepPayload(of operation: AdmitOperation, _ batch: Batch) {
    guard operation.result.disposition != .refused, let entry = log[log.next - 1], entry.pointee.id == operation.id else { return }
    payloads.keep(entry.pointee.sequence, batch.bytes[operation.payload])
  }
}
