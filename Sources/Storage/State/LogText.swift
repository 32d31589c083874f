import Primitives
import Push

/// What stands in front of an entry's sentence: the collapse id, and what the warnings are about.
///
/// ```
/// 0, count, collapse id, details      with a collapse id
/// details                             without one, and as earlier versions have saved it
/// ```
struct LogHead {
  /// The collapse id; empty when there is none.
  let collapseID: UnsafeRawBufferPointer
  /// What the warnings are about, as `WarningDetail.text(of:)` writes it.
  let warningDetails: UnsafeRawBufferPointer

  /// The most bytes of a head.
  static let bytesMax = 2 + Limits.collapseIDBytes + Limits.warningDetailsBytes

  /// Reads a head; valid as long as `bytes`.
  init(_ bytes: UnsafeRawBufferPointer) {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard bytes.count >= 2, bytes[0] == 0, bytes.count >= 2 + Int(bytes[1]) else {
      (collapseID, warningDetails) = (none, bytes)
      return
    }
    let end = 2 + Int(bytes[1])
    (collapseID, warningDetails) = (UnsafeRawBufferPointer(rebasing: bytes[2..<end]), UnsafeRawBufferPointer(rebasing: bytes[end...]))
  }

  /// Lends the bytes of a head with these parts; without details they lie on the stack, since most pushes have a collapse id.
  static func withBytes<Result>(
    collapseID: UnsafeRawBufferPointer, warningDetails: UnsafeRawBufferPointer, _ body: (RawSpan) -> Result
  ) -> Result {
    let start = collapseID.isEmpty ? 0 : 2 + collapseID.count
    return withUnsafeTemporaryAllocation(byteCount: start + warningDetails.count, alignment: 1) { bytes in
      if start > 0 {
        bytes[0] = 0
        bytes[1] = UInt8(collapseID.count)
        UnsafeMutableRawBufferPointer(rebasing: bytes[2..<start]).copyMemory(from: collapseID)
      }
      UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: warningDetails)
      return body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }
  }
}

/// A sentence of the log, in a block of the pool that all its texts share; perhaps with another text in front of it.
struct LogText {
  /// In the count, which is never so large: two bytes stand first, with the count of the text in front.
  private static let headed: UInt16 = 1 << 15

  private var block: Block?
  private var countAndForm: UInt16 = 0

  /// No text.
  init() {}

  /// A copy of `text`, cut between two characters to `Limits.detailBytes`; none when the pool is full.
  init(_ text: RawSpan, in pool: BlockPool) { self.init(text.extracting(0..<0), text, in: pool) }

  /// `head`, of at most `Limits.topicBytes`, and behind it such a copy of `text`; which is which is for the caller to know.
  init(_ head: RawSpan, _ text: RawSpan, in pool: BlockPool) {
    precondition(head.byteCount <= Limits.topicBytes)
    let count = Self.count(of: text)
    guard head.byteCount + count > 0, let block = pool.allocate(head.byteCount + count) else { return }
    block.store(head)
    block.store(text.extracting(0..<count), at: head.byteCount)
    self.block = block
    countAndForm = UInt16(head.byteCount + count)
  }

  /// `head`, of at most `LogHead.bytesMax`, which is told apart from such a copy of `text`.
  init(head: RawSpan, _ text: RawSpan, in pool: BlockPool) {
    precondition(head.byteCount <= LogHead.bytesMax)
    self.init()
    guard head.byteCount > 0 else {
      self = LogText(text, in: pool)
      return
    }
    let count = Self.count(of: text)
    guard let block = pool.allocate(2 + head.byteCount + count) else { return }
    withUnsafeBytes(of: UInt16(head.byteCount)) { block.store(RawSpan(_unsafeBytes: $0)) }
    block.store(head, at: 2)
    block.store(text.extracting(0..<count), at: 2 + head.byteCount)
    self.block = block
    countAndForm = UInt16(2 + head.byteCount + count) | Self.headed
  }

  private static func count(of text: RawSpan) -> Int {
    var count = min(text.byteCount, Limits.detailBytes)
    if count < text.byteCount { while count > 0, text.byte(count) & 0xC0 == 0x80 { count -= 1 } }
    return count
  }

  /// Gives the block back.
  func release(to pool: BlockPool) {
    if let block { pool.release(block) }
  }

  /// Whether there is any text.
  var hasBlock: Bool { block != nil }

  private var all: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: block?.base, count: Int(countAndForm & ~Self.headed))
  }

  /// Bytes of the text in front, where it is told apart.
  private var headCount: Int { countAndForm & Self.headed == 0 ? 0 : Int(all.loadUnaligned(as: UInt16.self)) }

  /// The text in front, where it is told apart; valid until the text is released.
  var head: UnsafeRawBufferPointer {
    let count = headCount
    return count == 0 ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(rebasing: all[2..<2 + count])
  }

  /// The text's bytes without those in front that are told apart, valid until it is released.
  var bytes: UnsafeRawBufferPointer {
    let count = headCount
    return count == 0 ? all : UnsafeRawBufferPointer(rebasing: all[(2 + count)...])
  }

  /// How many bytes the text has.
  var count: UInt16 { UInt16(bytes.count) }

  /// The text; empty when there is none.
  var string: String { String(decoding: bytes, as: UTF8.self) }
}
