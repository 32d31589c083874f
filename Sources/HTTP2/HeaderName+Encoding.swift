import Glibc

extension HeaderName {
  /// The entry of HPACK's static table that has this name (RFC 7541 appendix A), or 0 when none has.
  var staticIndex: UInt8 {
    switch self {
    case .authority: 1
    case .method: 2
    case .path: 4
    case .scheme: 6
    case .status: 8
    case .accept: 19
    case .allow: 22
    case .authorization: 23
    case .cacheControl: 24
    case .contentEncoding: 26
    case .contentLength: 28
    case .contentType: 31
    case .expect: 35
    case .host: 38
    case .location: 46
    case .retryAfter: 53
    case .userAgent: 58
    default: 0
    }
  }

  /// Whether the value is a secret, or each message has one of its own, so that nobody on the way should index it.
  ///
  /// Such fields travel as never-indexed literals (RFC 7541 section 6.2.3); the others only as ones without indexing.
  var isNeverIndexed: Bool {
    switch self {
    case .authorization, .path, .contentLength, .location, .idempotencyKey, .apnsID, .apnsExpiration, .apnsCollapseID,
      .apnsRequestID, .apnsUniqueID, .widgetpushDetail:
      true
    default: false
    }
  }

  /// What comes before the value's length in a header block: the kind of literal, and the name by index or as text.
  fileprivate var literalPrefix: [UInt8] {
    let kind: UInt8 = isNeverIndexed ? 0x10 : 0
    // An integer with a prefix of four bits, of which no index needs a third byte (RFC 7541 section 5.1).
    if staticIndex >= 15 { return [kind | 15, staticIndex - 15] }
    if staticIndex > 0 { return [kind | staticIndex] }
    let text = UnsafeBufferPointer(start: wireName.utf8Start, count: wireName.utf8CodeUnitCount)
    return [kind, UInt8(text.count)] + text
  }
}

/// The beginnings of fields on the wire, made once for every known name.
enum LiteralPrefixes {
  /// Bytes of each entry: the prefix, and in the last byte how long it is.
  static let stride = 32

  // Written once, before the first use, and never again.
  nonisolated(unsafe) static let table: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: HeaderName.allCases.count * stride)
    for name in HeaderName.allCases {
      let prefix = name.literalPrefix
      precondition(prefix.count < stride)
      let entry = table + Int(name.rawValue) * stride
      entry.initialize(repeating: 0, count: stride)
      for (index, byte) in prefix.enumerated() { entry[index] = byte }
      entry[stride - 1] = UInt8(prefix.count)
    }
    return UnsafePointer(table)
  }()
}
