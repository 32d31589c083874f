import Control
import JSON
import Primitives
import Push
import Rules
import Storage

extension ControlAPI {
  /// `/v1/what-if`.
  var whatIfRoutes: [Route] { [Route(.post, "/v1/what-if", .scope(.read), whatIf)] }

  /// What would become of a push that is not sent.
  @Sendable private func whatIf(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let push = try routed.request.readJSON { reader throws(FieldError) in try WhatIfPush(&reader) }
    // Another app's name is no business of the caller's: it is as unknown as one that nobody has.
    let apps = parts.apps.limited(to: { routed.grant.sees($0) })
    let answers = parts.settings?.parts.provider.rules.answers ?? ProviderAnswers()
    let contentStates = (parts.settings?.parts.contentStates ?? [:]).filter { $0.key.isEmpty || routed.grant.sees($0.key) }
    let rules = RequestRules(apps: apps, providers: ProviderDirectory([]), answers: answers, contentStates: contentStates)
    let time = RequestTime(parts.clock.clock.moment, parts.clock.settings)
    switch push.verdict(rules, time) {
    case .refused(let refusal):
      var object = Self.refused(refusal.reason, refusal.cause, detail: refusal.detail)
      object["field"] = .string(refusal.field)
      return .json(.object(object))
    case .push(let parsed):
      let bundleID = push.text(parsed.bundle)
      guard routed.grant.sees(bundleID) else {
        throw .forbidden("the access token \"\(routed.grant.name)\" is not one of the app \"\(bundleID)\"", field: "topic")
      }
      let present = try await asking { () async throws(StoreError) in try await parts.store.registration(parsed.token) }
      if let present, !routed.grant.sees(present.registration.bundleID) {
        return .json(.object(Self.refused(.badDeviceToken, .tokenUnknown, detail: "")))
      }
      let preview = try await asking { () async throws(StoreError) in
        try await parts.store.preview { push.operation(parsed, in: $0, rules, now: time.sender) }
      }
      return .json(preview.json)
    }
  }

  fileprivate static func refused(_ reason: Reason, _ cause: Cause, detail: String) -> JSONObject {
    let remedy = Remedy(.refused, cause: cause, reason: reason)
    var object: JSONObject = [
      "status": .integer(Int64(reason.status)), "reason": .string(reason.description), "disposition": .string(Disposition.refused.name),
    ]
    if cause != .none { object["cause"] = .string(cause.name) }
    object["certainty"] = .string(remedy.certainty.name)
    object["happened"] = .string(remedy.happened)
    object["remedy"] = .string(cause.advice(detail: detail) ?? remedy.advice)
    if !detail.isEmpty { object["detail"] = .string(detail) }
    return object
  }
}

extension AdmissionPreview {
  /// The preview as the control side shows it: the answer, what follows, and what it would cost.
  fileprivate var json: JSONValue {
    var object: JSONObject
    switch result {
    case .refused(let reason, let cause, _, let retryAt):
      object = ControlAPI.refused(reason, cause, detail: detail)
      object["payableAt"] = retryAt.map(\.dueJSON)
    case .unsettled, .forwarded:
      object = accepted(cause)
      if cause == .none { object["happened"] = "It would go to its upstream at once." }
      object["certainty"] = .string(Certainty.cannotSee.name)
      object["remedy"] = "What the device does with it is not known before it is sent; widgetpush send tells."
      if let warning = warnings.firstIgnored {
        object["happened"] = "It would go to its upstream at once, and the device would drop it without telling anyone."
        object["certainty"] = .string(Certainty.likely.name)
        object["remedy"] = .string(warning.sentence)
        object["detail"] = warningDetails.first { $0.warning == warning }.map { .string($0.detail) }
      }
    case .waiting(let due, let cause):
      object = accepted(cause)
      object["due"] = due.map(\.dueJSON)
    case .merged(let id):
      object = accepted(.mergedIntoWaiting)
      object["mergedInto"] = .string(id.description)
    case .ended(_, let cause): object = accepted(cause)
    }
    // With validation strict it would be refused for that.
    if warnings.firstIgnored != nil, result.disposition != .refused { object["deviceIgnores"] = true }
    object["budget"] = budget.map { .string($0.rawValue) }
    object["budgetBefore"] = budgetBefore.map { .integer(Int64($0)) }
    object["budgetAfter"] = budgetAfter.map { .integer(Int64($0)) }
    if isLowered { object["sentPriority"] = 5 }
    if isAdopted { object["registersToken"] = true }
    object["warnings"] = warnings.json(warningDetails)
    return .object(object)
  }

  private func accepted(_ cause: Cause) -> JSONObject {
    let remedy = Remedy(result.disposition, cause: cause, reason: nil)
    var object: JSONObject = ["status": 200, "disposition": .string(result.disposition.name)]
    if cause != .none { object["cause"] = .string(cause.name) }
    object["certainty"] = .string(remedy.certainty.name)
    object["happened"] = .string(remedy.happened)
    object["remedy"] = .string(remedy.advice)
    if !detail.isEmpty { object["detail"] = .string(detail) }
    return object
  }
}

/// A push as `POST /v1/what-if` describes it: what its request would say.
private struct WhatIfPush: Sendable {
  private var headers: [UInt8] = []
  private var fields = RequestFields()
  private var body: [UInt8] = []

  /// Reads the fields; throws for the first that is of the wrong form or unknown.
  init(_ reader: inout JSONReader) throws(FieldError) {
    fields.method = append("POST")
    fields.path = append("/3/device/" + (try reader.string("token")))
    fields.topic = try reader.optionalString("topic").map { append($0) }
    fields.pushType = try reader.optionalString("type").map { append($0) }
    fields.priority = try Self.header("priority", &reader).map { append($0) }
    fields.expiration = try Self.header("expiration", &reader).map { append($0) }
    fields.collapseID = try reader.optionalString("collapseID").map { append($0) }
    fields.apnsID = try reader.optionalString("id").map { append($0) }
    let payload = reader.optionalValue("payload")
    if let text = try reader.optionalString("body") {
      guard payload == nil else { throw reader.error("body", "is the payload as text, and payload the same as JSON; give one of them") }
      body = Array(text.utf8)
    } else {
      body = payload.map { Array($0.serialized(verbatim: true).utf8) } ?? []
    }
    try reader.finish()
  }

  /// A header's value, which may be given as a number.
  private static func header(_ name: String, _ reader: inout JSONReader) throws(FieldError) -> String? {
    guard let value = reader.optionalValue(name) else { return nil }
    guard let text = value.stringValue ?? value.intValue.map(String.init) else {
      throw reader.error(name, "must be a number such as 5, or the header's value as a string, not \(value.serialized())")
    }
    return text
  }

  private mutating func append(_ text: String) -> ByteRange {
    let range = ByteRange(offset: headers.count, count: text.utf8.count)
    headers += text.utf8
    return range
  }

  /// What stands at `range` of the headers.
  func text(_ range: ByteRange) -> String { unsafe headers.span.bytes[range].string }

  /// What the rules say of it.
  func verdict(_ rules: RequestRules, _ time: RequestTime) -> Verdict {
    unsafe rules.judge(fields, headers: headers.span.bytes, body: body.span.bytes, time: time)
  }

  /// The admission that it would ask for.
  func operation(_ push: ParsedPush, in batch: Batch, _ rules: RequestRules, now: Instant) -> AdmitOperation {
    if push.contentStateMismatches != 0 { unsafe batch.ask(rules, push, body: body.span.bytes, now: now) }
    let topic = batch.append(text(push.topic))
    let details = unsafe rules.details(of: push, fields, headers: headers.span.bytes, body: body.span.bytes, now: now)
    var operation = AdmitOperation(
      reply: 0, id: push.id ?? PushID(high: 0, low: 0), token: push.token, type: push.type, priority: push.priority,
      prioritySent: push.prioritySent, expiration: push.expiration, traits: push.traits, warnings: push.warnings,
      received: .distantPast, topic: topic, bundleID: ByteRange(offset: Int(topic.offset), count: Int(push.bundle.count)),
      collapseID: push.collapseID.isEmpty ? .empty : batch.append(text(push.collapseID)),
      payload: unsafe batch.append(body.span.bytes))
    operation.warningDetails = batch.append(WarningDetail.text(of: details))
    if push.traits.activity == .start { operation.channel = unsafe RequestRules.channel(ofStart: body.span.bytes) }
    return operation
  }
}
