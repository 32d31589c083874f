public import Reactor

/// A complete request as a handler sees it, whatever the protocol version it came by.
public struct HTTPRequest: Sendable {
  /// The kind of port a request came in by.
  public enum Face: Sendable {
    /// TLS.
    case tls
    /// Plain TCP, which only loopback ports offer.
    case plain
  }

  /// The method.
  public var method: HTTPMethod
  /// The path as it was sent, without the query.
  public var path: String
  /// The path's segments, percent-decoded: `/v1/pushes` has two, `/` has none, `/v1/` has two with an empty last one.
  public var segments: [String]
  /// What followed the question mark.
  public var query: HTTPQuery
  /// The header fields; an HTTP/2 request has no `host` here.
  public var fields: HTTPFields
  /// The server's name and port as the client wrote them: `:authority`, the target's, or `host`.
  public var authority: String?
  /// The whole body.
  public var body: [UInt8]
  /// The client's address; nil for a request that was made within the process.
  public var peer: SocketAddress?
  /// The kind of port.
  public var face: Face
  /// Who makes it, as far as that is known.
  var caller = Caller()

  /// A request for `target`, in origin form (`/path?query`) or absolute form (RFC 9112 section 3.2).
  ///
  /// Throws when the target is of another form or holds anything but visible ASCII and correct percent-encoding.
  public init(
    method: HTTPMethod, target: String, fields: HTTPFields = [:], authority: String? = nil, body: [UInt8] = [],
    peer: SocketAddress? = nil, face: Face = .tls
  ) throws(ControlError) {
    let (ownAuthority, pathAndQuery) = try Self.split(target)
    let parts = pathAndQuery.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.method = method
    path = String(parts[0])
    segments = try Self.segments(path)
    query = try HTTPQuery(parts.count > 1 ? String(parts[1]) : "")
    self.fields = fields
    self.authority = ownAuthority ?? authority ?? fields["host"]
    self.body = body
    self.peer = peer
    self.face = face
  }

  /// The server's name as the client wrote it, without the port and in lower case; an IPv6 address keeps its brackets. Nil where none
  /// is given, or more than a name and a port (RFC 9110 section 7.2).
  public var host: String? {
    guard let authority else { return nil }
    let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : authority.firstIndex(of: ":")
    let (name, rest) = (authority[..<(end ?? authority.endIndex)], authority[(end ?? authority.endIndex)...])
    guard rest.isEmpty || rest.first == ":" && rest.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return name.lowercased()
  }

  /// Whether `host` is a name that only this machine has for itself, so that no other name server can have chosen it.
  var namesThisMachine: Bool { ["localhost", "127.0.0.1", "[::1]"].contains(host ?? "") }

  /// The origin of the page that has a browser send this (RFC 6454 section 7), where that is not a page of this very server; nil for
  /// clients that are no browsers, which send none.
  ///
  /// On a plain port the name must be this machine's own as well: a page of any name can have that name lead to loopback (DNS rebinding).
  var foreignOrigin: String? {
    let origins = fields.all("origin")
    guard let first = origins.first else { return nil }
    let own = "\(face == .plain ? "http" : "https")://\(authority?.lowercased() ?? "")"
    let isOwn = origins.count == 1 && first.lowercased() == own && (face == .tls || namesThisMachine)
    return isOwn ? nil : first
  }

  /// The same request as seen from below its first segment, if that is `segment`: how one port carries several APIs.
  public func below(_ segment: String) -> HTTPRequest? {
    guard segments.first == segment else { return nil }
    var inner = self
    inner.segments.removeFirst()
    inner.path = String(path.dropFirst().drop { $0 != "/" })
    if inner.path.isEmpty { inner.path = "/" }
    if inner.path == "/" { inner.segments = [] }
    return inner
  }

  private static func split(_ target: String) throws(ControlError) -> (authority: String?, pathAndQuery: Substring) {
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .badRequest("the request target must be visible ASCII; percent-encode everything else", field: "path")
    }
    let withoutFragment = target.prefix { $0 != "#" }
    if withoutFragment.hasPrefix("/") { return (nil, withoutFragment) }
    for scheme in ["http://", "https://"] where withoutFragment.lowercased().hasPrefix(scheme) {
      let rest = withoutFragment.dropFirst(scheme.count)
      let authority = rest.prefix { $0 != "/" && $0 != "?" }
      let path = rest.dropFirst(authority.count)
      return (String(authority), path.hasPrefix("/") ? path : "/" + path)
    }
    throw .badRequest("the request target must be a path that begins with a slash, such as /v1/pushes", field: "path")
  }

  private static func segments(_ path: String) throws(ControlError) -> [String] {
    var segments: [String] = []
    for encoded in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let segment = PercentEncoding.decode(encoded) else {
        throw .badRequest(
          "the path holds \(encoded), which is not percent-encoded UTF-8: a percent sign must be followed by two hexadecimal digits",
          field: "path")
      }
      segments.append(segment)
    }
    return segments == [""] ? [] : segments
  }
}
