public import Primitives
import Push
public import Security

/// Where pushes are forwarded to: a mock device, or Apple.
public struct Upstream: Sendable {
  /// The name in the configuration.
  public var name: String
  /// The host name or address to connect to; also the name that its certificate must have.
  public var host: String
  /// The port.
  public var port: UInt16
  /// What it is trusted by, with `h2` as the only protocol.
  public var tls: TLSContext
  /// Tells where it is at the moment, on any loop's thread, before each attempt to connect; nil, and one that does not know, keep to `host`
  /// and `port`.
  public var locate: (@Sendable () -> (host: String, port: UInt16)?)?
  /// How long it is left alone after it has refused the gateway's own provider token.
  public var pause = TimeSpan.milliseconds(Limits.upstreamPauseMilliseconds)

  /// An upstream with these values.
  public init(name: String, host: String, port: UInt16, tls: TLSContext) {
    self.name = name
    self.host = host
    self.port = port
    self.tls = tls
  }

  /// It, where it is at the moment.
  var located: Upstream {
    guard let (host, port) = locate?() else { return self }
    var located = self
    (located.host, located.port) = (host, port)
    return located
  }

  /// Host and port, as people write them.
  public var address: String { "\(bracketedHost):\(port)" }

  /// The value of `:authority`.
  var authority: String { port == 443 ? bracketedHost : address }

  private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
