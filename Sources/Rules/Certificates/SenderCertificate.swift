public import Primitives
public import Push

/// What the client certificate of a connection lets it send (apns.md section 4.4); one for each connection, never changed.
///
/// A connection that has shown one needs no provider token: `authorization` is ignored on it.
public final class SenderCertificate: Sendable {
  /// The environment that it is limited to; nil means both.
  public let environment: PushEnvironment?
  private let topics: [[UInt8]]
  private let notAfter: Instant

  /// A certificate for these topics, its own first.
  public init(topics: [String], environment: PushEnvironment?, notAfter: Instant) {
    self.topics = topics.map { Array($0.utf8) }
    self.environment = environment
    self.notAfter = notAfter
  }

  /// What keeps its connection from sending anything: `badCertificate` or `badCertificateEnvironment`; nil when nothing does.
  ///
  /// - Parameter environment: The environment of the server name that the client asked for; nil when that name says nothing.
  public func fault(in environment: PushEnvironment?, at now: Instant) -> (reason: Reason, detail: String)? {
    // A resumed session brings a certificate that was valid when the session began.
    if now > notAfter { return (.badCertificate, "the client's certificate has expired") }
    if topics.isEmpty {
      return (
        .badCertificate, "the client's certificate names no topic: neither a UID in its subject nor a list of topics that can be read"
      )
    }
    guard let environment, let own = self.environment, own != environment else { return nil }
    return (
      .badCertificateEnvironment,
      "the client's certificate is for the environment \(own.name), and the server name stands for \(environment.name)"
    )
  }

  /// The topic of requests that name none; nil where there are several.
  public var defaultTopic: [UInt8]? { topics.count == 1 ? topics[0] : nil }

  /// Whether `topic` is one of its own; allocates nothing.
  func names(_ topic: RawSpan) -> Bool {
    for own in topics {
      let bytes = unsafe own.span.bytes
      if bytes.equals(topic) { return true }
    }
    return false
  }

  /// Its topics, for a detail.
  var list: String { topics.prefix(5).map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ") }
}

/// Who sends a request: what decides which topics it may have.
enum Sender {
  /// The holder of the key at that index of the `ProviderDirectory`.
  case provider(Int)
  /// The owner of the connection's certificate.
  case certificate(SenderCertificate)
  /// Nobody in particular: the request is only looked at.
  case anyone

  /// The index of the key; nil for a certificate.
  var provider: Int? {
    if case .provider(let index) = self { index } else { nil }
  }
}
