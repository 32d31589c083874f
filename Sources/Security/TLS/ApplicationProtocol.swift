/// A protocol that TLS negotiates by ALPN (RFC 7301).
public enum ApplicationProtocol: Sendable, Hashable {
  /// `h2` (RFC 9113 section 3.2).
  case http2
  /// `http/1.1` (RFC 9112).
  case http1

  /// The name in the handshake.
  var wireName: String {
    switch self {
    case .http2: "h2"
    case .http1: "http/1.1"
    }
  }

  /// The name with its length in front, as lists of protocols hold it.
  var wireBytes: [UInt8] { [UInt8(wireName.utf8.count)] + Array(wireName.utf8) }

  init?(_ name: UnsafeBufferPointer<UInt8>) {
    switch name.count {
    case 2 where name.elementsEqual("h2".utf8): self = .http2
    case 8 where name.elementsEqual("http/1.1".utf8): self = .http1
    default: return nil
    }
  }
}
