import Control
import JSON
import Primitives
import Push
import Rules
import Storage

/// The bodies of `PUT` and `DELETE /v1/activities/{bundleID}/{name}`.
enum ActivityBody {
  /// Reads what an activity is to show, and what it is where that is told.
  static func read(_ reader: inout JSONReader, bundleID: String, name: String) throws(FieldError) -> ActivityRequest {
    let user = try text("user", &reader)
    let device = try text("device", &reader)
    guard user == nil || device == nil else { throw reader.error("device", "and user exclude each other: give one of them") }
    let attributesType = try text("attributesType", &reader)
    let attributes = try object("attributes", &reader)
    guard let state = try object("contentState", &reader) else {
      throw reader.error("contentState", "is missing; it must be an object that decodes into the app's ContentState")
    }
    let alert = try object("alert", &reader)
    if alert == "{}" { throw reader.error("alert", "must have a title and a body; leave it out for none") }
    let content = NamedActivity.Content(state: state, alert: alert, staleDate: try date("staleDate", &reader))
    return ActivityRequest(
      bundleID: bundleID, name: name, target: user.map(NamedActivity.Target.user) ?? device.map(NamedActivity.Target.device),
      attributesType: attributesType, attributes: attributes, content: content)
  }

  /// Reads with what an activity is to be ended.
  static func readEnd(_ reader: inout JSONReader) throws(FieldError) -> (state: String?, dismissalDate: String?) {
    (try object("contentState", &reader), try date("dismissalDate", &reader))
  }

  /// The error for what a new activity must have.
  static func missing(_ field: String, _ name: String) -> ControlError {
    let what =
      switch field {
      case "alert": "an object with title and body: devices start no activity without"
      case "user": "given, or device: whose push-to-start tokens start it"
      default: "the Swift type of the attributes"
      }
    return ControlError(
      status: 400, code: "invalidField",
      message: "\(field) is missing; the activity \"\(name)\" does not run, and to begin one it must be \(what)", field: field)
  }

  private static func text(_ field: String, _ reader: inout JSONReader) throws(FieldError) -> String? {
    guard let text = try reader.optionalString(field) else { return nil }
    guard !text.isEmpty, text.utf8.count <= Limits.nameBytes else {
      throw reader.error(field, "must have 1 to \(Limits.nameBytes) bytes, not \(text.utf8.count)")
    }
    guard !text.hasSteering else { throw reader.error(field, NameRule.steering(text)) }
    return text
  }

  private static func object(_ field: String, _ reader: inout JSONReader) throws(FieldError) -> String? {
    guard let value = reader.optionalValue(field) else { return nil }
    guard value.objectValue != nil else { throw reader.error(field, "must be an object, not \(value.kindName)") }
    return value.serialized(verbatim: true)
  }

  private static func date(_ field: String, _ reader: inout JSONReader) throws(FieldError) -> String? {
    guard let value = reader.optionalValue(field) else { return nil }
    guard let seconds = value.doubleValue else { throw reader.error(field, "must be a number of Unix seconds, not \(value.kindName)") }
    // An activity that has ended has its body read, too, although nothing is sent.
    guard seconds >= 0, seconds < 1e11 else {
      throw reader.error(field, "must be Unix seconds, not \(value.serialized())\(seconds < 0 ? "" : ", which are milliseconds")")
    }
    return value.serialized(verbatim: true)
  }
}

extension ControlAPI {
  /// Whether the rules let a payload pass that the gateway would send, and devices would not ignore it.
  func check(_ payload: ActivityPayload, bundleID: String) throws(ControlError) {
    var headers: [UInt8] = []
    func append(_ text: String) -> ByteRange {
      let range = ByteRange(offset: headers.count, count: text.utf8.count)
      headers += text.utf8
      return range
    }
    var fields = RequestFields()
    fields.method = append("POST")
    fields.path = append("/3/device/00")
    fields.topic = append("\(bundleID)\(PushType.liveactivity.topicSuffix)")
    fields.pushType = append("liveactivity")
    fields.priority = append("10")
    let rules = RequestRules(
      apps: parts.apps, providers: ProviderDirectory([]), answers: parts.settings?.parts.provider.rules.answers ?? ProviderAnswers())
    let body = Array(payload.text.utf8)
    let time = RequestTime(parts.clock.clock.moment, parts.clock.settings)
    switch unsafe rules.judge(fields, headers: headers.span.bytes, body: body.span.bytes, time: time) {
    case .refused(let refusal):
      let detail = refusal.detail.isEmpty ? refusal.reason.remedy.happened : refusal.detail
      throw ControlError(
        status: 400, code: "invalidPayload", message: "the push that this makes would be refused (\(refusal.reason)): \(detail)",
        field: refusal.field)
    case .push(let push):
      guard let warning = push.warnings.all.first(where: \.isRefusedInStrict) else { return }
      let told = unsafe rules.details(of: push, fields, headers: headers.span.bytes, body: body.span.bytes, now: time.sender)
        .first { $0.warning == warning }
      throw ControlError(
        status: 400, code: "invalidPayload",
        message: "devices would ignore the push that this makes, or a field of it: \(told?.detail ?? warning.sentence)", field: "body")
    }
  }

  /// Whether attributes and content-state decode into their type, as far as schemas of it are known.
  func check(_ contentState: String?, attributes: String?, of attributesType: String?, bundleID: String) throws(ControlError) {
    guard let all = parts.settings?.parts.contentStates, !all.isEmpty, let app = parts.apps.index(of: bundleID), let attributesType,
      let schemas = (all[bundleID] ?? all[parts.apps[app].bundleID])?.schemas(of: attributesType)
    else { return }
    let now = RequestTime(parts.clock.clock.moment, parts.clock.settings).sender
    func parsed(_ text: String?) -> JSONValue? { text.flatMap { try? JSONValue.parse($0) } }
    let mismatches = schemas.mismatches(attributes: parsed(attributes), contentState: parsed(contentState), at: .activity, now: now)
    guard let first = mismatches.first else { return }
    throw .badRequest(SchemaProblem.sentence(mismatches), field: first.path)
  }
}
