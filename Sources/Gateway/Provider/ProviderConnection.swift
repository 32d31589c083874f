import Primitives
import Push
import Reactor
import Rules
import Transport

/// What the provider face remembers of one connection, from its first request on, or from the start where there is a certificate.
final class ProviderConnection {
  /// The environment of its requests: that of the server name, else the one its certificate is limited to; nil when neither says.
  let environment: PushEnvironment?
  /// Whether it was told to go for its provider tokens.
  var isTurnedAway = false
  /// Its provider tokens so far.
  let credentials: Confined<ConnectionCredentials>

  /// What is to be remembered of `connection`; `seed` is a secret, since the address is the peer's to choose.
  init(_ connection: HTTP2ServerConnection, certificate: SenderCertificate?, seed: UInt64) {
    let address = Array(connection.peer.hostText.utf8)
    let source = unsafe address.span.bytes.hash(seed: seed)
    environment = PushEnvironment(serverName: connection.serverName) ?? certificate?.environment
    credentials = Confined(ConnectionCredentials(source: source, certificate: certificate))
  }
}
