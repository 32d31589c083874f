import Configuration
import Push

extension GatewayConfiguration {
  /// Whether the configuration says all that a gateway needs.
  var isComplete: Bool {
    identity != nil && !providers.isEmpty && !signingKeys.isEmpty && !accessTokens.isEmpty && store != nil && !upstreams.isEmpty
      && (!apps.isEmpty || anyApp != nil)
  }

  /// The name of the upstream where none is configured.
  static let deviceUpstream = "device"

  /// Fills what the configuration leaves open from a state folder; throws when it leaves open what nobody can guess.
  mutating func fill(from state: DevState) throws(CommandError) {
    identity = identity ?? state.identity
    // Where the folder has the key of its authority, whoever could make certificates can have every other key of the folder, too.
    if clientAuthorityPEM == nil, state.authority != nil { clientAuthorityPEM = state.authorityPEM }
    store = store ?? .folder(state.folder.store)
    if providers.isEmpty { providers = state.providers }
    if signingKeys.isEmpty { signingKeys = state.signingKeys }
    if accessTokens.isEmpty { accessTokens = state.accessTokens }
    if upstreams.isEmpty {
      upstreams = [try state.deviceUpstream(at: deviceURL)]
      upstreams[0].followsDevice = deviceURL == nil
      // Of no other use than to move its clock along.
      if clock.permitted { upstreams[0].accessToken = state.credentials.admin }
    }
    for index in upstreams.indices where !upstreams[index].isApple && upstreams[index].authorityPEM == nil {
      upstreams[index].authorityPEM = state.peerAuthorityPEM
    }
    if apps.isEmpty && anyApp == nil { apps = [AppDirectory.App(bundleID: Command.defaultBundleID)] }
    try setUpstreams()
  }

  /// Sends the apps that name no upstream to the only one there is.
  private mutating func setUpstreams() throws(CommandError) {
    let only = upstreams.count == 1 ? upstreams.first?.name : nil
    func set(_ app: inout AppDirectory.App) throws(CommandError) {
      guard app.developmentUpstream == nil, app.productionUpstream == nil else { return }
      guard let only else { throw CommandError("apps must be configured: with several upstreams, each app has to name its own") }
      (app.developmentUpstream, app.productionUpstream) = (only, only)
    }
    for index in apps.indices { try set(&apps[index]) }
    if var app = anyApp {
      try set(&app)
      anyApp = app
    }
  }
}

extension DevState {
  /// The folder's access tokens, as configuration.
  var accessTokens: [AccessTokenSettings] {
    credentials.accessTokens.map { AccessTokenSettings(name: $0.scope, scopes: [$0.scope], secret: .text($0.secret)) }
  }

  /// The mock device at `configured`, else the one that was last started with the folder, else where one is by default.
  func deviceUpstream(at configured: String? = nil) throws(CommandError) -> UpstreamSettings {
    let url = configured ?? credentials.device ?? "https://127.0.0.1:8444"
    guard let (host, port) = UpstreamSettings.hostAndPort(of: url) else {
      throw CommandError("\(folder.file("credentials.json")): device must be https://HOST:PORT, not \"\(url)\"")
    }
    return UpstreamSettings(name: GatewayConfiguration.deviceUpstream, host: host, port: port, authorityPEM: peerAuthorityPEM)
  }
}
