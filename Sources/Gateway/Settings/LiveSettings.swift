import Configuration
import Control
import Forwarding
import JSON
import Primitives
import Push
import Rules
import Security
import Synchronization

/// What of a running gateway may change: certificates, keys, access tokens, apps and their budgets, the authorities of upstreams, and
/// the answers to open questions.
///
/// Safe to use from any thread; one change is made at a time, each whole or not at all.
final class LiveSettings: Sendable {
  /// What depends on the configuration and is handed out when it changes.
  struct Parts: Sendable {
    var apps: AppDirectory
    var signing: SigningTable
    /// The schemas that hold, by bundle id; "" has those of every app that is not listed and has none of its own.
    var contentStates: [String: [ActivitySchemas]]
    var provider: ProviderSettings
    var controlTLS: TLSContext
    var accessTokens: AccessTokens
    /// Pushes that may wait for one token.
    var lanePushes: Int
    /// Whether a push whose expiration has passed is tried once.
    var triesPastExpirations: Bool

    /// Which of the gateway's own keys sign for an app.
    func signers(_ bundleID: String, _ environment: PushEnvironment) -> PushSigners {
      signing.signers(bundleID, team: apps.index(of: bundleID).flatMap { apps[$0].teamID }, environment)
    }
  }

  private struct State: Sendable {
    var configuration: GatewayConfiguration
    var book: AppBook
    var parts: Parts
    /// The number of each key that the gateway ever signed with.
    var signerNumbers: [SigningKey: Int]
    /// Told of what has changed; nil until the gateway is up.
    var publish: (@Sendable (Parts) -> Void)?
    /// Whether something changed before anybody could be told.
    var isUntold = false

    mutating func tell() {
      if let publish { publish(parts) } else { isUntold = true }
    }
  }

  /// The gateway's own keys.
  let signers: ProviderTokenSigners
  private let state: Mutex<State>
  private let storage: AppStorage?
  private let identityForName: (@Sendable (String) -> TLSIdentity?)?

  /// The settings at a start; throws for a certificate, a key or a kept setting that cannot be used.
  init(
    _ configuration: GatewayConfiguration, storage: AppStorage?, identityForName: (@Sendable (String) -> TLSIdentity?)?
  ) throws {
    self.storage = storage
    self.identityForName = identityForName
    guard let first = configuration.signingKeys.first else { throw GatewayError.noSigningKey }
    let signers = ProviderTokenSigners([try Self.signer(first)])
    var numbers = [first: 0]
    try Self.addSigners(of: configuration, to: signers, &numbers)
    let book = AppBook(configuration, try storage?.saved() ?? SavedApps())
    let parts = try Self.parts(configuration, book, numbers, identityForName)
    self.signers = signers
    state = Mutex(State(configuration: configuration, book: book, parts: parts, signerNumbers: numbers))
  }

  /// What holds at the moment.
  var parts: Parts { state.withLock { $0.parts } }

  /// From now on, `publish` is told of each change, one after another.
  func whenChanged(_ publish: @escaping @Sendable (Parts) -> Void) {
    state.withLock { state in
      state.publish = publish
      if state.isUntold { state.tell() }
    }
  }

  /// Goes by `configuration` from now on; throws, and changes nothing, when a part of it cannot be used.
  ///
  /// - Returns: What has changed, and what would only change with a restart.
  func reload(_ configuration: GatewayConfiguration) throws -> ReloadReport {
    try state.withLock { state in
      let names = state.configuration.upstreams.map(\.name)
      for app in configuration.apps + (configuration.anyApp.map { [$0] } ?? []) {
        for name in [app.developmentUpstream, app.productionUpstream].compactMap(\.self) where !names.contains(name) {
          throw ConfigurationError(
            "the app \(app.bundleID.isEmpty ? "*" : app.bundleID) names the upstream \"\(name)\", which a restart brings; there are now \(names.joined(separator: ", "))",
            at: "apps")
        }
      }
      guard !configuration.signingKeys.isEmpty else { throw GatewayError.noSigningKey }
      var numbers = state.signerNumbers
      // What cannot change goes on as it is, and is told.
      var next = configuration
      next.upstreams = Self.upstreams(state.configuration.upstreams, with: configuration.upstreams)
      let book = AppBook(next, SavedApps(settings: state.book.set, taught: state.book.taught))
      _ = try Self.publicKeys(next.providers)
      for key in next.signingKeys { _ = try Self.signer(key) }
      try Self.addSigners(of: next, to: signers, &numbers)
      let parts = try Self.parts(next, book, numbers, identityForName)
      let report = ReloadReport(from: state.configuration, to: configuration)
      state.configuration = next
      state.book = book
      state.signerNumbers = numbers
      state.parts = parts
      state.tell()
      return report
    }
  }

  // MARK: Apps

  /// The app as the control API shows it; nil when there is none.
  func view(_ bundleID: String) throws(FieldError) -> JSONValue? {
    let book = state.withLock { $0.book }
    return try book.view(bundleID)
  }

  /// Whether something was set for the app at run time.
  func hasSet(_ bundleID: String) -> Bool { state.withLock { $0.book.set[bundleID] != nil } }

  /// What came of a change of an app.
  enum Change: Sendable {
    /// The app was known before, by the configuration or by what was set at run time, or it was not.
    case made(isNew: Bool)
    /// Nobody has said anything of the app, and it was to be known.
    case unknown
    /// The settings are wrong, or do not go with the configuration.
    case refused(FieldError)
    /// There are as many apps as there may be.
    case full
    /// The app has as many attributes types with schemas as it may.
    case noRoom
    /// The app would bring along more than is kept of what apps bring, as the text says.
    case broughtTooMuch(String)
    /// With it, what was set for all apps would have so many bytes, which could not be kept.
    case tooMuch(Int)
    /// It could not be kept, for that reason, and was not made.
    case notKept(String)
  }

  /// Sets what `settings` has for an app, in place of all that was set before; nil takes it back.
  func set(_ bundleID: String, _ settings: AppSettings?) -> Change { change(bundleID) { _ in settings }.change }

  /// Sets for an app what `next` makes of what was set before, in one step; nil is nothing.
  ///
  /// - Parameter mayBeNew: Whether the app may be one of which neither the configuration nor anybody at run time has said anything.
  /// - Returns: What came of it, and the fields that were set before and are not any more.
  func change(
    _ bundleID: String, mayBeNew: Bool = true, _ next: (AppSettings?) throws(FieldError) -> AppSettings?
  ) -> (change: Change, dropped: [String]) {
    state.withLock { state in
      var book = state.book
      guard mayBeNew || book.knows(bundleID) else { return (.unknown, []) }
      let old = book.set[bundleID]
      let settings: AppSettings?
      do throws(FieldError) {
        settings = try next(old)
        if let settings { try check(try book.app(bundleID, with: settings), state.configuration) }
      } catch {
        return (.refused(error), [])
      }
      book.set[bundleID] = settings
      if let error = book.overflow(of: bundleID, since: state.book) { return (.refused(error), []) }
      let isNew = old == nil && !book.isConfigured(bundleID)
      let dropped = (old?.fields ?? []).subtracting(settings?.fields ?? []).sorted()
      return (keep(book, isNew: isNew, mayGrow: settings == nil, &state), dropped)
    }
  }

  /// The schemas of an app, by the name of their type; nil when there is no such app.
  func schemas(of bundleID: String) -> [KnownSchemas]? {
    let (book, apps) = state.withLock { ($0.book, $0.parts.apps) }
    return apps.index(of: bundleID) == nil ? nil : book.schemas(of: bundleID)
  }

  /// The schemas of an app for which there is no room.
  func leftOut(of bundleID: String) -> [KnownSchemas] { state.withLock { $0.book }.leftOut(of: bundleID) }

  /// Sets the schemas of one attributes type of an app, or takes them back with nil.
  ///
  /// - Parameters:
  ///   - origin: Whose schemas they are: `api` for somebody's, `app` for the app's own.
  ///   - isWanted: Looks at what is known of the type before; what it throws is what becomes of it all.
  func setSchemas<Objection>(
    _ schemas: ActivitySchemas?, of attributesType: String, app bundleID: String, as origin: KnownSchemas.Origin,
    where isWanted: (KnownSchemas?) throws(Objection) -> Void
  ) throws(Objection) -> Change {
    let result = state.withLock { state -> Result<Change, Objection> in
      let present = state.book.schemas(of: bundleID).first { $0.schemas.attributesType == attributesType }
      do throws(Objection) {
        try isWanted(present)
      } catch {
        return .failure(error)
      }
      var book = state.book
      guard book.setSchemas(schemas, of: attributesType, app: bundleID, as: origin) else { return .success(.made(isNew: false)) }
      let holds = book.schemas(of: bundleID).contains { $0.schemas.attributesType == attributesType }
      guard schemas == nil || holds && book.overflow(of: bundleID, since: state.book) == nil else { return .success(.noRoom) }
      if origin == .app, schemas != nil, let excess = book.excess(broughtBy: bundleID) { return .success(.broughtTooMuch(excess)) }
      return .success(keep(book, isNew: present == nil, mayGrow: schemas == nil, &state))
    }
    return try result.get()
  }

  /// Keeps what a changed book has, and goes by it from now on.
  ///
  /// - Parameter mayGrow: Something is taken back, for which there is room in any case.
  private func keep(_ book: AppBook, isNew: Bool, mayGrow: Bool, _ state: inout State) -> Change {
    guard book.count <= max(Limits.apps, state.book.count) else { return .full }
    let text = AppStorage.text(book)
    guard mayGrow || text.utf8.count <= Limits.savedAppsBytes else { return .tooMuch(text.utf8.count) }
    do {
      try storage?.save(text)
    } catch {
      return .notKept("\(error)")
    }
    state.book = book
    state.parts.apps = book.directory
    state.parts.contentStates = book.contentStates
    state.parts.provider.rules = Self.rules(state.parts.apps, book.contentStates, state.configuration)
    state.tell()
    return .made(isNew: isNew)
  }

  /// Whether an app's upstreams are there, and a team that signs for Apple where one is Apple's.
  private func check(_ app: AppDirectory.App, _ configuration: GatewayConfiguration) throws(FieldError) {
    let names = configuration.upstreams.map(\.name)
    if app.developmentUpstream == nil && app.productionUpstream == nil {
      throw FieldError(field: "upstream", message: "upstream is missing; it must be one of \(names.joined(separator: ", "))")
    }
    for name in [app.developmentUpstream, app.productionUpstream].compactMap(\.self) where !names.contains(name) {
      let hint = nearestName(to: name, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw FieldError(field: "upstream", message: "upstream must be one of \(names.joined(separator: ", ")), not \"\(name)\"\(hint)")
    }
    let keys = configuration.signingKeys
    for environment in PushEnvironment.allCases {
      guard configuration.upstreams.contains(where: { $0.isApple && $0.name == app.upstream(environment) }) else { continue }
      let suitable = keys.filter { $0.signs(for: $0.teamID, environment) && (app.bundleID.isEmpty || $0.signs(forApp: app.bundleID)) }
      let teams = suitable.map(\.teamID)
      guard !teams.contains(app.teamID ?? "") else { continue }
      throw FieldError(
        field: "team",
        message:
          "team must be one whose key signs for Apple in \(environment.name), since that upstream is Apple's: \(teams.joined(separator: ", "))"
      )
    }
  }
}

// MARK: Making the parts

extension LiveSettings {
  /// The upstreams that there are, with the authorities that they have in the new list; those of another address keep theirs, too.
  private static func upstreams(_ old: [UpstreamSettings], with new: [UpstreamSettings]) -> [UpstreamSettings] {
    old.map { old in new.first { $0.withoutAuthority == old.withoutAuthority } ?? old }
  }

  private static func signer(_ key: SigningKey) throws(ConfigurationError) -> ProviderTokenSigner {
    try ConfigurationError.naming("teams, key \(key.keyID) of team \(key.teamID)") {
      try ProviderTokenSigner(teamID: key.teamID, keyID: key.keyID, key: try P256PrivateKey(pem: key.keyPEM))
    }
  }

  private static func addSigners(
    of configuration: GatewayConfiguration, to signers: ProviderTokenSigners, _ numbers: inout [SigningKey: Int]
  ) throws(ConfigurationError) {
    for key in configuration.signingKeys where numbers[key] == nil { numbers[key] = signers.add(try signer(key)) }
  }

  private static func rules(
    _ apps: AppDirectory, _ contentStates: [String: [ActivitySchemas]], _ configuration: GatewayConfiguration
  ) -> RequestRules {
    RequestRules(
      apps: apps, providers: configuration.providerDirectory, answers: configuration.answers, tokenUpdates: configuration.tokenUpdates,
      contentStates: contentStates)
  }

  private static func parts(
    _ configuration: GatewayConfiguration, _ book: AppBook, _ numbers: [SigningKey: Int],
    _ identityForName: (@Sendable (String) -> TLSIdentity?)?
  ) throws -> Parts {
    guard let identity = configuration.identity else { throw GatewayError.noIdentity }
    try checkClientAuthorities(configuration)
    let tls = try tlsIdentity(identity)
    let apps = book.directory
    let provider = ProviderSettings(
      rules: rules(apps, book.contentStates, configuration), keys: try publicKeys(configuration.providers),
      rates: ProviderRates(configuration.providers.map(\.requestsPerSecond)),
      tls: try TLSContext.server(
        tls, protocols: [.http2], minimumVersion: configuration.answers.minimumTLS == .tls13 ? .tls13 : .tls12,
        clients: .optional(authorityPEM: configuration.clientAuthorityPEM, chainBytesMax: Limits.clientChainBytes),
        identityForName: identityForName),
      upstreamTLS: try configuration.upstreams.map { settings in
        try ConfigurationError.naming("upstreams.\(settings.name).ca") { try Upstream(settings) }.tls
      })
    return Parts(
      apps: apps, signing: SigningTable(configuration.signingKeys, numbers), contentStates: book.contentStates, provider: provider,
      controlTLS: try TLSContext.server(tls, protocols: [.http2, .http1], identityForName: identityForName),
      accessTokens: AccessTokens(configuration.accessTokens.map { AccessToken($0) }),
      lanePushes: configuration.answers.tooManyRequestsAfter,
      triesPastExpirations: configuration.answers.pastExpiration == .attempt)
  }

  /// Looks at every certificate and key of a configuration as a start would; a part that is missing may come from elsewhere.
  static func check(_ configuration: GatewayConfiguration) throws(ConfigurationError) {
    if let identity = configuration.identity { _ = try tlsIdentity(identity) }
    try checkClientAuthorities(configuration)
    for settings in configuration.upstreams {
      _ = try ConfigurationError.naming("upstreams.\(settings.name).ca") { try Upstream(settings) }
    }
    _ = try publicKeys(configuration.providers)
    for key in configuration.signingKeys { _ = try signer(key) }
  }

  private static func checkClientAuthorities(_ configuration: GatewayConfiguration) throws(ConfigurationError) {
    guard let pem = configuration.clientAuthorityPEM else { return }
    try ConfigurationError.naming("provider.clientCertificates.ca") { try TLSContext.checkAuthorities(pem) }
  }

  private static func tlsIdentity(_ identity: ServerIdentity) throws(ConfigurationError) -> TLSIdentity {
    try ConfigurationError.naming("tls.certificateFile and tls.keyFile") {
      try TLSIdentity(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
    }
  }

  private static func publicKeys(_ providers: [ProviderKey]) throws(ConfigurationError) -> [P256PublicKey] {
    var keys: [P256PublicKey] = []
    for provider in providers {
      keys.append(try ConfigurationError.naming("providers, key \(provider.keyID)") { try P256PublicKey(pem: provider.keyPEM) })
    }
    return keys
  }
}
