import JSON
import Primitives
import Push

/// What somebody has set for one app while the gateway runs; what is nil stays as it is configured.
struct AppSettings: Hashable, Sendable {
  /// The settings of one budget.
  struct Budget: Hashable, Sendable {
    var allowance: Int64?
    var burst: Int64?
    var window: TimeSpan?
    var minimumInterval: TimeSpan?
  }

  var team: String?
  var developmentUpstream: String?
  var productionUpstream: String?
  var validation: AppPolicy.Validation?
  var budgetMode: AppPolicy.BudgetMode?
  var unknownTokens: AppPolicy.UnknownTokens?
  var expirationZero: AppPolicy.ExpirationZero?
  var coalesce: TimeSpan?
  var batch: TimeSpan?
  var answer: AppPolicy.Answer?
  var answerTimeout: TimeSpan?
  var broadcast: Bool?
  /// The schemas that are set, each in place of the configured ones of its attributes type.
  var schemas: [ActivitySchemas] = []
  /// What is set of the budgets.
  var budgets: [BudgetKind: Budget] = [:]

  /// Settings that leave all as it is configured.
  init() {}

  /// Reads the fields of an object; throws for the first that is of the wrong form or unknown.
  init(_ reader: inout JSONReader) throws(FieldError) {
    team = try reader.optionalString("team")
    if let team, !(1...64).contains(team.utf8.count) || !team.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) {
      throw reader.error("team", "must be a team's id of letters and digits, such as ABCDE12345")
    }
    try readUpstream(&reader)
    validation = try Self.choice("validation", &reader)
    budgetMode = try Self.choice("budgetMode", &reader)
    unknownTokens = try Self.choice("unknownTokens", &reader)
    expirationZero = try Self.choice("expirationZero", &reader)
    coalesce = try Self.span("coalesceSeconds", 0...Double(Limits.coalesceSeconds), &reader)
    batch = try Self.span("batchSeconds", 0...Double(Limits.batchSeconds), &reader)
    answer = try Self.choice("answer", &reader)
    answerTimeout = try reader.optionalInteger("answerTimeoutMilliseconds", in: 1...Limits.upstreamAnswerMilliseconds)
      .map { .milliseconds($0) }
    broadcast = try reader.optionalBool("broadcast")
    if let value = reader.optionalValue("contentStates") {
      schemas = try ActivitySchemas.list(value, at: "contentStates", max: Limits.contentStatesPerApp, contentStatesOnly: true)
    }
    if let value = reader.optionalValue("schemas") {
      schemas = schemas.replaced(by: try ActivitySchemas.list(value, at: "schemas", max: Limits.contentStatesPerApp))
    }
    guard schemas.count <= Limits.contentStatesPerApp else {
      throw reader.error(
        "schemas", "and contentStates together must have at most \(Limits.contentStatesPerApp) attributes types, not \(schemas.count)")
    }
    if var reader = try reader.optionalObject("budgets") {
      for kind in BudgetKind.allCases {
        let budget = try Self.budget(kind.rawValue, &reader)
        if budget != Budget() { budgets[kind] = budget }
      }
      try reader.finish()
    }
    try reader.finish()
  }

  /// A name for both environments, or a name for each.
  private mutating func readUpstream(_ reader: inout JSONReader) throws(FieldError) {
    guard let value = reader.optionalValue("upstream") else { return }
    if let name = value.stringValue {
      (developmentUpstream, productionUpstream) = (name, name)
      return
    }
    guard value.objectValue != nil else {
      throw reader.error("upstream", "must be the name of an upstream, or {\"development\": NAME, \"production\": NAME}")
    }
    var both = try JSONReader(value, at: "upstream")
    developmentUpstream = try both.optionalString("development")
    productionUpstream = try both.optionalString("production")
    try both.finish()
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ reader: inout JSONReader
  ) throws(FieldError) -> Choice? where Choice.RawValue == String {
    try reader.optionalChoice(name, of: Choice.allCases.map(\.rawValue)).flatMap { Choice(rawValue: $0) }
  }

  private static func span(_ name: String, _ range: ClosedRange<Double>, _ reader: inout JSONReader) throws(FieldError) -> TimeSpan? {
    try reader.optionalNumber(name, in: range).map { TimeSpan(nanoseconds: Int64($0 * 1e9)) }
  }

  private static func budget(_ name: String, _ reader: inout JSONReader) throws(FieldError) -> Budget {
    guard var fields = try reader.optionalObject(name) else { return Budget() }
    let week = Double(Limits.intervalSeconds)
    let budget = Budget(
      allowance: try fields.optionalInteger("allowance", in: 1...Limits.budgetAllowance),
      burst: try fields.optionalInteger("burst", in: 1...Limits.budgetAllowance),
      window: try span("windowSeconds", 1...week, &fields), minimumInterval: try span("minimumIntervalSeconds", 0...week, &fields))
    try fields.finish()
    return budget
  }

  /// As `init(_:)` reads it.
  var json: JSONObject {
    var object: JSONObject = [:]
    object["team"] = team.map(JSONValue.string)
    var upstream: JSONObject = [:]
    upstream["development"] = developmentUpstream.map(JSONValue.string)
    upstream["production"] = productionUpstream.map(JSONValue.string)
    if !upstream.keys.isEmpty { object["upstream"] = .object(upstream) }
    object["validation"] = validation.map { .string($0.rawValue) }
    object["budgetMode"] = budgetMode.map { .string($0.rawValue) }
    object["unknownTokens"] = unknownTokens.map { .string($0.rawValue) }
    object["expirationZero"] = expirationZero.map { .string($0.rawValue) }
    object["coalesceSeconds"] = coalesce.map { .number($0.seconds) }
    object["batchSeconds"] = batch.map { .number($0.seconds) }
    object["answer"] = answer.map { .string($0.rawValue) }
    object["answerTimeoutMilliseconds"] = answerTimeout.map { .integer($0.milliseconds) }
    object["broadcast"] = broadcast.map(JSONValue.bool)
    if !schemas.isEmpty { object["schemas"] = schemas.json }
    var set: JSONObject = [:]
    for kind in BudgetKind.allCases { set[kind.rawValue] = budgets[kind].map { .object($0.json) } }
    if !set.keys.isEmpty { object["budgets"] = .object(set) }
    return object
  }

  /// `app` with what is set here; throws when a burst would exceed its allowance.
  func applied(to app: AppDirectory.App) throws(FieldError) -> AppDirectory.App {
    var app = app
    app.teamID = team ?? app.teamID
    app.developmentUpstream = developmentUpstream ?? app.developmentUpstream
    app.productionUpstream = productionUpstream ?? app.productionUpstream
    app.policy.validation = validation ?? app.policy.validation
    app.policy.budgetMode = budgetMode ?? app.policy.budgetMode
    app.policy.unknownTokens = unknownTokens ?? app.policy.unknownTokens
    app.policy.expirationZero = expirationZero ?? app.policy.expirationZero
    app.policy.coalesce = coalesce ?? app.policy.coalesce
    app.policy.batch = batch ?? app.policy.batch
    app.policy.answer = answer ?? app.policy.answer
    app.policy.answerTimeout = answerTimeout ?? app.policy.answerTimeout
    app.policy.broadcast = broadcast ?? app.policy.broadcast
    for kind in BudgetKind.allCases { try budgets[kind]?.apply(to: &app.policy[kind], kind.rawValue) }
    return app
  }

  /// The fields that are set, by their places in the view.
  var fields: Set<String> {
    var fields: Set<String> = []
    func note(_ name: String, _ isSet: Bool) { if isSet { fields.insert(name) } }
    note("team", team != nil)
    note("upstream.development", developmentUpstream != nil)
    note("upstream.production", productionUpstream != nil)
    note("validation", validation != nil)
    note("budgetMode", budgetMode != nil)
    note("unknownTokens", unknownTokens != nil)
    note("expirationZero", expirationZero != nil)
    note("coalesceSeconds", coalesce != nil)
    note("batchSeconds", batch != nil)
    note("answer", answer != nil)
    note("answerTimeoutMilliseconds", answerTimeout != nil)
    note("broadcast", broadcast != nil)
    for type in schemas {
      note("contentStates.\(type.attributesType)", type.contentState != nil)
      note("schemas.\(type.attributesType).attributes", type.attributes != nil)
    }
    for (kind, budget) in budgets {
      let name = kind.rawValue
      note("budgets.\(name).allowance", budget.allowance != nil)
      note("budgets.\(name).burst", budget.burst != nil)
      note("budgets.\(name).windowSeconds", budget.window != nil)
      note("budgets.\(name).minimumIntervalSeconds", budget.minimumInterval != nil)
    }
    return fields
  }
}

extension AppSettings.Budget {
  fileprivate var json: JSONObject {
    var object: JSONObject = [:]
    object["allowance"] = allowance.map(JSONValue.integer)
    object["burst"] = burst.map(JSONValue.integer)
    object["windowSeconds"] = window.map { .number($0.seconds) }
    object["minimumIntervalSeconds"] = minimumInterval.map { .number($0.seconds) }
    return object
  }

  fileprivate func apply(to budget: inout BudgetParameters, _ name: String) throws(FieldError) {
    budget.allowance = allowance ?? budget.allowance
    budget.burst = burst ?? min(budget.burst, budget.allowance)
    budget.window = window ?? budget.window
    budget.minimumInterval = minimumInterval ?? budget.minimumInterval
    guard budget.burst <= budget.allowance else {
      let field = "budgets.\(name).burst"
      throw FieldError(field: field, message: "\(field) must not be more than the allowance, \(budget.allowance), but is \(budget.burst)")
    }
  }
}

/// The names of what can be set for an app at run time; all else that the view of an app has is only to be read.
package enum AppSettingNames {
  /// Those that `PUT /v1/apps/{bundleID}` takes.
  package static let all: [String] = {
    guard var reader = try? JSONReader([:]), (try? AppSettings(&reader)) != nil else {
      preconditionFailure("nothing is missing in settings")
    }
    return reader.names
  }()
}
