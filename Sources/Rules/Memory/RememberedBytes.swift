import Primitives

/// A short run of bytes that is kept to be compared with.
struct RememberedBytes {
  /// The longest run that is kept; longer ones are not likely to come again.
  static let bytesMax = 128

  private var bytes = InlineArray<128, UInt8>(repeating: 0)
  private var count = 0

  /// Keeps a copy of `source`, or nothing when it is too long.
  mutating func keep(_ source: RawSpan) {
    count = 0
    guard source.byteCount <= Self.bytesMax else { return }
    var span = bytes.mutableSpan
    unsafe span.withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
    count = source.byteCount
  }

  /// Forgets what was kept.
  mutating func forget() { count = 0 }

  /// Whether `other` is exactly what was kept; an empty run is never kept.
  func equals(_ other: RawSpan) -> Bool {
    guard count == other.byteCount, count > 0 else { return false }
    return unsafe bytes.span.bytes.extracting(0..<count).equals(other)
  }
}
