import Glibc

/// An IPv4 or IPv6 address as a certificate spells it: 4 or 16 bytes.
struct IPAddress {
  /// The bytes, most significant first.
  let bytes: [UInt8]

  /// The address with these bytes; nil when there are not 4 or 16.
  init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// The address that `text` spells, without brackets; nil when it is a name.
  init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.bytes = Array(bytes.prefix(4))
    } else if inet_pton(AF_INET6, text, &bytes) == 1 {
      self.bytes = bytes
    } else {
      return nil
    }
  }

  /// The address as text; IPv6 in its shortest form (RFC 5952).
  var text: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let isWritten = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil
    precondition(isWritten, "every address of 4 or 16 bytes has a text")
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
