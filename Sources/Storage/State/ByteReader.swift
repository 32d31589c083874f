/// Reads what `ByteArena` wrote, and never past the end.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  /// What is wrong with bytes that end too early, or mean nothing.
  struct Malformed: Error {}

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func read<T: BitwiseCopyable>(_ type: T.Type = T.self) throws(Malformed) -> T {
    let size = MemoryLayout<T>.size
    guard bytes.count - offset >= size else { throw Malformed() }
    defer { offset += size }
    return bytes.loadUnaligned(fromByteOffset: offset, as: T.self)
  }

  /// A value of which the first byte, the record's tag, has been read.
  mutating func readBehindTag<T: BitwiseCopyable>(_ type: T.Type = T.self) throws(Malformed) -> T {
    offset -= 1
    return try read()
  }

  mutating func read(count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
    guard count >= 0, bytes.count - offset >= count else { throw Malformed() }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }
}
