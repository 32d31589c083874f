public import Configuration
public import Control
import Forwarding
public import Primitives
import Push
import Rules
public import Security
import Storage

/// A running gateway: the loops of the data path, the store, the control face.
public final class Gateway: Sendable {
  /// What a gateway is given besides its configuration.
  public struct Surroundings: Sendable {
    /// The product's time.
    public var clock: @Sendable () -> Instant
    /// What `/version` tells.
    public var version: String
    /// Told of what a person who watches wants to see; called on any thread.
    public var observer: (@Sendable (GatewayEvent) -> Void)?
    /// Whether every answer explains itself, not only those whose request asks for it.
    public var explainsAlways = false
    /// Answers what comes to the plain face under `/device/`; nil leaves it to the gateway, which has nothing there.
    public var device: (@Sendable (HTTPRequest) async -> HTTPResponse)?
    /// The files that `/dev/…` shows on the plain face; nil serves none.
    public var devFiles: DevFiles?
    /// Access tokens beyond the configured ones, as they are at the moment; asked at each call of the control API.
    public var accessTokens: (@Sendable () -> AccessTokens)?
    /// What the TLS faces show to a client that asks for that server name; nil shows the configured certificate.
    public var identityForName: (@Sendable (String) -> TLSIdentity?)?

    /// Surroundings with this clock and version and nothing else.
    public init(version: String, clock: @escaping @Sendable () -> Instant) {
      self.version = version
      self.clock = clock
    }
  }

  private let store: Store
  private let loops: [GatewayLoop]
  private let control: ControlFace
  private let conditions = GatewayConditions()

  /// Opens the store, starts the threads and listens; returns when requests are answered.
  ///
  /// - Throws: What is wrong with a key, a certificate, the store or the machine, each with a description for people.
  public init(_ configuration: GatewayConfiguration, _ sockets: GatewaySockets, _ surroundings: Surroundings) throws {
    guard let identity = configuration.identity else { throw GatewayError.noIdentity }
    guard !configuration.signingKeys.isEmpty else { throw GatewayError.noSigningKey }
    let apps = configuration.appDirectory
    let upstreams = try configuration.upstreams.map { settings in
      try ConfigurationError.naming("upstreams.\(settings.name).ca") { try Upstream(settings) }
    }
    let keys = try SigningKeys(configuration.signingKeys, apps: apps)
    let tls = try Self.tlsIdentity(identity)

    let loopSet = LoopSet()
    let routes = UpstreamRoutes(apps: apps, names: upstreams.map(\.name))
    store = try Store(
      engine: try configuration.openEngine(), apps: apps, loops: configuration.loops, settings: configuration.storeSettings,
      clock: surroundings.clock, resolveUpstream: { routes.number(bundleID: $0, $1, named: $2) },
      readinessChanged: { [observer = surroundings.observer] in observer?(GatewayEvent($0)) },
      deliverBroadcast: { loop, broadcast in loopSet.deliver(loop, broadcast) },
      deliver: { loop, batch in loopSet.deliver(loop, batch) })

    let metrics = GatewayMetrics(loops: configuration.loops, store: store)
    let shared = ProviderShared(
      store: store,
      rules: RequestRules(
        apps: apps, providers: configuration.providerDirectory, answers: configuration.answers,
        tokenUpdates: configuration.tokenUpdates),
      seed: RandomPool().next(), initialConcurrentStreams: configuration.initialConcurrentStreams,
      providerKeys: try Self.publicKeys(configuration.providers), upstreams: upstreams,
      signers: keys.signers, signerOfApp: keys.signerOfApp, metrics: metrics, conditions: conditions,
      explainsAlways: surroundings.explainsAlways,
      broadcastAnswers: BroadcastAnswerRules(configuration.answers), observer: surroundings.observer)
    let providerTLS = try TLSContext.server(
      tls, protocols: [.http2], minimumVersion: configuration.answers.minimumTLS == .tls13 ? .tls13 : .tls12,
      identityForName: surroundings.identityForName)
    for (number, sockets) in sockets.provider.enumerated() {
      loopSet.append(try GatewayLoop(number, sockets: sockets, tls: providerTLS, shared, clock: surroundings.clock))
    }
    loops = loopSet.all

    let (store, conditions) = (store, conditions)
    let api = ControlAPI(
      .init(
        store: store, apps: apps, upstreams: upstreams.map(\.name), metrics: metrics.all, version: surroundings.version,
        obstacles: { conditions.all }, devFiles: surroundings.devFiles, now: surroundings.clock))
    let table = RouteTable(
      api.routes,
      authorizer: Authorizer(AccessTokens(configuration.accessTokens.map { AccessToken($0) }), further: surroundings.accessTokens),
      now: surroundings.clock)
    let device = surroundings.device
    control = try ControlFace(
      sockets.control,
      tls: try TLSContext.server(tls, protocols: [.http2, .http1], identityForName: surroundings.identityForName), plain: sockets.plain,
      clock: surroundings.clock
    ) { request in
      if let device, request.face == .plain, let inner = request.below("device") { return await device(inner) }
      return await table.respond(to: request)
    }
  }

  /// Takes no further requests, lets what is open finish, saves everything, and ends the threads. Blocks until that is done.
  public func drain() {
    let limit = TimeSpan.milliseconds(Limits.drainMilliseconds)
    conditions.set("drain", "The gateway is shutting down.")
    for loop in loops { loop.beginDrain(within: limit) }
    for loop in loops { loop.join() }
    store.stop()
    control.drain(within: limit)
  }
}

/// Why a gateway cannot be started with its configuration.
public enum GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no server certificate.
  case noIdentity
  /// There is no key to sign with.
  case noSigningKey

  /// What is missing and how to give it.
  public var description: String {
    switch self {
    case .noIdentity: "the gateway has no certificate: set tls.certificateFile and tls.keyFile, or give --state-dir"
    case .noSigningKey: "the gateway has no key to sign its own provider tokens with: list one under teams, or give --state-dir"
    }
  }
}
