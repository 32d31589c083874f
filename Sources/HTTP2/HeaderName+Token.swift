extension HeaderName {
  /// The token of a name on the wire, or nil when it is not a known one.
  ///
  /// Length and last byte leave one candidate, or two that differ in one more byte; then one comparison decides.
  /// A dictionary would hash every name of every request, most of which are known.
  @inline(__always) init?(wire name: UnsafePointer<UInt8>, count: Int) {
    guard let candidate = HeaderName.candidate(name, count) else { return nil }
    // The lengths are equal: the candidate was chosen by it, which a test checks for every name.
    guard HeaderName.areEqual(name, HeaderName.names.utf8Start + Int(candidate.rawValue) &* HeaderName.stride, count) else { return nil }
    self = candidate
  }

  /// Bytes for each name in `names`.
  private static let stride = 24

  /// Every name, in the order of the raw values, at multiples of `stride`: a constant, which need not be made at run time.
  private static var names: StaticString {
    """
    :method                 \
    :scheme                 \
    :authority              \
    :path                   \
    :status                 \
    host                    \
    authorization           \
    content-type            \
    content-length          \
    content-encoding        \
    user-agent              \
    accept                  \
    expect                  \
    origin                  \
    location                \
    allow                   \
    cache-control           \
    retry-after             \
    idempotency-key         \
    apns-id                 \
    apns-push-type          \
    apns-topic              \
    apns-priority           \
    apns-expiration         \
    apns-collapse-id        \
    apns-channel-id         \
    apns-request-id         \
    apns-unique-id          \
    widgetpush-explain      \
    widgetpush-disposition  \
    widgetpush-detail       \
    widgetpush-outcome      \

    """
  }

  /// Whether two names of 4 to 24 bytes are equal, by words that may overlap: no call, and no loop.
  @inline(__always) private static func areEqual(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    let (a, b) = (UnsafeRawPointer(a), UnsafeRawPointer(b))
    guard count >= 8 else {
      return (difference(a, b, 0) as UInt32) | difference(a, b, count &- 4) == 0
    }
    let ends: UInt64 = difference(a, b, 0) | difference(a, b, count &- 8)
    return count <= 16 ? ends == 0 : ends | difference(a, b, 8) == 0
  }

  @inline(__always) private static func difference<Word: FixedWidthInteger & BitwiseCopyable>(
    _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ offset: Int
  ) -> Word {
    a.loadUnaligned(fromByteOffset: offset, as: Word.self) ^ b.loadUnaligned(fromByteOffset: offset, as: Word.self)
  }

  // Two nested switches, which become jump tables; one over pairs becomes a chain of comparisons.
  @inline(__always) private static func candidate(_ name: UnsafePointer<UInt8>, _ count: Int) -> HeaderName? {
    guard count >= 4, count <= 22 else { return nil }
    let last = name[count - 1]
    return switch count {
    case 4: last == UInt8(ascii: "t") ? .host : nil
    case 5: last == UInt8(ascii: "h") ? .path : .allow
    case 6: last == UInt8(ascii: "n") ? .origin : name[0] == UInt8(ascii: "a") ? .accept : .expect
    case 7:
      switch last {
      case UInt8(ascii: "d"): name[0] == UInt8(ascii: "a") ? .apnsID : .method
      case UInt8(ascii: "e"): .scheme
      default: .status
      }
    case 8: .location
    case 10:
      switch last {
      case UInt8(ascii: "c"): .apnsTopic
      case UInt8(ascii: "y"): .authority
      default: .userAgent
      }
    case 11: .retryAfter
    case 12: .contentType
    case 13:
      switch last {
      case UInt8(ascii: "n"): .authorization
      case UInt8(ascii: "y"): .apnsPriority
      default: .cacheControl
      }
    case 14:
      switch last {
      case UInt8(ascii: "e"): .apnsPushType
      case UInt8(ascii: "h"): .contentLength
      default: .apnsUniqueID
      }
    case 15:
      switch last {
      case UInt8(ascii: "n"): .apnsExpiration
      case UInt8(ascii: "y"): .idempotencyKey
      default: name[5] == UInt8(ascii: "c") ? .apnsChannelID : .apnsRequestID
      }
    case 16: last == UInt8(ascii: "d") ? .apnsCollapseID : .contentEncoding
    case 17: .widgetpushDetail
    case 18: last == UInt8(ascii: "n") ? .widgetpushExplain : .widgetpushOutcome
    case 22: .widgetpushDisposition
    default: nil
    }
  }
}
