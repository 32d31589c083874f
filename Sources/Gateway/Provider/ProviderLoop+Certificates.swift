import Primitives
import Push
import Reactor
import Rules
import Security
import Storage
import Transport

// Connections whose clients have shown a certificate: judged before anything is said on them.
extension ProviderLoop {
  func welcome(_ connection: HTTP2ServerConnection) -> ConnectionWelcome {
    let bounds = ClientCertificate.Bounds(topics: Limits.certificateTopics, topicBytes: Limits.topicBytes)
    guard let shown = connection.clientCertificate(bounds) else { return .standard }
    let certificate = SenderCertificate(shown)
    let fault = certificate.fault(in: PushEnvironment(serverName: connection.serverName), at: loop.realNow)
    guard let fault else {
      connection.context = ProviderConnection(connection, certificate: certificate, seed: seed)
      return .trusted
    }
    metrics.refused(fault.reason == .badCertificate ? .badCertificate : .badCertificateEnvironment, shard: index)
    observer?(
      .certificateRefused(
        RefusedCertificate(
          peer: connection.peer, serverName: connection.serverName, name: shown.commonName, reason: fault.reason, detail: fault.detail)))
    return .refused(debug: "{\"reason\":\"\(fault.reason)\"}")
  }
}

extension SenderCertificate {
  /// What a certificate lets its connection send.
  convenience init(_ certificate: ClientCertificate) {
    let environment: PushEnvironment? =
      switch (certificate.permitsDevelopment, certificate.permitsProduction) {
      case (true, false): .development
      case (false, true): .production
      default: nil
      }
    self.init(topics: certificate.topics, environment: environment, notAfter: certificate.notAfter)
  }
}

extension PushEnvironment {
  /// The environment that Apple's host names stand for; nil for any other name.
  init?(serverName: String?) {
    switch serverName {
    case "api.push.apple.com", "api-broadcast.push.apple.com", "api-manage-broadcast.push.apple.com": self = .production
    case "api.sandbox.push.apple.com", "api.development.push.apple.com", "api-broadcast.sandbox.push.apple.com",
      "api-manage-broadcast.sandbox.push.apple.com":
      self = .development
    default: return nil
    }
  }
}

extension Batch {
  /// Copies the topic of requests that name none on `connection`.
  func append(defaultTopicOf connection: ProviderConnection) -> ByteRange {
    guard let topic = connection.credentials.value.certificate?.defaultTopic else {
      preconditionFailure("only a certificate for one topic makes up for a missing one")
    }
    return unsafe append(topic.span.bytes)
  }
}
