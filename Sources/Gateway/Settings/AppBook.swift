import Configuration
import JSON
import Primitives
import Push

/// The apps as configured, and what has been set for some of them at run time, which wins.
struct AppBook: Sendable {
  /// The apps that the configuration lists.
  var configured: [AppDirectory.App]
  /// What the configuration has for every other app.
  var anyApp: AppDirectory.App?
  /// The fields that the configuration gives each app, by bundle id.
  var configuredFields: [String: Set<String>]
  /// The schemas that the configuration has, by bundle id; "" has those of `anyApp`.
  let configuredSchemas: [String: [ActivitySchemas]]
  /// What was set at run time, by bundle id.
  var set: [String: AppSettings] = [:]
  /// The schemas that apps have brought along, as they are on devices, by bundle id. What is configured or set comes before them.
  var taught: [String: [ActivitySchemas]] = [:]
  /// The upstreams that are Apple's.
  private let appleUpstreams: Set<String>
  /// The upstream of apps that name none, where there is one only.
  private let onlyUpstream: String?

  /// The apps of `configuration`, with what was set before.
  init(_ configuration: GatewayConfiguration, _ saved: SavedApps) {
    configured = configuration.apps
    anyApp = configuration.anyApp
    configuredFields = configuration.appFields
    configuredSchemas = configuration.contentStates
    (set, taught) = (saved.settings, saved.taught)
    onlyUpstream = configuration.upstreams.count == 1 ? configuration.upstreams[0].name : nil
    appleUpstreams = Set(configuration.upstreams.filter(\.isApple).map(\.name))
  }

  /// How many apps are known, by either side or by what they have brought along.
  var count: Int {
    let known = Swift.Set(configured.map(\.bundleID))
    return known.union(set.keys).union(taught.keys).count
  }

  func isConfigured(_ bundleID: String) -> Bool { configured.contains { $0.bundleID == bundleID } }

  /// Whether anybody has said anything of the app itself: the configuration, somebody at run time, or a device on which it is.
  func knows(_ bundleID: String) -> Bool { isConfigured(bundleID) || set[bundleID] != nil || taught[bundleID] != nil }

  /// What holds for an app; nil when there is no such app. Throws when what is set does not go with what is configured.
  func app(_ bundleID: String) throws(FieldError) -> AppDirectory.App? {
    guard let settings = set[bundleID] else {
      if let app = configured.first(where: { $0.bundleID == bundleID }) { return app }
      return anyApp
    }
    return try app(bundleID, with: settings)
  }

  /// What would hold for an app with these settings.
  func app(_ bundleID: String, with settings: AppSettings) throws(FieldError) -> AppDirectory.App {
    var base = configured.first { $0.bundleID == bundleID } ?? anyApp ?? AppDirectory.App(bundleID: bundleID)
    base.bundleID = bundleID
    if base.developmentUpstream == nil && base.productionUpstream == nil {
      if settings.developmentUpstream == nil && settings.productionUpstream == nil {
        (base.developmentUpstream, base.productionUpstream) = (onlyUpstream, onlyUpstream)
      }
      let targets = [settings.developmentUpstream, settings.productionUpstream, base.productionUpstream].compactMap(\.self)
      if targets.contains(where: appleUpstreams.contains) { base.policy = .apple }
    }
    return try settings.applied(to: base)
  }

  /// The directory of all. What was set and does not go with the configuration any more is left out.
  var directory: AppDirectory {
    let apps = configured.map { app in
      set[app.bundleID].flatMap { try? self.app(app.bundleID, with: $0) } ?? app
    }
    let known = Swift.Set(configured.map(\.bundleID))
    let added = set.keys.sorted().filter { !known.contains($0) }.compactMap { bundleID -> AppDirectory.App? in
      guard let settings = set[bundleID] else { return nil }
      return try? self.app(bundleID, with: settings)
    }
    return AppDirectory(apps + added, anyApp: anyApp)
  }

  /// The app as `GET /v1/apps/{bundleID}` shows it: what holds, and where each value came from.
  func view(_ bundleID: String) throws(FieldError) -> JSONValue? {
    guard let app = try app(bundleID) else { return nil }
    let own = set[bundleID]?.fields ?? []
    let given = configuredFields[bundleID] ?? (isConfigured(bundleID) ? [] : configuredFields["*"] ?? [])
    var origins: JSONObject = [:]
    let types = schemas(of: bundleID).map(\.schemas)
    for field in Self.fields {
      origins[field] = own.contains(field) ? "api" : given.contains(field) ? "configuration" : "default"
    }
    for known in schemas(of: bundleID) { origins["contentStates.\(known.schemas.attributesType)"] = .string(known.origin.rawValue) }
    var object: JSONObject = ["bundleID": .string(bundleID)]
    object["team"] = app.teamID.map(JSONValue.string)
    var upstream: JSONObject = [:]
    upstream["development"] = app.developmentUpstream.map(JSONValue.string)
    upstream["production"] = app.productionUpstream.map(JSONValue.string)
    object["upstream"] = .object(upstream)
    object["validation"] = .string(app.policy.validation.rawValue)
    object["budgetMode"] = .string(app.policy.budgetMode.rawValue)
    object["unknownTokens"] = .string(app.policy.unknownTokens.rawValue)
    object["expirationZero"] = .string(app.policy.expirationZero.rawValue)
    object["coalesceSeconds"] = .number(app.policy.coalesce.seconds)
    object["batchSeconds"] = .number(app.policy.batch.seconds)
    object["answer"] = .string(app.policy.answer.rawValue)
    object["answerTimeoutMilliseconds"] = .integer(app.policy.answerTimeout.milliseconds)
    object["broadcast"] = .bool(app.policy.broadcast)
    var budgets: JSONObject = [:]
    for kind in BudgetKind.allCases { budgets[kind.rawValue] = app.policy[kind].json }
    object["budgets"] = .object(budgets)
    var contentStates: JSONObject = [:]
    for type in types { contentStates[type.attributesType] = type.source["contentState"] }
    object["contentStates"] = .object(contentStates)
    object["schemas"] = types.json
    object["origins"] = .object(origins)
    return .object(object)
  }

  /// Every field that has an origin.
  private static let fields: [String] =
    [
      "team", "upstream.development", "upstream.production", "validation", "budgetMode", "unknownTokens", "expirationZero",
      "coalesceSeconds", "batchSeconds", "answer", "answerTimeoutMilliseconds", "broadcast",
    ]
    + BudgetKind.allCases.flatMap { kind in
      ["allowance", "burst", "windowSeconds", "minimumIntervalSeconds"].map { "budgets.\(kind.rawValue).\($0)" }
    }
}

extension BudgetParameters {
  fileprivate var json: JSONValue {
    [
      "allowance": .integer(allowance), "burst": .integer(burst), "windowSeconds": .number(window.seconds),
      "minimumIntervalSeconds": .number(minimumInterval.seconds),
    ]
  }
}
