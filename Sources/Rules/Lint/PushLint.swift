import JSON
public import Primitives
public import Push

/// Says everything that is wrong with a request, where the gateway would stop at the first: the same rules, asked one by one, and some
/// that need not hold but mostly do (widgets.md section 9 has what went wrong in the field).
public struct PushLint {
  /// Every rule but those that have the name of a reason.
  public static let ruleNames =
    PushWarning.allCases.map(\.name) + PayloadHabits.ruleNames + WayHabits.ruleNames + ["certificateBesideToken", payloadNotRead]

  /// The rule by which a payload is not judged, since it is not known.
  public static let payloadNotRead = "payloadNotRead"

  let request: LintedRequest
  let payload: PayloadTemplate?
  let now: Instant
  var findings: [LintFinding] = []

  /// Every finding, in the order of the request: path, headers, payload.
  public static func findings(_ request: LintedRequest, now: Instant) -> [LintFinding] {
    var lint = PushLint(request: request, now: now)
    guard request.service == .devices else {
      lint.checkBroadcast()
      return lint.findings
    }
    if request.isWhole { lint.checkRequest() }
    lint.checkPayload()
    return lint.findings
  }

  private init(request: LintedRequest, now: Instant) {
    self.request = request
    payload = request.payload
    self.now = now
  }

  // MARK: The request

  private mutating func checkRequest() {
    findings += WayHabits(request: request).findings
    if let method = request.method {
      checking(":method") { bytes, fields throws(Violation) in
        try PathRule.checkMethod(fields.method, bytes)
      } with: {
        [(":method", method)]
      }
    }
    if let path = request.path {
      checking(":path") { bytes, fields throws(Violation) in
        let path = try PathRule.check(fields.path, bytes)
        if path.token == nil { _ = try PathRule.token(bytes[path.text]) }
      } with: {
        [(":path", path)]
      }
    }
    checkDuplicates()
    checkAuthorization()
    for name in ["apns-id", "apns-expiration", "apns-priority", "apns-collapse-id", "apns-push-type"] {
      guard let value = request.header(name)?.value else { continue }
      checking(name) { bytes, fields throws(Violation) in
        _ = try HeaderRules.check(fields, bytes, ProviderAnswers())
      } with: {
        [(name, value)]
      }
    }
    checkExpiration()
    checkTopic()
    if request.header("apns-push-type") == nil, !request.mayHaveMore {
      findings.append(LintFinding(.warning, PushWarning.pushTypeMissing.name, "apns-push-type", PushWarning.pushTypeMissing.sentence))
    }
  }

  mutating func checkDuplicates() {
    for name in Set(request.headers.map(\.name)).sorted() where request.headers.count(where: { $0.name == name }) > 1 {
      if name.hasPrefix("apns-") || name == "authorization" {
        findings.append(LintFinding(.refused, "\(Reason.duplicateHeaders.text)", name, "\(name) must be sent once"))
      }
    }
  }

  mutating func checkAuthorization() {
    let header = request.header("authorization")
    if header != nil, request.hasClientCertificate {
      findings.append(
        LintFinding(
          .refused, "certificateBesideToken", "authorization",
          "a connection with a client certificate goes by the certificate, and the provider token is not looked at; send one of them"))
    }
    guard !request.hasClientCertificate else { return }
    guard let header else {
      guard !request.mayHaveMore else { return }
      let reason = "\(Reason.missingProviderToken.text)"
      return findings.append(
        LintFinding(.refused, reason, "authorization", "authorization must be the word bearer, a space and the provider token"))
    }
    guard let value = header.value else { return }
    let bytes = Array(value.utf8)
    do {
      let token = try unsafe ProviderToken(authorization: bytes.span.bytes)
      let age = now.unixSeconds - token.issuedAt
      guard age > 3600 || age < -3600 else { return }
      let reason = "\(age > 0 ? Reason.expiredProviderToken.text : Reason.invalidProviderToken.text)"
      findings.append(
        LintFinding(
          .refused, reason, "authorization",
          "the provider token's iat must be within the last hour, in Unix seconds, now \(now.unixSeconds), not \(token.issuedAt)"))
    } catch {
      findings.append(LintFinding(.refused, "\(Reason.invalidProviderToken.text)", "authorization", error.detail))
    }
  }

  mutating func checkExpiration() {
    guard let value = request.header("apns-expiration")?.value else { return }
    let bytes = Array(value.utf8)
    guard let (date, odd) = try? unsafe HeaderRules.expiration(bytes.span.bytes), let warning = odd ?? HeaderRules.passed(date, now: now)
    else { return }
    let detail = unsafe HeaderRules.detail(warning, of: bytes.span.bytes, now: now)
    findings.append(LintFinding(.warning, warning.name, detail.field, detail.detail))
  }

  private mutating func checkTopic() {
    if request.hasClientCertificate, type == .liveactivity || type == .location {
      findings.append(
        LintFinding(
          .refused, "\(Reason.topicDisallowed.text)", "apns-topic",
          "pushes of the type \(type) need a provider token, on a connection without a certificate"))
    }
    let header = request.header("apns-topic")
    if header != nil, header?.value == nil { return }
    if header == nil, request.mayHaveMore { return }
    let type = request.header("apns-push-type")?.value
    var fields = [("apns-topic", header?.value ?? "")]
    if let type { fields.append(("apns-push-type", type)) }
    checking("apns-topic") { bytes, fields throws(Violation) in
      var memory = TopicMemory()
      _ = try Self.anyRules.checkTopic(
        fields.topic, bytes, type: HeaderRules.statedType(fields, bytes), from: .anyone, &memory)
    } with: {
      fields
    }
  }

  /// Runs one rule on a request that has only these fields.
  mutating func checking(
    _ name: String, _ rule: (RawSpan, RequestFields) throws(Violation) -> Void, with values: () -> [(String, String)]
  ) {
    var fields = RequestFields()
    var bytes: [UInt8] = []
    for (name, value) in values() {
      let range = ByteRange(offset: bytes.count, count: value.utf8.count)
      bytes += value.utf8
      switch name {
      case ":method": fields.method = range
      case ":path": fields.path = range
      case "apns-channel-id": fields.channelID = range
      case "apns-request-id": fields.requestID = range
      case "apns-id": fields.apnsID = range
      case "apns-expiration": fields.expiration = range
      case "apns-priority": fields.priority = range
      case "apns-collapse-id": fields.collapseID = range
      case "apns-push-type": fields.pushType = range
      case "apns-topic": fields.topic = range
      default: preconditionFailure("no rule looks at \(name)")
      }
    }
    do throws(Violation) {
      try unsafe rule(bytes.span.bytes, fields)
    } catch {
      findings.append(LintFinding(.refused, "\(error.reason.text)", error.field, error.detail))
    }
  }

  /// Rules for which every app exists.
  private static let anyRules = RequestRules(
    apps: AppDirectory([], anyApp: AppDirectory.App(bundleID: "")), providers: ProviderDirectory([]))

  // MARK: The payload

  /// The push type: as it is stated, as the topic says it, or as the payload looks.
  private var type: PushType {
    if let type = (request.header("apns-push-type")?.value ?? request.assumedType).flatMap(PushType.init) { return type }
    if let topic = request.header("apns-topic")?.value {
      let bytes = Array(topic.utf8)
      if let type = unsafe TopicSuffix.type(of: bytes.span.bytes) { return type }
    }
    guard let payload, let aps = try? JSONValue.payload(payload.bytes)["aps"] else { return .alert }
    if aps["content-changed"] != nil { return .widgets }
    if ["event", "events", "content-state", "attributes-type"].contains(where: { aps[$0] != nil }) { return .liveactivity }
    return aps["content-available"] != nil && aps["alert"] == nil ? .background : .alert
  }

  private mutating func checkPayload() {
    guard let payload, let body = request.body else { return }
    let type = type
    do throws(Violation) {
      // What is put in comes on top of that.
      try PayloadRules.checkSize(body.count, of: type)
    } catch {
      return findings.append(LintFinding(.refused, "\(error.reason.text)", error.field, error.detail))
    }
    judge(
      payload,
      PayloadContext(
        type: type, family: .app, now: now, priority: priority, hasCollapseID: request.header("apns-collapse-id") != nil,
        hasChannelID: request.header("apns-channel-id") != nil))
  }

  /// The priority, 10 for one that is none or not known, which has been told already; nil where there is no header.
  var priority: Priority? {
    guard let header = request.header("apns-priority") else { return nil }
    let bytes = Array((header.value ?? "10").utf8)
    return (try? unsafe HeaderRules.priority(bytes.span.bytes)) ?? .immediate
  }

  /// Finds everything about a payload.
  mutating func judge(_ payload: PayloadTemplate, _ context: PayloadContext) {
    let hasUnknownPriority = request.header("apns-priority").map { $0.value == nil } ?? false
    for (warning, field, message) in unsafe PayloadRules.everything(payload.bytes.span.bytes, context) {
      guard payload.shows(warning, of: field), !(hasUnknownPriority && warning == .backgroundAtTen) else { continue }
      // What only headers can say is no matter where there are none.
      if !request.isWhole || request.mayHaveMore, [.priorityMissing, .collapseIDMissing].contains(warning) { continue }
      findings.append(
        LintFinding(Self.level(of: warning), warning.name, field, warning == .notJSON ? message + unexpandedHint(payload.bytes) : message))
    }
    if let value = try? JSONValue.payload(payload.bytes) {
      findings += PayloadHabits(payload: value, template: payload, type: context.type, request: request, now: now).findings
    }
  }

  /// What to add where the payload is no JSON since a shell's expansion stands in it as it is, which single quotes do.
  private func unexpandedHint(_ bytes: [UInt8]) -> String {
    do {
      _ = try JSONValue.payload(bytes)
      return ""
    } catch {
      guard request.isWhole, error.offset < bytes.count, bytes[error.offset] == UInt8(ascii: "$") else { return "" }
      return "; within single quotes a shell leaves $ as it stands, so end them before it, and begin them again after it"
    }
  }

  /// How bad what a warning is about is.
  public static func level(of warning: PushWarning) -> LintFinding.Level {
    // Apple documents it as an error.
    if warning == .backgroundAtTen { return .refused }
    if warning == .dateMisread { return .misread }
    guard warning.isRefusedInStrict else { return .warning }
    return warning.spoilsOneField ? .fieldIgnored : .ignored
  }
}
