public import Primitives

extension BlockingHTTPClient {
  /// A header field.
  public struct Field: Hashable, Sendable {
    /// The name; lower case in answers.
    public var name: String
    /// The value.
    public var value: String

    /// A field with this name and value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Which protocol a call speaks.
  public enum Version: Hashable, Sendable {
    /// HTTP/2 where the server offers it in the TLS handshake, otherwise HTTP/1.1.
    case negotiated
    /// HTTP/1.1 only.
    case http1
  }

  /// What is asked of a server.
  public struct Request: Hashable, Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The whole URL, `http` or `https`, with what needs it percent-encoded.
    public var url: String
    /// Header fields beyond those that the protocol needs.
    public var fields: [Field]
    /// The body; nil sends none.
    public var body: [UInt8]?
    /// The protocol to speak.
    public var version: Version
    /// Replaces the client's bound on the whole call.
    public var timeout: TimeSpan?
    /// How long nothing may come; nil leaves the bound on the whole call.
    var silence: TimeSpan?

    /// A request with these values.
    public init(
      _ method: String, _ url: String, fields: [Field] = [], body: [UInt8]? = nil, version: Version = .negotiated,
      timeout: TimeSpan? = nil
    ) {
      self.method = method
      self.url = url
      self.fields = fields
      self.body = body
      self.version = version
      self.timeout = timeout
    }
  }

  /// What a server answered.
  public struct Response: Hashable, Sendable {
    /// The status, 200 to 599.
    public var status: Int
    /// The header fields in their order, names in lower case.
    public var fields: [Field]
    /// The body.
    public var body: [UInt8]
    /// Whether the answer came over HTTP/2.
    public var isHTTP2: Bool

    /// The body as text, with invalid UTF-8 repaired.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of the first field of this name, which is given in lower case.
    public func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
  }

  /// `text` with every byte that cannot stand in a path segment or query value as `%XX` (RFC 3986 section 2.1).
  public static func percentEncoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.append(byte)
      default:
        encoded += [UInt8(ascii: "%")] + Hexadecimal.encode(CollectionOfOne(byte)).uppercased().utf8
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
