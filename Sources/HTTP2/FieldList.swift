import Glibc

/// The header fields of one message to be sent, encoded as they are appended, in memory that is allocated once.
///
/// A loop keeps one, fills it for each response or request, and gives it to `respond` or `send`, which leaves it as
/// it is; `removeAll` makes it ready for the next. For a request, the pseudo-header fields come first.
///
/// The encoding is HPACK without its dynamic table and without Huffman codes, as RFC 7541 leaves to the encoder: it knows
/// nothing of the connection, costs little more than copying, and what is sent hardly ever repeats except in short values.
@safe
public struct FieldList: ~Copyable {
  /// The most bytes that its fields may take as encoded, which adds at most eight to a name and a value; a header list as
  /// large as we accept may be echoed twice.
  public static let bytesMax = 17 << 10

  private let base: UnsafeMutablePointer<UInt8>
  private let prefixes = LiteralPrefixes.table
  private var byteCount = 0
  /// How many fields it has.
  public private(set) var count = 0

  /// Whether it is that of a HEAD request.
  private(set) var isHEAD = false

  /// A list of no fields.
  public init() {
    // A whole prefix is written, however short it is, and room made for a length; what is too much is overwritten.
    base = .allocate(capacity: Self.bytesMax + LiteralPrefixes.stride)
  }

  deinit { base.deallocate() }

  /// The fields as a header block (RFC 7541 section 6).
  var bytes: RawSpan {
    @_lifetime(borrow self) get { _overrideLifetime(RawSpan(_unsafeStart: base, byteCount: byteCount), borrowing: self) }
  }

  /// Forgets every field.
  public mutating func removeAll() {
    count = 0
    byteCount = 0
    isHEAD = false
  }

  /// Appends a field with a copy of `value`, which must be a valid field value (RFC 9110 section 5.5).
  public mutating func append(_ name: HeaderName, _ value: RawSpan) {
    value.withUnsafeBytes { append(name, $0.baseAddress, $0.count) }
  }

  /// Appends a field with a constant value.
  public mutating func append(_ name: HeaderName, _ value: StaticString) {
    append(name, value.utf8Start, value.utf8CodeUnitCount)
  }

  /// Appends a field whose value `write` makes in place, in at most `bytesMax` bytes; it must be a valid field value.
  public mutating func append(_ name: HeaderName, bytesMax: Int, _ write: (inout OutputRawSpan) -> Void) {
    reserve(LiteralPrefixes.stride + HPACKInteger.bytesMax + bytesMax)
    appendPrefix(name)
    // Most values are short: the length takes one byte, and for a longer one the value is moved.
    let start = UnsafeMutableRawPointer(base + byteCount + 1)
    let buffer = UnsafeMutableRawBufferPointer(start: start, count: bytesMax)
    var output = OutputRawSpan(buffer: buffer, initializedCount: 0)
    write(&output)
    let length = output.finalize(for: buffer)
    if length >= HPACKInteger.shortMax { memmove(start + HPACKInteger.byteCount(length) - 1, start, length) }
    appendLength(length)
    byteCount += length
  }

  /// Appends a field with copies of `name`, which must be in lower case, and `value`.
  public mutating func append(name: RawSpan, _ value: RawSpan) {
    reserve(1 + HPACKInteger.bytesMax + name.byteCount + HPACKInteger.bytesMax + value.byteCount)
    count += 1
    appendByte(0)
    name.withUnsafeBytes { appendText($0.baseAddress, $0.count) }
    value.withUnsafeBytes { appendText($0.baseAddress, $0.count) }
  }

  private mutating func append(_ name: HeaderName, _ value: UnsafeRawPointer?, _ valueCount: Int) {
    reserve(LiteralPrefixes.stride + HPACKInteger.bytesMax + valueCount)
    if let value, let index = Self.staticIndex(name, value, valueCount) {
      count += 1
      appendByte(0x80 | index)
    } else {
      appendPrefix(name)
      appendText(value, valueCount)
      if name == .method, let value { isHEAD = FieldBytes.areEqual(value, valueCount, "HEAD") }
    }
  }

  /// The entry of the static table that is a whole field of a request as we send them, or nil when there is none.
  @inline(__always) private static func staticIndex(_ name: HeaderName, _ value: UnsafeRawPointer, _ count: Int) -> UInt8? {
    switch name {
    case .method: FieldBytes.areEqual(value, count, "POST") ? 3 : FieldBytes.areEqual(value, count, "GET") ? 2 : nil
    case .scheme: FieldBytes.areEqual(value, count, "https") ? 7 : FieldBytes.areEqual(value, count, "http") ? 6 : nil
    default: nil
    }
  }

  @inline(__always) private func reserve(_ bytes: Int) {
    precondition(bytes <= Self.bytesMax + LiteralPrefixes.stride - byteCount, "more bytes than a FieldList holds")
  }

  /// Begins a field with a name's prefix, copied as a whole entry since that takes two moves and no loop.
  @inline(__always) private mutating func appendPrefix(_ name: HeaderName) {
    let entry = prefixes + Int(name.rawValue) &* LiteralPrefixes.stride
    memcpy(base + byteCount, entry, LiteralPrefixes.stride)
    byteCount &+= Int(entry[LiteralPrefixes.stride - 1])
    count &+= 1
  }

  @inline(__always) private mutating func appendText(_ text: UnsafeRawPointer?, _ textCount: Int) {
    appendLength(textCount)
    if let text { memcpy(base + byteCount, text, textCount) }
    byteCount &+= textCount
  }

  /// Appends the length of a string that is not Huffman-coded.
  @inline(__always) private mutating func appendLength(_ length: Int) {
    if length < HPACKInteger.shortMax { appendByte(UInt8(truncatingIfNeeded: length)) } else { appendLongLength(length) }
  }

  private mutating func appendLongLength(_ length: Int) {
    appendByte(UInt8(HPACKInteger.shortMax))
    var rest = length - HPACKInteger.shortMax
    while rest >= 128 {
      appendByte(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    appendByte(UInt8(rest))
  }

  @inline(__always) private mutating func appendByte(_ byte: UInt8) {
    base[byteCount] = byte
    byteCount &+= 1
  }
}

/// Lengths of strings as HPACK writes them: integers with a prefix of seven bits (RFC 7541 section 5.1).
private enum HPACKInteger {
  /// From here on an integer takes more than one byte.
  static let shortMax = 127
  /// Bytes of the longest length that a `FieldList` holds.
  static let bytesMax = 4

  /// How many bytes an integer takes.
  static func byteCount(_ value: Int) -> Int {
    var rest = value - shortMax
    guard rest >= 0 else { return 1 }
    var count = 2
    while rest >= 128 {
      rest >>= 7
      count += 1
    }
    return count
  }
}
