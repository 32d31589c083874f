public import Configuration
import JSON
import Push

/// What a new configuration has changed in a running gateway, for a log line.
public struct ReloadReport: Hashable, Sendable {
  /// What holds from the next request or connection on, such as `certificate` and `apps: + com.example.new`.
  public private(set) var changed: [String] = []
  /// Keys of the configuration that differ and wait for a restart.
  public private(set) var needRestart: [String] = []

  /// The differences of two configurations.
  public init(from old: GatewayConfiguration, to new: GatewayConfiguration) {
    if old.identity != new.identity { changed.append("certificate") }
    if old.clientAuthorityPEM != new.clientAuthorityPEM { changed.append("provider.clientCertificates.ca") }
    if old.tokenUpdates != new.tokenUpdates { changed.append("provider.tokenUpdates") }
    if old.answers != new.answers { changed.append("provider.answers") }
    for upstream in old.upstreams where new.upstreams.contains(where: { upstream.differsByAuthority(from: $0) }) {
      changed.append("upstreams.\(upstream.name).ca")
    }
    note("providers", old.providers, new.providers, \.keyID)
    note("teams", old.signingKeys, new.signingKeys, \.keyID)
    note("accessTokens", old.accessTokens, new.accessTokens, \.name)
    note("apps", old.apps + Self.list(old.anyApp), new.apps + Self.list(new.anyApp)) { $0.bundleID.isEmpty ? "*" : $0.bundleID }
    note("contentStates", Self.list(old.contentStates), Self.list(new.contentStates)) { $0.bundleID.isEmpty ? "*" : $0.bundleID }
    func compare<Value: Equatable>(_ key: String, _ path: KeyPath<GatewayConfiguration, Value>) {
      if old[keyPath: path] != new[keyPath: path] { needRestart.append(key) }
    }
    compare("bind", \.bind)
    compare("provider.ports", \.providerPorts)
    compare("provider.initialConcurrentStreams", \.initialConcurrentStreams)
    compare("control.port", \.controlPort)
    compare("provider.explainHeaders", \.explainHeaders)
    compare("loops", \.loops)
    compare("clock", \.clock)
    compare("store.path", \.store)
    compare("store.waitingMegabytes", \.waitingBytes)
    compare("pushLog.maxEntries", \.pushLogEntries)
    compare("pushLog.maxAge", \.pushLogAge)
    compare("pushLog.payloads", \.pushLogPayloads)
    compare("log.format", \.logFormat)
    if old.upstreams.map(\.withoutAuthority) != new.upstreams.map(\.withoutAuthority) { needRestart.append("upstreams") }
  }

  /// The content-states of one app.
  private struct ContentStates: Equatable {
    var bundleID: String
    var types: [ActivitySchemas]
  }

  private static func list(_ contentStates: [String: [ActivitySchemas]]) -> [ContentStates] {
    contentStates.map { ContentStates(bundleID: $0.key, types: $0.value) }
  }

  private static func list(_ app: AppDirectory.App?) -> [AppDirectory.App] { app.map { [$0] } ?? [] }

  private mutating func note<Item: Equatable>(_ key: String, _ old: [Item], _ new: [Item], _ name: (Item) -> String) {
    let before = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
    let after = Dictionary(new.map { (name($0), $0) }) { first, _ in first }
    let added = after.keys.filter { before[$0] == nil }.sorted().map { "+ \($0)" }
    let removed = before.keys.filter { after[$0] == nil }.sorted().map { "- \($0)" }
    let other = after.keys.filter { before[$0] != nil && before[$0] != after[$0] }.sorted().map { "~ \($0)" }
    let all = added + removed + other
    if !all.isEmpty { changed.append("\(key): \(all.joined(separator: ", "))") }
  }
}

extension UpstreamSettings {
  /// The same with no authority of its own: what does not change while a gateway runs.
  var withoutAuthority: UpstreamSettings {
    var copy = self
    copy.authorityPEM = nil
    // Where that is at the moment is looked up whenever it is needed.
    if copy.followsDevice { (copy.host, copy.port) = ("", 0) }
    return copy
  }

  /// Whether `other` is the same upstream with another authority.
  fileprivate func differsByAuthority(from other: UpstreamSettings) -> Bool {
    withoutAuthority == other.withoutAuthority && authorityPEM != other.authorityPEM
  }
}
