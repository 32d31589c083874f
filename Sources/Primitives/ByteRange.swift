/// A run of bytes inside some buffer that the holder knows: an offset and a count.
///
/// It owns nothing and points nowhere, so a value made of ranges is trivially copyable.
public struct ByteRange: Hashable, Sendable {
  /// Where the run begins, in bytes from the start of the buffer.
  public var offset: UInt32
  /// How many bytes it has.
  public var count: UInt32

  /// A run of `count` bytes at `offset`.
  @inlinable public init(offset: Int, count: Int) {
    self.offset = UInt32(offset)
    self.count = UInt32(count)
  }

  /// A run of no bytes.
  public static let empty = ByteRange(offset: 0, count: 0)

  /// Whether the run has no bytes.
  @inlinable public var isEmpty: Bool { count == 0 }
}

extension RawSpan {
  /// The bytes of `range` in this span, which must contain them.
  @inlinable public subscript(_ range: ByteRange) -> RawSpan {
    @_lifetime(copy self) get {
      extracting(Int(range.offset)..<Int(range.offset) + Int(range.count))
    }
  }

  /// The byte at `index`.
  @inlinable public func byte(_ index: Int) -> UInt8 {
    precondition(index >= 0 && index < byteCount)
    return unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
  }

  /// Whether the bytes are exactly those of `text`.
  @inlinable public func equals(_ text: StaticString) -> Bool {
    unsafe equals(RawSpan(_unsafeStart: text.utf8Start, byteCount: text.utf8CodeUnitCount))
  }

  /// Whether the bytes are exactly those of `other`; 32 at a time, since this is asked of each request many times.
  @inlinable public func equals(_ other: RawSpan) -> Bool {
    let count = byteCount
    guard count == other.byteCount else { return false }
    guard count >= 8 else { return equalsShort(other) }
    var index = 0
    while index &+ 32 <= count {
      let first = difference(other, index) | difference(other, index &+ 8)
      let second = difference(other, index &+ 16) | difference(other, index &+ 24)
      guard first | second == 0 else { return false }
      index &+= 32
    }
    while index &+ 8 <= count {
      guard difference(other, index) == 0 else { return false }
      index &+= 8
    }
    // The last eight bytes, whether or not some of them have been compared before.
    return difference(other, count &- 8) == 0
  }

  /// Whether fewer than eight bytes are those of as many others.
  @inlinable func equalsShort(_ other: RawSpan) -> Bool {
    for index in 0..<byteCount where byte(index) != other.byte(index) { return false }
    return true
  }

  /// In which bits the eight bytes from `index` differ; both spans have them.
  @inlinable @inline(__always) func difference(_ other: RawSpan, _ index: Int) -> UInt64 {
    unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      ^ other.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
  }

  /// The eight bytes from `index` as a number, the first one lowest.
  @inlinable public func word(_ index: Int) -> UInt64 {
    precondition(index >= 0 && index <= byteCount - 8)
    return unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
  }

  /// The bytes as text, with invalid UTF-8 repaired.
  @inlinable public var string: String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes copied into an array.
  @inlinable public var array: [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }
}
