public import JSON
public import Primitives
public import Push

/// What a gateway is told: faces, keys, apps, upstreams, store. Files and secrets it names have been read.
///
/// A part that no source sets is nil or empty, and the command that starts the gateway fills it from its state folder.
public struct GatewayConfiguration: Sendable {
  /// Where the store keeps its journal.
  public enum StorePlace: Hashable, Sendable {
    /// Nowhere: everything is forgotten at the end.
    case memory
    /// In this folder.
    case folder(String)
  }

  /// How log lines are written.
  public enum LogFormat: String, CaseIterable, Sendable {
    /// For people.
    case text
    /// One JSON object a line.
    case json
  }

  /// The address that faces listen on: an IP address; loopback by default.
  public var bind = "127.0.0.1"
  /// The ports of the provider API, at least one; 0 takes a free one.
  public var providerPorts: [UInt16] = [2197]
  /// Streams of a connection before its first provider token is verified, and again after one that is refused.
  public var initialConcurrentStreams = 1
  /// What happens to new provider tokens that come too often.
  public var tokenUpdates = ProviderTokenPolicy.Updates.enforce
  /// The authorities of client certificates as PEM, with their revocation lists if there are any; nil trusts no certificate.
  public var clientAuthorityPEM: String?
  /// The port of the control API; 0 takes a free one.
  public var controlPort: UInt16 = 8443
  /// The port of the control API in plain HTTP on loopback; nil, as always outside `dev`, opens none.
  public var plainPort: UInt16?
  /// Whether every answer of the provider API says what became of the push, not only those whose request asks for it.
  public var explainHeaders = false
  /// What the provider API does where it is not known what Apple's servers do.
  public var answers = ProviderAnswers()
  /// Whether faults may be set over the control API.
  public var faultsAllowed = false
  /// The event loops of the data path.
  public var loops = 1
  /// What may be done to the product's clock, and what goes by it.
  public var clock = ClockSettings()
  /// The server's certificate and key.
  public var identity: ServerIdentity?
  /// The store's place.
  public var store: StorePlace?
  /// Bytes of all pushes together that wait and have not ended.
  public var waitingBytes = Limits.waitingBytes
  /// Pushes that the log keeps.
  public var pushLogEntries = Limits.pushLogEntries
  /// How long the log keeps them at most; nil as long as there is room.
  public var pushLogAge: TimeSpan?
  /// Whether the log keeps payloads.
  public var pushLogPayloads = false
  /// How log lines are written.
  public var logFormat = LogFormat.text
  /// What backends sign provider tokens with.
  public var providers: [ProviderKey] = []
  /// What the gateway itself signs provider tokens with: for each team a key, or one for each environment.
  public var signingKeys: [SigningKey] = []
  /// Where pushes go.
  public var upstreams: [UpstreamSettings] = []
  /// The mock device that is the only upstream where none are listed: an `https` URL without a path.
  public var deviceURL: String?
  /// The apps that are listed; their ids, and the names of their upstreams, are checked.
  public var apps: [AppDirectory.App] = []
  /// What holds for every other app; nil refuses them.
  public var anyApp: AppDirectory.App?
  /// The fields that the file gives each app, such as `validation` and `budgets.widgets.allowance`, by bundle id; `*` has those of
  /// `anyApp`.
  public var appFields: [String: Set<String>] = [:]
  /// What the content-states of apps decode from, by bundle id; "" has those of `anyApp`.
  public var contentStates: [String: [ActivitySchemas]] = [:]
  /// Who may use the control API.
  public var accessTokens: [AccessTokenSettings] = []

  /// The defaults, with nothing to serve.
  public init() {}

  /// The directory of `apps` and `anyApp`.
  public var appDirectory: AppDirectory { AppDirectory(apps, anyApp: anyApp) }
}
