import Primitives

extension CodableSchema.Text {
  /// The name of the type in Swift, and how its string is written.
  var form: String {
    switch self {
    case .uuid: "a UUID such as \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\""
    case .url: "a URL"
    case .byte: "bytes in base 64, with = at the end where the length asks for it"
    }
  }

  /// Whether a string decodes.
  func takes(_ text: String) -> Bool {
    switch self {
    case .uuid: Self.isUUID(text)
    case .url: URLText.isURL(text)
    case .byte: Self.isBase64(text)
    }
  }

  /// Eight, four, four, four and twelve hexadecimal digits.
  private static func isUUID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 36
      && bytes.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index)
          ? byte == UInt8(ascii: "-")
          : (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
      }
  }

  /// Digits of the standard alphabet in groups of four, padded; Foundation passes over padding that is too long.
  private static func isBase64(_ text: String) -> Bool {
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.utf8.dropFirst(digits.count)
    guard padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return false }
    let isAlphabet = digits.allSatisfy {
      (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "+")
        || $0 == UInt8(ascii: "/")
    }
    return isAlphabet && digits.count % 4 != 1 && padding.count >= (4 - digits.count % 4) % 4
  }
}

/// Which strings Foundation's `URL(string:)` takes: what a URL may not have is encoded by itself in a path, a query and a fragment, but not
/// in a scheme, a host or a port (RFC 3986 section 3). Which hosts beyond ASCII there may be is not checked.
enum URLText {
  static func isURL(_ text: String) -> Bool {
    guard !text.isEmpty else { return false }
    var rest = Array(text.utf8)[...]
    let head = rest.prefix { !"/?#".utf8.contains($0) }
    if let colon = head.firstIndex(of: UInt8(ascii: ":")) {
      let scheme = rest[..<colon]
      if scheme.first.map(isLetter) ?? true, scheme.allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }) {
        rest = rest[(colon + 1)...]
      } else if !scheme.contains(where: { "@[]".utf8.contains($0) }) {
        // With one of these before its colon it passes for a path, as seen with Swift 6.3.
        return false
      }
    }
    guard rest.starts(with: "//".utf8) else { return true }
    return isAuthority(rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) })
  }

  private static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
    var host = bytes
    if let at = bytes.lastIndex(of: UInt8(ascii: "@")) { host = bytes[(at + 1)...] }
    if host.first == UInt8(ascii: "[") {
      guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
      // What follows a percent sign is the zone of an address.
      let address = host[host.startIndex + 1..<end].prefix { $0 != UInt8(ascii: "%") }
      guard address.allSatisfy({ isLetter($0) || isDigit($0) || ":.-_~".utf8.contains($0) }) else { return false }
      let rest = host[(end + 1)...]
      return rest.isEmpty || (rest.first == UInt8(ascii: ":") && rest.dropFirst().allSatisfy(isDigit))
    }
    if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
      guard host[(colon + 1)...].allSatisfy(isDigit) else { return false }
      host = host[..<colon]
    }
    return isHost(host)
  }

  private static func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < bytes.endIndex, isHexadecimal(bytes[index + 1]), isHexadecimal(bytes[index + 2]) else { return false }
        index += 2
      } else if byte < 0x80, !isLetter(byte), !isDigit(byte), !"-._~!$&'()*+,;=".utf8.contains(byte) {
        return false
      }
      index += 1
    }
    return true
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }
}
