import JSON
import Primitives
public import Push
import YAML

extension ConfigurationReader {
  /// The entry that stands for every app that is not listed.
  static let anyAppID = "*"

  /// The list of apps; an entry for `*` holds for every other app.
  mutating func apps(
    _ key: String, upstreams: [UpstreamSettings], keys: [SigningKey]
  ) throws(ConfigurationError) -> (
    apps: [AppDirectory.App], anyApp: AppDirectory.App?, fields: [String: Set<String>], contentStates: [String: [ActivitySchemas]]
  ) {
    var contentStates: [String: [ActivitySchemas]] = [:]
    var apps: [AppDirectory.App] = []
    var fields: [String: Set<String>] = [:]
    var anyApp: AppDirectory.App?
    var places: [String: String] = [:]
    for var entry in try list(key, max: Limits.apps) ?? [] {
      let bundleID = try entry.bundleID("bundleID")
      try entry.requireNew(bundleID, "bundleID", &places)
      var app = AppDirectory.App(bundleID: bundleID == Self.anyAppID ? "" : bundleID)
      app.teamID = try entry.string("team")
      try entry.setUpstreams(of: &app, upstreams)
      for environment in PushEnvironment.allCases where upstreams.contains(where: { $0.isApple && $0.name == app.upstream(environment) }) {
        guard let team = app.teamID, keys.contains(where: { $0.teamID == team }) else {
          let teams = keys.map(\.teamID)
          throw entry.error(
            "team", "must be one of teams, whose key signs for Apple; \(teams.isEmpty ? "there are none" : "known are \(listed(teams))")")
        }
        guard keys.contains(where: { $0.signs(for: team, environment) }) else {
          throw entry.error(
            "team", "has no key for \(environment.name), where the app's upstream is Apple's: no key of \(team) signs there")
        }
        guard app.bundleID.isEmpty || keys.contains(where: { $0.signs(for: team, environment) && $0.signs(forApp: bundleID) }) else {
          throw entry.error(
            "team",
            "has no key for \(bundleID) in \(environment.name), where its upstream is Apple's: topics of the keys of \(team) are others")
        }
        app.policy = .apple
      }
      try entry.setPolicy(&app.policy)
      let types = try entry.schemas()
      if !types.isEmpty { contentStates[app.bundleID] = types }
      try entry.finish()
      fields[bundleID] = entry.appFields
      if bundleID == Self.anyAppID { anyApp = app } else { apps.append(app) }
    }
    return (apps, anyApp, fields, contentStates)
  }

  /// The schemas of each attributes type: those under `schemas`, and content-states alone, which may stand under `contentStates`.
  private mutating func schemas() throws(ConfigurationError) -> [ActivitySchemas] {
    let states = try schemas("contentStates", contentStatesOnly: true)
    let both = try schemas("schemas", contentStatesOnly: false)
    if let twice = both.first(where: { states.schemas(of: $0.attributesType) != nil }) {
      throw error("schemas", "has \(twice.attributesType), which stands under contentStates, too; keep one of them")
    }
    let count = states.count + both.count
    guard count <= Limits.contentStatesPerApp else {
      throw error("schemas", "and contentStates together must have at most \(Limits.contentStatesPerApp) attributes types, not \(count)")
    }
    return states + both
  }

  private mutating func schemas(_ key: String, contentStatesOnly: Bool) throws(ConfigurationError) -> [ActivitySchemas] {
    guard let node = node(key) else { return [] }
    do throws(FieldError) {
      return try ActivitySchemas.list(
        JSONValue(node), at: key, max: Limits.contentStatesPerApp, contentStatesOnly: contentStatesOnly)
    } catch {
      let file = sources.file?.name ?? "configuration"
      throw ConfigurationError(error.message, in: file, JSONPlaces(file: file, name: key, root: node).mark(of: error.field))
    }
  }

  /// The fields that an app's entry gives, such as `validation` and `budgets.widgets.allowance`.
  private var appFields: Set<String> {
    var fields: Set<String> = []
    for (key, node) in keys {
      switch (key, node.content) {
      case ("bundleID", _): continue
      case ("contentStates", .mapping(let entries)), ("schemas", .mapping(let entries)):
        fields.formUnion(entries.map { "contentStates.\($0.key)" })
      case ("upstream", .scalar): fields.formUnion(["upstream.development", "upstream.production"])
      case (_, .mapping(let entries)):
        for entry in entries where !entry.value.isNull {
          guard case .mapping(let inner) = entry.value.content else {
            fields.insert("\(key).\(entry.key)")
            continue
          }
          for inner in inner where !inner.value.isNull { fields.insert("\(key).\(entry.key).\(inner.key)") }
        }
      default: fields.insert(key)
      }
    }
    return fields
  }

  /// Reads `upstream`: a name for both environments, or a name for each; the only upstream serves where none is named.
  private mutating func setUpstreams(of app: inout AppDirectory.App, _ upstreams: [UpstreamSettings]) throws(ConfigurationError) {
    let names = upstreams.map(\.name)
    guard let node = node("upstream") else {
      guard upstreams.count <= 1 else { throw error("upstream", "is missing; it must be \(listed(names))") }
      (app.developmentUpstream, app.productionUpstream) = (names.first, names.first)
      return
    }
    guard !names.isEmpty else { throw error("upstream", "names an upstream, but the configuration has no upstreams") }
    guard case .mapping = node.content else {
      let name = try choice("upstream", of: names)
      (app.developmentUpstream, app.productionUpstream) = (name, name)
      return
    }
    var both = try section("upstream")
    app.developmentUpstream = try both.choice("development", of: names)
    app.productionUpstream = try both.choice("production", of: names)
    try both.finish()
  }

  private mutating func setPolicy(_ policy: inout AppPolicy) throws(ConfigurationError) {
    policy.validation = try choice("validation", AppPolicy.Validation.self) ?? policy.validation
    policy.budgetMode = try choice("budgetMode", AppPolicy.BudgetMode.self) ?? policy.budgetMode
    policy.unknownTokens = try choice("unknownTokens", AppPolicy.UnknownTokens.self) ?? policy.unknownTokens
    policy.expirationZero = try choice("expirationZero", AppPolicy.ExpirationZero.self) ?? policy.expirationZero
    policy.coalesce = try seconds("coalesceSeconds", in: 0...Double(Limits.coalesceSeconds)) ?? policy.coalesce
    policy.batch = try seconds("batchSeconds", in: 0...Double(Limits.batchSeconds)) ?? policy.batch
    policy.answer = try choice("answer", AppPolicy.Answer.self) ?? policy.answer
    let timeout = try integer("answerTimeoutMilliseconds", in: 1...Limits.upstreamAnswerMilliseconds)
    policy.answerTimeout = timeout.map { .milliseconds($0) } ?? policy.answerTimeout
    policy.broadcast = try bool("broadcast") ?? policy.broadcast
    note("validation", policy.validation.rawValue, nil)
    note("budgetMode", policy.budgetMode.rawValue, nil)
    note("unknownTokens", policy.unknownTokens.rawValue, nil)
    note("expirationZero", policy.expirationZero.rawValue, nil)
    note("coalesceSeconds", "\(policy.coalesce.seconds)", nil)
    note("batchSeconds", "\(policy.batch.seconds)", nil)
    note("answer", policy.answer.rawValue, nil)
    note("answerTimeoutMilliseconds", "\(policy.answerTimeout.milliseconds)", nil)
    note("broadcast", "\(policy.broadcast)", nil)
    var budgets = try section("budgets")
    for budget in BudgetKind.allCases { try budgets.setBudget(budget.rawValue, &policy[budget]) }
    try budgets.finish()
  }

  private mutating func setBudget(_ key: String, _ budget: inout BudgetParameters) throws(ConfigurationError) {
    var reader = try section(key)
    budget.allowance = try reader.integer("allowance", in: 1...Limits.budgetAllowance) ?? budget.allowance
    budget.burst = try reader.integer("burst", in: 1...Limits.budgetAllowance) ?? min(budget.burst, budget.allowance)
    guard budget.burst <= budget.allowance else {
      throw reader.error("burst", "must not be more than the allowance, \(budget.allowance), but is \(budget.burst)")
    }
    let week = 7 * 86_400.0
    budget.window = try reader.seconds("windowSeconds", in: 1...week) ?? budget.window
    budget.minimumInterval = try reader.seconds("minimumIntervalSeconds", in: 0...week) ?? budget.minimumInterval
    reader.note("allowance", "\(budget.allowance)", nil)
    reader.note("burst", "\(budget.burst)", nil)
    reader.note("windowSeconds", "\(budget.window.seconds)", nil)
    reader.note("minimumIntervalSeconds", "\(budget.minimumInterval.seconds)", nil)
    try reader.finish()
  }

  private mutating func bundleID(_ key: String) throws(ConfigurationError) -> String {
    let form = "an app's bundle id such as com.example.app, or \"\(Self.anyAppID)\" for every other app"
    let text = try requiredString(key, form)
    if text == Self.anyAppID { return text }
    guard AppDirectory.isBundleID(text) else { throw error(key, "must be \(form), not \"\(text)\"") }
    return text
  }
}

extension AppPolicy {
  /// The defaults for an app whose pushes go to Apple: what Apple accepts passes, budgets are only counted, and what it
  /// answers is passed on.
  public static let apple: AppPolicy = {
    var policy = AppPolicy()
    policy.validation = .apple
    policy.budgetMode = .observe
    policy.unknownTokens = .adopt
    policy.answer = .upstream
    return policy
  }()
}
