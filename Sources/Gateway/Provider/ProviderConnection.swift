import Primitives
import Reactor
import Rules

/// What the provider face remembers of one connection, from its first request on.
final class ProviderConnection {
  /// Its provider tokens so far.
  let credentials: Confined<ConnectionCredentials>

  /// A connection from `peer`; `seed` is a secret, since the address is the peer's to choose.
  init(peer: SocketAddress, seed: UInt64) {
    let address = Array(peer.hostText.utf8)
    credentials = unsafe Confined(ConnectionCredentials(source: address.span.bytes.hash(seed: seed)))
  }
}
