public import Primitives
public import Push

/// A server's certificate chain and private key.
public struct ServerIdentity: Hashable, Sendable {
  /// The certificates as PEM, the server's own first.
  public var certificatePEM: String
  /// The private key as PEM.
  public var keyPEM: String

  /// An identity of these PEM texts.
  public init(certificatePEM: String, keyPEM: String) {
    self.certificatePEM = certificatePEM
    self.keyPEM = keyPEM
  }
}

/// A key that provider tokens are checked with, and what its holder may do.
public struct ProviderKey: Hashable, Sendable {
  /// The key's id: the `kid` of its tokens.
  public var keyID: String
  /// The team's id: the `iss` of its tokens.
  public var teamID: String
  /// The key as PEM, public or private.
  public var keyPEM: String
  /// The apps it may send to; nil means all.
  public var bundleIDs: [String]?
  /// The environment it is limited to; nil means both.
  public var environment: PushEnvironment?
  /// The requests that it may send in a second; nil means as many as it likes.
  public var requestsPerSecond: Int64?

  /// A key with these values.
  public init(
    keyID: String, teamID: String, keyPEM: String, bundleIDs: [String]? = nil, environment: PushEnvironment? = nil
  ) {
    self.keyID = keyID
    self.teamID = teamID
    self.keyPEM = keyPEM
    self.bundleIDs = bundleIDs
    self.environment = environment
  }
}

/// A key that the gateway signs its own provider tokens with.
public struct SigningKey: Hashable, Sendable {
  /// The team's id.
  public var teamID: String
  /// The key's id.
  public var keyID: String
  /// The private key as PEM, such as the content of Apple's `.p8` file.
  public var keyPEM: String
  /// The environment it is limited to; nil means both.
  public var environment: PushEnvironment?
  /// The topics it is limited to, as they stand in `apns-topic`; a bundle id stands for all topics of its app. Nil means every topic.
  public var topics: [String]?

  /// A key with these values.
  public init(teamID: String, keyID: String, keyPEM: String, environment: PushEnvironment? = nil, topics: [String]? = nil) {
    self.teamID = teamID
    self.keyID = keyID
    self.keyPEM = keyPEM
    self.environment = environment
    self.topics = topics
  }

  /// Whether it may sign for a team in an environment.
  public func signs(for team: String, _ environment: PushEnvironment) -> Bool {
    teamID == team && (self.environment ?? environment) == environment
  }

  /// Whether it may sign for any topic of an app.
  public func signs(forApp bundleID: String) -> Bool {
    guard let topics else { return true }
    return topics.contains { topic in PushType.allCases.contains { topic == "\(bundleID)\($0.topicSuffix)" } }
  }
}

/// Where pushes are forwarded to.
public struct UpstreamSettings: Hashable, Sendable {
  /// Its name.
  public var name: String
  /// The host, without brackets where it is an IPv6 address.
  public var host: String
  /// The port.
  public var port: UInt16
  /// The certificates to trust, as PEM; nil means those of the state folder, else the system's, and for Apple always the system's.
  public var authorityPEM: String?
  /// Whether it is Apple's, which changes the defaults of its apps.
  public var isApple: Bool
  /// Whether it is wherever the mock device of the state folder is at the moment; then `host` and `port` are where it is looked for when
  /// none has started yet.
  public var followsDevice = false
  /// The first delay of a push that it has answered with a server error; zero has it tried again as after any failure.
  public var serverErrorRetry: TimeSpan
  /// An access token of the mock device with the scope `admin`, by which its clock is moved along; nil leaves that clock alone.
  public var accessToken: String?
  /// How long it is left alone after it has refused the gateway's own provider token.
  public var pause = TimeSpan.milliseconds(Limits.upstreamPauseMilliseconds)

  /// An upstream with these values.
  public init(name: String, host: String, port: UInt16, authorityPEM: String? = nil, isApple: Bool = false) {
    self.name = name
    self.host = host
    self.port = port
    self.authorityPEM = authorityPEM
    self.isApple = isApple
    // Apple, "Handling notification responses from APNs": try again after 15 minutes.
    serverErrorRetry = isApple ? .seconds(900) : .zero
  }
}

/// An access token of a control API.
public struct AccessTokenSettings: Hashable, Sendable {
  /// How its secret is known.
  public enum Secret: Hashable, Sendable {
    /// By itself.
    case text(String)
    /// By the 32 bytes of its SHA-256.
    case digest([UInt8])
  }

  /// What it permits, as `AccessScope` of the control API spells it.
  public static let scopeNames = ["register", "read", "reload", "admin"]

  /// The name by which people know it.
  public var name: String
  /// Some of `scopeNames`.
  public var scopes: [String]
  /// The apps it sees; nil means all.
  public var bundleIDs: [String]?
  /// When it ends; nil means never.
  public var expires: Instant?
  /// The secret.
  public var secret: Secret

  /// A token with these values.
  public init(name: String, scopes: [String], bundleIDs: [String]? = nil, expires: Instant? = nil, secret: Secret) {
    self.name = name
    self.scopes = scopes
    self.bundleIDs = bundleIDs
    self.expires = expires
    self.secret = secret
  }
}
