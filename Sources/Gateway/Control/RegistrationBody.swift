import Control
package import JSON
import Primitives
package import Push

/// The body of `PUT /v1/registrations/{token}` as a registration.
package enum RegistrationBody {
  /// Reads every field; throws at the first one that is missing, of the wrong form, or of no use to the token's type.
  package static func read(_ reader: inout JSONReader, token: DeviceToken) throws(FieldError) -> Registration {
    let kind = TokenKind(name: try reader.choice("type", of: TokenKind.allCases.map(\.name)))!
    let bundleID = try reader.string("bundleID")
    guard AppDirectory.isBundleID(bundleID) else {
      throw reader.error("bundleID", "must be a bundle id such as com.example.app, not \"\(bundleID.prefix(64))\"")
    }
    let environment = PushEnvironment(name: try reader.choice("environment", of: PushEnvironment.allCases.map(\.name)))!
    var registration = Registration(token: token, kind: kind, bundleID: bundleID, environment: environment)
    registration.upstream = try optionalText("upstream", &reader)
    registration.device = try optionalText("device", &reader)
    registration.user = try optionalText("user", &reader)
    registration.platform = try reader.optionalChoice("platform", of: Platform.allCases.map(\.rawValue))
    registration.widgets = try widgets(&reader, kind)
    registration.controlKind = try control(&reader, kind)
    registration.activity = try activity(&reader, kind)
    registration.frequentUpdates = try reader.optionalBool("frequentUpdates") ?? false
    registration.developerMode = try reader.optionalBool("developerMode") ?? false
    registration.minimumInterval = try seconds("minimumIntervalSeconds", max: Limits.intervalSeconds, &reader)
    registration.coalesce = try seconds("coalesceSeconds", max: Limits.coalesceSeconds, &reader)
    registration.budget = try budget(&reader, kind)
    registration.quietHours = try quietHours(&reader)
    return registration
  }

  /// The token that this one has taken the place of.
  package static func replaced(_ reader: inout JSONReader) throws(FieldError) -> DeviceToken? {
    guard let text = try reader.optionalString("replaces") else { return nil }
    guard let token = DeviceToken(hex: text) else {
      let hint = DeviceToken.complaint(aboutPrinted: text).map { "; \($0)" } ?? ""
      throw reader.error("replaces", "must be the push token that this one replaces, in hexadecimal digits, not \"\(text)\"\(hint)")
    }
    return token
  }

  private static func budget(_ reader: inout JSONReader, _ kind: TokenKind) throws(FieldError) -> Registration.Budget? {
    guard var fields = try reader.optionalObject("budget") else { return nil }
    guard BudgetKind(of: kind, frequentUpdates: false) != nil else {
      throw reader.error("budget", "is of no use to a token of type \"\(kind.name)\", which has no budget; leave it out")
    }
    let budget = Registration.Budget(
      allowance: try fields.optionalInteger("allowance", in: 1...Limits.budgetAllowance),
      burst: try fields.optionalInteger("burst", in: 1...Limits.budgetAllowance),
      window: try fields.optionalNumber("windowSeconds", in: 1...Double(Limits.intervalSeconds)).map { .milliseconds(Int64($0 * 1000)) })
    if let allowance = budget.allowance, let burst = budget.burst, burst > allowance {
      throw fields.error("burst", "must not be more than the allowance, \(allowance), but is \(burst)")
    }
    try fields.finish()
    return budget == Registration.Budget() ? nil : budget
  }

  private static func quietHours(_ reader: inout JSONReader) throws(FieldError) -> QuietHours? {
    guard var fields = try reader.optionalObject("quietHours") else { return nil }
    let from = try minute("from", &fields)
    let to = try minute("to", &fields)
    let offset = try fields.optionalInteger("utcOffsetMinutes", in: -14 * 60...14 * 60) ?? 0
    guard let hours = QuietHours(localFrom: from, to: to, utcOffset: Int(offset)) else {
      throw fields.error("to", "must be another time than from")
    }
    try fields.finish()
    return hours
  }

  /// A time of the day such as 22:30, in minutes.
  private static func minute(_ name: String, _ reader: inout JSONReader) throws(FieldError) -> Int {
    let text = try reader.string(name)
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { ("0"..."9").contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { throw reader.error(name, "must be a time of the day such as \"22:30\", not \"\(text)\"") }
    return hour * 60 + minute
  }

  private static func widgets(_ reader: inout JSONReader, _ kind: TokenKind) throws(FieldError) -> [Registration.Widget] {
    guard let entries = try reader.optionalObjects("widgets", max: Limits.widgetsPerRegistration) else { return [] }
    try require(kind == .widgets || entries.isEmpty, "widgets", belongsTo: .widgets, reader)
    var widgets: [Registration.Widget] = []
    for var entry in entries {
      let id = try optionalText("id", &entry)
      let name = try text("kind", try entry.string("kind"), entry)
      let family = try text("family", try entry.string("family"), entry)
      try entry.finish()
      if let id, widgets.contains(where: { $0.id == id }) {
        throw entry.error("id", "must differ from every other widget's, but \"\(id)\" stands twice")
      }
      widgets.append(Registration.Widget(id: id, kind: name, family: family))
    }
    return widgets
  }

  private static func control(_ reader: inout JSONReader, _ kind: TokenKind) throws(FieldError) -> String? {
    guard var control = try reader.optionalObject("control") else { return nil }
    try require(kind == .controls, "control", belongsTo: .controls, reader)
    let name = try text("kind", try control.string("kind"), control)
    try control.finish()
    return name
  }

  private static func activity(_ reader: inout JSONReader, _ kind: TokenKind) throws(FieldError) -> Registration.Activity? {
    guard var activity = try reader.optionalObject("activity") else { return nil }
    try require(kind == .liveactivity, "activity", belongsTo: .liveactivity, reader)
    let id = try text("id", try activity.string("id"), activity)
    let attributesType = try text("attributesType", try activity.string("attributesType"), activity)
    try activity.finish()
    return Registration.Activity(id: id, attributesType: attributesType)
  }

  private static func require(_ holds: Bool, _ field: String, belongsTo kind: TokenKind, _ reader: JSONReader) throws(FieldError) {
    guard !holds else { return }
    throw reader.error(field, "belongs to the type \"\(kind.name)\"; leave it out, or change type")
  }

  private static func seconds(_ name: String, max: Int64, _ reader: inout JSONReader) throws(FieldError) -> TimeSpan? {
    guard let seconds = try reader.optionalNumber(name, in: 0...Double(max)) else { return nil }
    return .milliseconds(Int64(seconds * 1000))
  }

  private static func optionalText(_ name: String, _ reader: inout JSONReader) throws(FieldError) -> String? {
    guard let value = try reader.optionalString(name) else { return nil }
    return try text(name, value, reader)
  }

  private static func text(_ name: String, _ value: String, _ reader: JSONReader) throws(FieldError) -> String {
    guard !value.isEmpty, value.utf8.count <= Limits.nameBytes else {
      throw reader.error(name, "must have 1 to \(Limits.nameBytes) bytes, not \(value.utf8.count)")
    }
    guard !value.hasSteering else { throw reader.error(name, NameRule.steering(value)) }
    return value
  }
}
