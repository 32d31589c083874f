import HTTPClient
import Primitives
import Push

/// How a mock device reaches the control API of its gateway.
struct GatewayAccess: Sendable {
  /// The control API's URL without a path, such as `https://gateway:8443`.
  var url: String
  /// An access token with the scope `register`.
  var accessToken: String
  /// One with the scope `read`; nil tries the other.
  var readToken: String?
  /// Whose certificate the gateway must have.
  var trust: BlockingHTTPClient.Trust
  /// The upstream of the gateway that leads to this device; nil leaves it to what the gateway has for the app.
  var upstream: String?
  /// How long it may take to say what it knows of a token.
  var patience = TimeSpan.milliseconds(Limits.heldPushMilliseconds)

  /// Access with these values.
  init(
    url: String, accessToken: String, readToken: String? = nil, trust: BlockingHTTPClient.Trust = .system, upstream: String? = nil
  ) {
    self.url = url
    self.accessToken = accessToken
    self.readToken = readToken
    self.trust = trust
    self.upstream = upstream
  }
}
