public import JSON
public import Push
import YAML

/// What a mock device process is told: its face, its gateway, and the devices it begins with.
///
/// A part that no source sets is nil or empty, and the command that starts the device fills it from its state folder.
public struct DeviceConfiguration: Sendable {
  /// The gateway whose control API the apps register with.
  public struct Gateway: Hashable, Sendable {
    /// The control API's URL without a path.
    public var url: String
    /// An access token with the scope `register`.
    public var accessToken: String?
    /// The state folder's, with the scope `read`; nil where `accessToken` is another's, which then has both scopes or does without.
    public var readToken: String?
    /// The certificates to trust, as PEM; nil means those of the state folder, else the system's.
    public var authorityPEM: String?
    /// The gateway's upstream that leads to this device; nil leaves it to the app's.
    public var upstream: String?

    /// A gateway with these values.
    public init(url: String, accessToken: String?, authorityPEM: String? = nil, upstream: String? = nil) {
      self.url = url
      self.accessToken = accessToken
      self.authorityPEM = authorityPEM
      self.upstream = upstream
    }
  }

  /// The address that the face listens on: an IP address; loopback by default.
  public var bind = "127.0.0.1"
  /// The port of the face; 0 takes a free one.
  public var port: UInt16 = 8444
  /// The server's certificate and key.
  public var identity: ServerIdentity?
  /// What may be done to the clock, and which one senders go by.
  public var clock = ClockSettings()
  /// How log lines are written.
  public var logFormat = GatewayConfiguration.LogFormat.text
  /// The gateway; nil where none is configured.
  public var gateway: Gateway?
  /// What the gateway signs its provider tokens with.
  public var providers: [ProviderKey] = []
  /// What tokens are made from, besides names: the same seed gives the same tokens.
  public var seed = "widgetpush"
  /// The list of devices, for the device model to read; nil when absent.
  public var devices: JSONValue?
  /// Who may use the device's own API.
  public var accessTokens: [AccessTokenSettings] = []

  private var places: JSONPlaces?

  /// The defaults, with no gateway and no device.
  public init() {}

  /// The error about a field of `devices` with its place in the file.
  public func located(_ error: FieldError) -> ConfigurationError {
    guard let places else { return ConfigurationError(error.message, at: "device configuration") }
    return ConfigurationError(error.message, in: places.file, places.mark(of: error.field))
  }
}

extension DeviceConfiguration {
  /// The values that flags and variables may set.
  public static let keys: [ConfigurationKey] =
    [
      ConfigurationKey("bind", "ADDRESS", "IP address the face listens on (127.0.0.1)"),
      ConfigurationKey("device.port", "PORT", "port of the device's face, 0 takes a free one (8444)"),
      ConfigurationKey("tls.certificateFile", "FILE", "certificate chain as PEM (server.pem of the state folder)"),
      ConfigurationKey("tls.keyFile", "FILE", "its private key as PEM (server.key of the state folder)"),
      ConfigurationKey("gateway.url", "URL", "control API of the gateway (that of the state folder)"),
      ConfigurationKey("gateway.ca", "FILE", "certificates to trust there, as PEM (ca.pem of the state folder)"),
      ConfigurationKey("gateway.accessToken", "TOKEN", "access token with scope register (that of the state folder)"),
      ConfigurationKey("gateway.upstream", "NAME", "the gateway's upstream that leads here (the app's)"),
      ConfigurationKey("seed", "TEXT", "what push tokens are made from (widgetpush)"),
      ConfigurationKey("log.format", "FORMAT", "log lines as text or json (text)"),
    ] + ConfigurationKey.sharedClockKeys

  /// What the sources say; throws for the first value that is unknown or of the wrong form.
  ///
  /// - Parameters:
  ///   - otherVariables: Variables that begin with `WIDGETPUSH_` and are no part of any configuration.
  ///   - trace: Keeps every value with where it came from.
  public static func load(
    _ sources: ConfigurationSources, otherVariables: [String] = [], trace: ConfigurationTrace? = nil
  ) throws(ConfigurationError) -> DeviceConfiguration {
    try sources.refuseUnknownVariables(keys + GatewayConfiguration.keys, others: otherVariables)
    var reader = try ConfigurationReader(sources, trace: trace)
    var configuration = DeviceConfiguration()
    configuration.bind = try reader.bindAddress("bind") ?? configuration.bind

    var device = try reader.section("device")
    configuration.port = try device.port("port") ?? configuration.port
    try device.finish()

    configuration.identity = try reader.identity("tls")
    configuration.gateway = try reader.gateway("gateway")

    var log = try reader.section("log")
    configuration.logFormat = try log.choice("format", GatewayConfiguration.LogFormat.self) ?? configuration.logFormat
    try log.finish()

    configuration.clock = try reader.clock("clock", judgesTokens: false)
    configuration.providers = try reader.providers("providers")
    configuration.accessTokens = try reader.accessTokens("accessTokens")
    configuration.seed = try reader.string("seed") ?? configuration.seed
    if let node = reader.node("devices") {
      configuration.devices = JSONValue(node)
      configuration.places = JSONPlaces(file: sources.file?.name ?? "configuration", name: "devices", root: node)
    }
    try reader.finish()
    return configuration
  }
}

extension ConfigurationReader {
  fileprivate mutating func gateway(_ key: String) throws(ConfigurationError) -> DeviceConfiguration.Gateway? {
    var reader = try section(key)
    let authority = try reader.fileText("ca")
    let accessToken = try reader.secret("accessToken")
    let upstream = try reader.string("upstream")
    let url = try reader.scalar("url")
    try reader.finish()
    guard let url else {
      guard authority == nil, accessToken == nil, upstream == nil else {
        throw reader.error("url", "is missing; it must be https://HOST:PORT of the gateway's control API")
      }
      return nil
    }
    guard UpstreamSettings.hostAndPort(of: url.text) != nil else {
      throw reader.error("url", "must be https://HOST or https://HOST:PORT, not \"\(url.text)\"", url.origin)
    }
    return DeviceConfiguration.Gateway(url: url.text, accessToken: accessToken, authorityPEM: authority, upstream: upstream)
  }
}
