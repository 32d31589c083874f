import CNghttp2
import Glibc

/// The header fields of one message to be sent, collected in memory that is allocated once and used again.
///
/// A loop keeps one, fills it for each response or request, and gives it to `respond` or `send`, which leaves it as
/// it is; `removeAll` makes it ready for the next. For a request, the pseudo-header fields come first.
@safe
public struct FieldList: ~Copyable {
  /// The most fields it holds.
  public static let fieldsMax = 64
  /// The most bytes of copied names and values it holds: a header list as large as we accept may be echoed twice.
  public static let bytesMax = 16 << 10

  // The first entry is reserved for `:status`, which `respond` writes.
  private let entries: UnsafeMutablePointer<nghttp2_nv>
  private let bytes: UnsafeMutablePointer<UInt8>
  private var byteCount = 0
  /// How many fields it has.
  public private(set) var count = 0

  /// A list of no fields.
  public init() {
    entries = .allocate(capacity: Self.fieldsMax + 1)
    bytes = .allocate(capacity: Self.bytesMax)
  }

  deinit {
    entries.deallocate()
    bytes.deallocate()
  }

  /// Forgets every field.
  public mutating func removeAll() {
    count = 0
    byteCount = 0
  }

  /// Appends a field with a copy of `value`, which must be a valid field value (RFC 9110 section 5.5).
  public mutating func append(_ name: HeaderName, _ value: RawSpan) {
    let wireName = name.wireName
    append(
      .init(mutating: wireName.utf8Start), wireName.utf8CodeUnitCount, copy(value), value.byteCount,
      flags: name.isUnrepeated ? Self.fixedName | Self.noIndex : Self.fixedName)
  }

  /// Appends a field whose value `write` makes in place, in at most `bytesMax` bytes; it must be a valid field value.
  public mutating func append(_ name: HeaderName, bytesMax: Int, _ write: (inout OutputRawSpan) -> Void) {
    precondition(bytesMax <= Self.bytesMax - byteCount, "more bytes than a FieldList holds")
    let start = bytes + byteCount
    let buffer = UnsafeMutableRawBufferPointer(start: start, count: bytesMax)
    var output = OutputRawSpan(buffer: buffer, initializedCount: 0)
    write(&output)
    let length = output.finalize(for: buffer)
    byteCount += length
    let wireName = name.wireName
    append(
      .init(mutating: wireName.utf8Start), wireName.utf8CodeUnitCount, start, length,
      flags: name.isUnrepeated ? Self.fixedName | Self.noIndex : Self.fixedName)
  }

  /// Appends a field with a constant value.
  public mutating func append(_ name: HeaderName, _ value: StaticString) {
    let wireName = name.wireName
    append(
      .init(mutating: wireName.utf8Start), wireName.utf8CodeUnitCount, .init(mutating: value.utf8Start),
      value.utf8CodeUnitCount, flags: name.isUnrepeated ? Self.fixed | Self.noIndex : Self.fixed)
  }

  /// Appends a field with copies of `name`, which must be in lower case, and `value`.
  public mutating func append(name: RawSpan, _ value: RawSpan) {
    let storedName = copy(name)
    append(storedName, name.byteCount, copy(value), value.byteCount, flags: 0)
  }

  private mutating func append(
    _ name: UnsafeMutablePointer<UInt8>, _ nameCount: Int, _ value: UnsafeMutablePointer<UInt8>, _ valueCount: Int, flags: UInt8
  ) {
    precondition(count < Self.fieldsMax, "more fields than a FieldList holds")
    count += 1
    entries[count] = nghttp2_nv(name: name, value: value, namelen: nameCount, valuelen: valueCount, flags: flags)
  }

  private mutating func copy(_ value: RawSpan) -> UnsafeMutablePointer<UInt8> {
    let length = value.byteCount
    precondition(length <= Self.bytesMax - byteCount, "more bytes than a FieldList holds")
    let start = bytes + byteCount
    value.withUnsafeBytes { if let source = $0.baseAddress { memcpy(start, source, length) } }
    byteCount += length
    return start
  }

  // Names are constants and need no copy; values are copied by nghttp2, since they must last until they are sent.
  private static let fixedName = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
  private static let fixed = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
  private static let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
}

extension FieldList {
  /// The fields as nghttp2 takes them, with `:status` first.
  func withStatus<R>(_ status: Int, _ body: (UnsafePointer<nghttp2_nv>, Int) -> R) -> R {
    entries[0] = StatusField.entry(status)
    return body(entries, count + 1)
  }

  /// The fields as nghttp2 takes them.
  func withFields<R>(_ body: (UnsafePointer<nghttp2_nv>, Int) -> R) -> R { body(entries + 1, count) }
}

/// `:status` fields, whose values are constants so that none is made or copied for a response.
enum StatusField {
  /// The field for `status`, which must have three digits and not be informational (RFC 9110 section 15).
  static func entry(_ status: Int) -> nghttp2_nv {
    precondition(status >= 200 && status <= 599)
    let name = HeaderName.status.wireName
    return nghttp2_nv(
      name: .init(mutating: name.utf8Start), value: digits + 3 * (status - 200), namelen: name.utf8CodeUnitCount, valuelen: 3,
      flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue))
  }

  // Written once, before the first use, and never again.
  nonisolated(unsafe) private static let digits: UnsafeMutablePointer<UInt8> = {
    let digits = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * 400)
    for status in 200..<600 {
      let place = digits + 3 * (status - 200)
      for (index, divisor) in [100, 10, 1].enumerated() { place[index] = UInt8(ascii: "0") + UInt8(status / divisor % 10) }
    }
    return digits
  }()
}
