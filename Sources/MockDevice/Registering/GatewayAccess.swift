public import Configuration
import HTTPClient
import Primitives
import Push

/// How a mock device reaches the control API of its gateway.
struct GatewayAccess: Hashable, Sendable {
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

  /// Access as configured; throws when the access token is missing.
  init(_ gateway: DeviceConfiguration.Gateway) throws(ConfigurationError) {
    guard let accessToken = gateway.accessToken else {
      throw ConfigurationError(
        "gateway.accessToken is missing; it must be an access token of the gateway with the scope register", at: "device configuration")
    }
    self.init(
      url: gateway.url, accessToken: accessToken, readToken: gateway.readToken,
      trust: gateway.authorityPEM.map { .pem($0) } ?? .system, upstream: gateway.upstream)
  }
}

/// Where the gateway of a mock device is at the moment.
public enum GatewayWhereabouts: Sendable {
  /// There.
  case found(DeviceConfiguration.Gateway)
  /// Nobody knows, for the reason in the clause, such as `none runs with the state folder …`.
  case unknown(String)
}

/// Looks the gateway up before each call, since it may start after the device, and start again on another port.
struct GatewayFinder: Sendable {
  private let find: @Sendable () -> GatewayWhereabouts
  private let patience: TimeSpan

  /// - Parameter patience: How long the gateway may take to say what it knows of a token.
  init(patience: TimeSpan, _ find: @escaping @Sendable () -> GatewayWhereabouts) {
    self.find = find
    self.patience = patience
  }

  /// The way to it now, or why there is none.
  func access() -> Result<GatewayAccess, Unknown> {
    switch find() {
    case .unknown(let why): return .failure(Unknown(why: why))
    case .found(let gateway):
      do throws(ConfigurationError) {
        var access = try GatewayAccess(gateway)
        access.patience = patience
        return .success(access)
      } catch {
        return .failure(Unknown(why: error.message))
      }
    }
  }

  /// No gateway is known.
  struct Unknown: Error {
    let why: String
  }
}
