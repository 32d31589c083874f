/// What RFC 9113 section 8 demands of a received message, and what of the message has to be remembered for it.
///
/// nghttp2 has the same rules, at a higher price, and these keep to its reading of them. Only one is left out: that a request
/// names its authority, which nobody here asks for.
struct MessageRules {
  enum Verdict {
    case good
    /// The field is to be passed over.
    case ignored
    /// The message is malformed, which is a stream error of type PROTOCOL_ERROR (RFC 9113 section 8.1.1).
    case malformed
  }

  /// What a header list is.
  enum List { case request, response, trailers }

  struct Traits: OptionSet {
    let rawValue: UInt8
    static let isCONNECT = Traits(rawValue: 1)
    static let isOPTIONS = Traits(rawValue: 2)
    static let hasHTTPScheme = Traits(rawValue: 4)
    static let hasSlashPath = Traits(rawValue: 8)
    static let hasAsteriskPath = Traits(rawValue: 16)
    /// A field that is no pseudo-header field has come, after which none may.
    static let hasRegular = Traits(rawValue: 32)
    static let hasHost = Traits(rawValue: 64)
  }

  private(set) var traits: Traits = []
  /// The status of a response, 0 before it is known.
  private(set) var status = 0
  /// How long the body has to be, or -1 when nothing says so.
  private(set) var contentLength: Int64 = -1

  // MARK: Fields

  /// Judges the next field of `list`; `present` has the names that were there before.
  @inline(__always) mutating func judge(
    _ known: HeaderName?, name: UnsafePointer<UInt8>, _ nameCount: Int, value: UnsafePointer<UInt8>, _ count: Int, in list: List,
    present: UInt32
  ) -> Verdict {
    guard let known else { return judgeUnknown(name, nameCount, value, count) }
    guard known.rawValue > HeaderName.status.rawValue else { return judgePseudo(known, value, count, list, present) }
    traits.insert(.hasRegular)
    if known == .host || known == .contentLength { return judgeCounted(known, value, count, list) }
    return FieldBytes.isValue(value, count) ? .good : .malformed
  }

  private mutating func judgePseudo(
    _ name: HeaderName, _ value: UnsafePointer<UInt8>, _ count: Int, _ list: List, _ present: UInt32
  ) -> Verdict {
    let isRepeated = present & 1 << UInt32(name.rawValue) != 0
    guard list != .trailers, (name == .status) == (list == .response), !isRepeated, count > 0, !traits.contains(.hasRegular)
    else { return .malformed }
    switch name {
    case .method:
      if FieldBytes.areEqual(value, count, "POST") { return .good }
      guard FieldBytes.isMethod(value, count) else { return .malformed }
      if FieldBytes.areEqual(value, count, "CONNECT") { traits.insert(.isCONNECT) }
      if FieldBytes.areEqual(value, count, "OPTIONS") { traits.insert(.isOPTIONS) }
    case .scheme:
      let isHTTP = FieldBytes.areEqual(value, count, "https")
      guard isHTTP || FieldBytes.isScheme(value, count) else { return .malformed }
      if isHTTP || equalsIgnoringCase(value, count, "http") || equalsIgnoringCase(value, count, "https") {
        traits.insert(.hasHTTPScheme)
      }
    case .path:
      guard FieldBytes.isPath(value, count) else { return .malformed }
      if value[0] == UInt8(ascii: "/") { traits.insert(.hasSlashPath) }
      if count == 1, value[0] == UInt8(ascii: "*") { traits.insert(.hasAsteriskPath) }
    case .authority: guard FieldBytes.isAuthority(value, count) else { return .malformed }
    default:
      // Three digits, of which 101 has no meaning in HTTP/2 (RFC 9113 section 8.6).
      guard count == 3 else { return .malformed }
      let digits = (Int(value[0]) - 48, Int(value[1]) - 48, Int(value[2]) - 48)
      guard 1...9 ~= digits.0, 0...9 ~= digits.1, 0...9 ~= digits.2 else { return .malformed }
      status = 100 &* digits.0 &+ 10 &* digits.1 &+ digits.2
      guard status != 101 else { return .malformed }
    }
    return .good
  }

  /// `host` and `content-length`, which are counted.
  private mutating func judgeCounted(_ name: HeaderName, _ value: UnsafePointer<UInt8>, _ count: Int, _ list: List) -> Verdict {
    if name == .host {
      // nghttp2 leaves the host of a response alone.
      guard list != .response, status == 0 else { return FieldBytes.isValue(value, count) ? .good : .malformed }
      guard count > 0, !traits.contains(.hasHost), FieldBytes.isAuthority(value, count) else { return .malformed }
      traits.insert(.hasHost)
      return .good
    }
    guard contentLength < 0, let length = number(value, count) else { return .malformed }
    switch status {
    case 100..<200: return .malformed
    case 204:
      // Prohibited there, but some servers send it (RFC 9110 section 8.6).
      guard count == 1, length == 0 else { return .malformed }
      contentLength = 0
      return .ignored
    default:
      contentLength = length
      return .good
    }
  }

  private mutating func judgeUnknown(
    _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>, _ count: Int
  ) -> Verdict {
    // No name has a colon: a pseudo-header field that does not exist is refused as well.
    traits.insert(.hasRegular)
    guard FieldBytes.isName(name, nameCount), FieldBytes.isValue(value, count) else { return .malformed }
    // Fields of a connection have no place in HTTP/2 (RFC 9113 section 8.2.2).
    switch nameCount {
    case 2: return FieldBytes.areEqual(name, 2, "te") && !equalsIgnoringCase(value, count, "trailers") ? .malformed : .good
    case 7: return FieldBytes.areEqual(name, 7, "upgrade") ? .malformed : .good
    case 10: return FieldBytes.areEqual(name, 10, "connection") || FieldBytes.areEqual(name, 10, "keep-alive") ? .malformed : .good
    case 16: return FieldBytes.areEqual(name, 16, "proxy-connection") ? .malformed : .good
    case 17: return FieldBytes.areEqual(name, 17, "transfer-encoding") ? .malformed : .good
    default: return .good
    }
  }

  // MARK: Lists and bodies

  /// Whether a request that has the names in `present` may end its header list.
  @inline(__always) mutating func isGoodRequest(_ present: UInt32) -> Bool {
    let names = HeaderNames(rawValue: present)
    if traits.contains(.isCONNECT) {
      contentLength = -1
      return names.contains(.authority) && !names.contains(.scheme) && !names.contains(.path)
    }
    guard names.isSuperset(of: HeaderNames([HeaderNames(.method), HeaderNames(.scheme), HeaderNames(.path)])) else { return false }
    // The path is absolute, or an asterisk for the whole server (RFC 9113 section 8.3.1).
    return !traits.contains(.hasHTTPScheme) || traits.contains(.hasSlashPath) || traits.isSuperset(of: [.isOPTIONS, .hasAsteriskPath])
  }

  /// Whether a response may end its header list; `toHEAD` says that it answers a HEAD request.
  @inline(__always) mutating func isGoodResponse(toHEAD: Bool) -> Bool {
    if toHEAD || status == 204 || status == 304 { contentLength = 0 }
    return status != 0
  }

  /// Whether a body may have come to `bytes` so far.
  @inline(__always) func allows(_ bytes: Int) -> Bool { contentLength < 0 || bytes <= contentLength }

  /// Whether a body may end with `bytes`.
  @inline(__always) func allowsEnd(_ bytes: Int) -> Bool { contentLength < 0 || bytes == contentLength }
}

// MARK: Bytes

private func equalsIgnoringCase(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ text: StaticString) -> Bool {
  guard count == text.utf8CodeUnitCount else { return false }
  // The texts are letters alone, and no other byte becomes one by this bit.
  for index in 0..<count where bytes[index] | 0x20 != text.utf8Start[index] { return false }
  return true
}

/// The number that the bytes are in decimal digits, or nil when they are none or it does not fit.
private func number(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int64? {
  guard count > 0 else { return nil }
  var number: Int64 = 0
  for index in 0..<count {
    guard bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9") else { return nil }
    let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
    let (sum, overflowed) = tens.addingReportingOverflow(Int64(bytes[index] & 15))
    guard !overflow, !overflowed else { return nil }
    number = sum
  }
  return number
}
