import Glibc
import Primitives

/// Where a header block of ours becomes the frames that nghttp2's HEADERS frame is replaced by.
///
/// nghttp2 is given requests and responses without any field: it does all the accounting of streams, and serialises a
/// HEADERS frame with an empty block. While it does so, it calls back, and the message's block is copied here; then
/// `FrameOutlet` sends what is here instead. One stage serves all sessions of a thread, since nothing stays in it.
struct HeaderStage {
  /// The largest payload of a frame that every peer takes (RFC 9113 section 6.5.2).
  static let payloadMax = 16_384
  private static let headBytes = 9
  /// The most bytes of a block: a status, and a full `FieldList`.
  private static let blockMax = 16 + FieldList.bytesMax
  // Before the block there is room for a frame's head and for an update of the table's size.
  private static let lead = headBytes + 1
  private static let framesMax = (blockMax + payloadMax) / payloadMax

  private let base: UnsafeMutablePointer<UInt8>
  private var count = 0
  /// Whether a block was taken that no frame was made of yet.
  private(set) var isFilled = false

  init() {
    base = .allocate(capacity: Self.lead + Self.blockMax + Self.framesMax * Self.headBytes)
  }

  func deallocate() { base.deallocate() }

  /// Takes a copy of the block of the HEADERS frame that nghttp2 has just serialised.
  mutating func take(_ block: RawSpan) {
    precondition(block.byteCount <= Self.blockMax)
    block.withUnsafeBytes { if let start = $0.baseAddress { memcpy(base + Self.lead, start, $0.count) } }
    count = block.byteCount
    isFilled = true
  }

  /// Forgets a block whose frame failed after all.
  mutating func discard() { isFilled = false }

  /// Makes frames of the block, with the stream and the flags of nghttp2's frame; they are good until the next `take`.
  ///
  /// With `closesTable` the block begins with an update of the dynamic table's size to zero (RFC 7541 section 6.3). That
  /// is due whenever the peer makes the table smaller than it is; done once in the first block of a connection, it never is.
  mutating func frames(replacing frame: UnsafePointer<UInt8>, closesTable: Bool) -> UnsafeBufferPointer<UInt8> {
    isFilled = false
    var payload = base + Self.lead
    var length = count
    if closesTable {
      payload -= 1
      payload.pointee = 0x20
      length += 1
    }
    let start = payload - Self.headBytes
    memcpy(start, frame, Self.headBytes)
    guard length > Self.payloadMax else {
      Self.setLength(start, length)
      return UnsafeBufferPointer(start: start, count: Self.headBytes + length)
    }
    // From the last frame to the second, each moves back to make room for the heads before it.
    let frames = (length + Self.payloadMax - 1) / Self.payloadMax
    for index in (1..<frames).reversed() {
      let offset = index * Self.payloadMax
      let part = min(Self.payloadMax, length - offset)
      let head = payload + offset + (index - 1) * Self.headBytes
      memmove(head + Self.headBytes, payload + offset, part)
      memcpy(head, frame, Self.headBytes)
      Self.setLength(head, part)
      head[3] = Self.continuation
      head[4] = index == frames - 1 ? Self.endHeaders : 0
    }
    Self.setLength(start, Self.payloadMax)
    start[4] &= ~Self.endHeaders
    return UnsafeBufferPointer(start: start, count: length + frames * Self.headBytes)
  }

  // Of a frame's head: three bytes of length, the type, the flags, the stream (RFC 9113 section 4.1).
  private static let continuation: UInt8 = 9
  private static let endHeaders: UInt8 = 4

  @inline(__always) private static func setLength(_ head: UnsafeMutablePointer<UInt8>, _ length: Int) {
    head[0] = UInt8(truncatingIfNeeded: length >> 16)
    head[1] = UInt8(truncatingIfNeeded: length >> 8)
    head[2] = UInt8(truncatingIfNeeded: length)
  }
}
