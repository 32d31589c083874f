import Glibc

extension HeaderName {
  /// The token of a name on the wire, or nil when it is not a known one.
  ///
  /// Length and last byte leave one candidate, or two that differ in one more byte; then one comparison decides.
  /// A dictionary would hash every name of every request, most of which are known.
  @inline(__always) init?(wire name: UnsafePointer<UInt8>, count: Int) {
    guard let candidate = HeaderName.candidate(name, count) else { return nil }
    // The lengths are equal: the candidate was chosen by it, which a test checks for every name.
    guard memcmp(name, candidate.wireName.utf8Start, count) == 0 else { return nil }
    self = candidate
  }

  @inline(__always) private static func candidate(_ name: UnsafePointer<UInt8>, _ count: Int) -> HeaderName? {
    guard count >= 4 else { return nil }
    let last = name[count - 1]
    return switch (count, last) {
    case (4, UInt8(ascii: "t")): .host
    case (5, UInt8(ascii: "h")): .path
    case (5, UInt8(ascii: "w")): .allow
    case (6, UInt8(ascii: "t")): name[0] == UInt8(ascii: "a") ? .accept : .expect
    case (6, UInt8(ascii: "n")): .origin
    case (7, UInt8(ascii: "d")): name[0] == UInt8(ascii: "a") ? .apnsID : .method
    case (7, UInt8(ascii: "e")): .scheme
    case (7, UInt8(ascii: "s")): .status
    case (8, UInt8(ascii: "n")): .location
    case (10, UInt8(ascii: "c")): .apnsTopic
    case (10, UInt8(ascii: "y")): .authority
    case (10, UInt8(ascii: "t")): .userAgent
    case (11, UInt8(ascii: "r")): .retryAfter
    case (12, UInt8(ascii: "e")): .contentType
    case (13, UInt8(ascii: "n")): .authorization
    case (13, UInt8(ascii: "y")): .apnsPriority
    case (13, UInt8(ascii: "l")): .cacheControl
    case (14, UInt8(ascii: "e")): .apnsPushType
    case (14, UInt8(ascii: "h")): .contentLength
    case (14, UInt8(ascii: "d")): .apnsUniqueID
    case (15, UInt8(ascii: "n")): .apnsExpiration
    case (15, UInt8(ascii: "d")): name[5] == UInt8(ascii: "c") ? .apnsChannelID : .apnsRequestID
    case (15, UInt8(ascii: "y")): .idempotencyKey
    case (16, UInt8(ascii: "d")): .apnsCollapseID
    case (16, UInt8(ascii: "g")): .contentEncoding
    case (17, UInt8(ascii: "l")): .widgetpushDetail
    case (18, UInt8(ascii: "n")): .widgetpushExplain
    case (18, UInt8(ascii: "e")): .widgetpushOutcome
    case (22, UInt8(ascii: "n")): .widgetpushDisposition
    default: nil
    }
  }
}
