public import Delivery
public import Primitives
import Push

/// What one loop hands to the store in one go, and gets back settled; it is emptied and used again.
///
/// A loop fills `admits`, `completions` and `refusals` and submits the batch. When it comes back, each admission has its
/// `result`, and `forwards` lists what is to be sent now: pushes of this batch, and pushes that had waited; `ignored` tells the
/// outcomes that are of interest to people. Batches with nothing but `forwards` come unasked, when pushes become due.
///
/// `@unchecked Sendable`, because a batch has one owner at a time: the loop until `submit`, the store until it delivers, the
/// loop again until it recycles.
public final class Batch: @unchecked Sendable {
  private struct Operations {
    var admits: ContiguousArray<AdmitOperation> = []
    var completions: ContiguousArray<CompleteOperation> = []
    var refusals: ContiguousArray<RefusedOperation> = []
    var forwards: ContiguousArray<ForwardedPush> = []
    var ignored: ContiguousArray<IgnoredPush> = []
    var lowered: ContiguousArray<LoweredPush> = []
    var touchedBytes = 0
    var questions: [ContentStateQuestion] = []
  }

  private let operations = Confined(Operations())
  let arena = ByteArena(capacity: Limits.batchArenaBytes)

  /// Pushes to accept.
  public var admits: ContiguousArray<AdmitOperation> {
    _read { yield operations.value.admits }
    _modify { yield &operations.value.admits }
  }
  /// Outcomes of pushes that this loop forwarded.
  public var completions: ContiguousArray<CompleteOperation> {
    _read { yield operations.value.completions }
    _modify { yield &operations.value.completions }
  }
  /// Requests that were answered with an error.
  public var refusals: ContiguousArray<RefusedOperation> {
    _read { yield operations.value.refusals }
    _modify { yield &operations.value.refusals }
  }
  /// Pushes that the loop is to send now; the store's to fill.
  public internal(set) var forwards: ContiguousArray<ForwardedPush> {
    _read { yield operations.value.forwards }
    _modify { yield &operations.value.forwards }
  }
  /// The pushes among `completions` that their devices let pass; the store's to fill.
  public internal(set) var ignored: ContiguousArray<IgnoredPush> {
    _read { yield operations.value.ignored }
    _modify { yield &operations.value.ignored }
  }

  /// The pushes that go at priority 5 in place of 10; the store's to fill.
  public internal(set) var lowered: ContiguousArray<LoweredPush> {
    _read { yield operations.value.lowered }
    _modify { yield &operations.value.lowered }
  }

  /// What is to be found out about updates among `admits` before they are settled; mostly nothing.
  public var questions: [ContentStateQuestion] {
    _read { yield operations.value.questions }
    _modify { yield &operations.value.questions }
  }

  /// An empty batch, with room for what a loop hands in at once, so that using it again and again allocates nothing. Memory that is
  /// never written costs none.
  public init() {
    admits.reserveCapacity(Limits.batchOperations)
    completions.reserveCapacity(Limits.batchOperations)
    forwards.reserveCapacity(2 * Limits.batchOperations)
  }

  /// Whether it holds no operation.
  public var isEmpty: Bool { admits.isEmpty && completions.isEmpty && refusals.isEmpty }

  /// How many operations it holds; `Limits.batchOperations` is the most that one batch should have.
  public var operationCount: Int { admits.count + completions.count + refusals.count }

  /// Copies bytes into the arena, for an operation to refer to.
  public func append(_ bytes: RawSpan) -> ByteRange { bytes.withUnsafeBytes { arena.append($0) } }

  /// Copies text into the arena, for an operation to refer to.
  public func append(_ text: String) -> ByteRange {
    var text = text
    return text.withUTF8 { arena.append(UnsafeRawBufferPointer($0)) }
  }

  /// The arena's bytes; a range of any operation of this batch lies in them.
  public var bytes: RawSpan {
    @_lifetime(borrow self) get {
      _overrideLifetime(RawSpan(_unsafeBytes: arena.buffer), borrowing: self)
    }
  }

  /// The most bytes that it ever held. Those that it merely has room for were never written and take no memory.
  private(set) var touchedBytes: Int {
    get { operations.value.touchedBytes }
    set { operations.value.touchedBytes = newValue }
  }

  /// Bytes of what it holds.
  var heldBytes: Int {
    arena.count + admits.count * MemoryLayout<AdmitOperation>.stride + completions.count * MemoryLayout<CompleteOperation>.stride
      + refusals.count * MemoryLayout<RefusedOperation>.stride + forwards.count * MemoryLayout<ForwardedPush>.stride
      + ignored.count * MemoryLayout<IgnoredPush>.stride + lowered.count * MemoryLayout<LoweredPush>.stride
  }

  /// Forgets everything and keeps the memory, up to 1 MB of bytes.
  public func reset() {
    touchedBytes = max(touchedBytes, heldBytes)
    admits.removeAll(keepingCapacity: true)
    completions.removeAll(keepingCapacity: true)
    refusals.removeAll(keepingCapacity: true)
    forwards.removeAll(keepingCapacity: true)
    ignored.removeAll(keepingCapacity: true)
    lowered.removeAll(keepingCapacity: true)
    if !questions.isEmpty { questions.removeAll() }
    arena.removeAll(keeping: 1 << 20)
  }
}
