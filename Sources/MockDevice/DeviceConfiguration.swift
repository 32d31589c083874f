public import Control
public import DeviceModel
public import Reactor
public import Security

/// Everything a mock device process is made from.
public struct DeviceConfiguration: Sendable {
  /// A key that a gateway signs its provider tokens with.
  public struct Provider: Sendable {
    /// The key's id, the `kid` of its tokens.
    public var keyID: String
    /// The team's id, the `iss` of its tokens.
    public var teamID: String
    /// The public half of the key.
    public var publicKey: P256PublicKey

    /// A key with these values.
    public init(keyID: String, teamID: String, publicKey: P256PublicKey) {
      self.keyID = keyID
      self.teamID = teamID
      self.publicKey = publicKey
    }
  }

  /// Where the HTTPS port listens; port 0 takes a free one.
  public var addresses: [SocketAddress]
  /// What the HTTPS port shows.
  public var identity: TLSIdentity
  /// What it shows to a client that asks for that server name; nil shows `identity`.
  public var identityForName: (@Sendable (String) -> TLSIdentity?)?
  /// The keys whose pushes are taken; their ids are distinct.
  public var providers: [Provider]
  /// The access tokens of the device's own API.
  public var accessTokens: [AccessToken]
  /// Whom tokens are registered with; nil registers none.
  public var gateway: GatewayAccess?
  /// The devices at the start.
  public var plan: DevicePlan
  /// The version that `/version` tells.
  public var version: String

  /// A configuration of these values.
  public init(
    addresses: [SocketAddress], identity: TLSIdentity, identityForName: (@Sendable (String) -> TLSIdentity?)? = nil,
    providers: [Provider], accessTokens: [AccessToken], gateway: GatewayAccess?, plan: DevicePlan, version: String
  ) {
    self.addresses = addresses
    self.identity = identity
    self.identityForName = identityForName
    self.providers = providers
    self.accessTokens = accessTokens
    self.gateway = gateway
    self.plan = plan
    self.version = version
  }
}
