public import JSON
import Primitives
public import Push

/// Every rule that a request must keep before any stored state is asked: pure functions of the request and an instant.
///
/// The order is the one that Apple's servers have been seen to use (method, path, repeated headers, provider token, header
/// syntax, topic, token, payload): a request that breaks several rules is answered with the first. What needs the token's
/// registration — unknown token, other topic, retired token, full lane, budget — is the store's to check, after these.
///
/// A request that keeps all rules costs no allocation: everything in `ParsedPush` is a range or a plain value. Only
/// refusals build text.
public struct RequestRules: Sendable {
  /// The apps that may be sent to.
  public let apps: AppDirectory
  /// The keys that may sign.
  public let providers: ProviderDirectory

  /// What is done where it is not known what Apple's servers do.
  public let answers: ProviderAnswers
  /// What is done about what connections do with their provider tokens.
  public let tokenPolicy: ProviderTokenPolicy

  /// The content-states that are known.
  let contentStates: ContentStateRules

  /// Which provider may send to which app: `providers.count` rows of `apps.count`.
  let permissions: [Permission]

  /// Rules for these apps and providers.
  ///
  /// - Parameter contentStates: The content-states that are known, by bundle id; "" has those of every app that is not listed.
  public init(
    apps: AppDirectory, providers: ProviderDirectory, answers: ProviderAnswers = ProviderAnswers(),
    tokenUpdates: ProviderTokenPolicy.Updates = .off, contentStates: [String: [ActivitySchemas]] = [:]
  ) {
    self.contentStates = ContentStateRules(apps, contentStates)
    self.answers = answers
    tokenPolicy = ProviderTokenPolicy(updates: tokenUpdates, wedgesAfterExpired: answers.wedgeAfterExpired)
    self.apps = apps
    self.providers = providers
    permissions = Permission.table(apps, providers)
  }

  /// The verdict on one request.
  ///
  /// - Parameters:
  ///   - fields: Where the headers stand in `headers`.
  ///   - headers: The header bytes that the ranges refer to.
  ///   - body: The body as far as it was kept: all of it, unless it is larger than any push type allows.
  ///   - bodyBytesTotal: The bytes of body that were received.
  ///   - environment: The environment of the server name the client asked for; nil when that name says nothing.
  ///   - time: The times by which provider tokens and dates are judged.
  ///   - memory: What this thread remembers of the requests before, all of them judged by these rules.
  ///   - connection: The provider tokens of the request's connection so far.
  public func evaluate(
    _ fields: RequestFields, headers: RawSpan, body: RawSpan, bodyBytesTotal: Int, environment: PushEnvironment?, time: RequestTime,
    memory: inout RequestMemory, connection: inout ConnectionCredentials
  ) -> Verdict {
    do {
      return .push(
        try check(
          fields, headers: headers, body: body, bodyBytesTotal: bodyBytesTotal, environment: environment, time: time, memory: &memory,
          connection: &connection))
    } catch {
      return .refused(refusal(error, fields, headers: headers))
    }
  }

  private func check(
    _ fields: RequestFields, headers: RawSpan, body: RawSpan, bodyBytesTotal: Int, environment: PushEnvironment?, time: RequestTime,
    memory: inout RequestMemory, connection: inout ConnectionCredentials
  ) throws(Violation) -> ParsedPush {
    try PathRule.checkMethod(fields.method, headers)
    let path = try PathRule.check(fields.path, headers)
    try checkDuplicates(fields)
    let sender = try authenticate(fields.authorization, headers, environment, time, &memory.tokens, &connection)
    return try check(
      fields, headers: headers, path, from: sender, body: body, bodyBytesTotal: bodyBytesTotal, time: time, &memory.topic, &memory.payload)
  }

  /// What is left once it is known who sends the request.
  @inline(__always) func check(
    _ fields: RequestFields, headers: RawSpan, _ path: (token: DeviceToken?, text: ByteRange), from sender: Sender, body: RawSpan,
    bodyBytesTotal: Int, time: RequestTime, _ topicMemory: inout TopicMemory, _ payloadMemory: inout PayloadMemory
  ) throws(Violation) -> ParsedPush {
    let (header, topic, token) = try checkHeaders(fields, headers, path, sender, &topicMemory)
    let validation = apps.policy(at: topic.app).validation
    // An absent priority is no error, whatever it counts as.
    if topic.type == .background, topic.family == .app, header.priority == .immediate, validation == .strict {
      throw HeaderRules.backgroundAtTen
    }
    try PayloadRules.checkSize(bodyBytesTotal, of: topic.type)
    precondition(body.byteCount == bodyBytesTotal, "a body within the limit must be kept whole")
    let context = PayloadContext(
      type: topic.type, family: topic.family, now: time.sender, priority: header.priority, hasCollapseID: !header.collapseID.isEmpty,
      hasChannelID: fields.channelID != nil)
    let content = try PayloadRules.check(body, context, validation, answers.malformedBody, &payloadMemory)
    var warnings = content.warnings
    var mismatches: UInt32 = 0
    if !contentStates.isEmpty, content.traits.hasContentState || content.traits.activity == .start {
      mismatches = try checkContentState(body, content.traits, topic.schemas, app: topic.app, now: time.sender, &warnings)
    }
    if header.type == nil { warnings.insert(.pushTypeMissing) }
    if let warning = header.expirationWarning ?? HeaderRules.passed(header.expiration, now: time.sender) { warnings.insert(warning) }
    return ParsedPush(
      id: header.id, token: token, type: topic.type, priority: header.priority ?? .immediate, prioritySent: header.priority != nil,
      expiration: time.product(header.expiration), topic: topic.range, bundle: topic.bundle, hasDefaultTopic: topic.isDefault,
      collapseID: header.collapseID, app: topic.app, schemas: topic.schemas, provider: sender.provider, traits: content.traits,
      warnings: warnings, contentStateMismatches: mismatches)
  }

  /// Refuses a start whose attributes or content-state do not decode, or warns of it, and says of an update which types it is none of.
  private func checkContentState(
    _ body: RawSpan, _ traits: PushTraits, _ schemas: Int, app: Int, now: Instant, _ warnings: inout PushWarnings
  ) throws(Violation) -> UInt32 {
    guard traits.activity == .start else { return contentStates.mismatches(body, schemas, now: now) }
    if contentStates.unknownType(body, schemas) != nil { warnings.insert(.unknownAttributesType) }
    guard let problem = contentStates.problemOfStart(body, schemas, now: now) else { return 0 }
    if apps.policy(at: app).validation == .strict {
      throw Violation(.badPayload, problem.field, problem.detail, cause: problem.cause)
    }
    for warning in problem.warnings { warnings.insert(warning.warning) }
    return 0
  }

  /// What stands in the headers, checked in the configured order.
  @inline(__always) private func checkHeaders(
    _ fields: RequestFields, _ headers: RawSpan, _ path: (token: DeviceToken?, text: ByteRange), _ sender: Sender,
    _ memory: inout TopicMemory
  ) throws(Violation) -> (HeaderRules, Topic, DeviceToken) {
    switch answers.checkOrder {
    case .headersFirst:
      let header = try HeaderRules.check(fields, headers, answers)
      let topic = try checkTopic(fields.topic, headers, type: header.type, from: sender, &memory)
      return (header, topic, try Self.token(path, headers))
    case .topicFirst:
      let type = HeaderRules.statedType(fields, headers)
      let topic = try checkTopic(fields.topic, headers, type: type, from: sender, &memory)
      let header = try HeaderRules.check(fields, headers, answers)
      return (header, topic, try Self.token(path, headers))
    case .tokenFirst:
      let token = try Self.token(path, headers)
      let header = try HeaderRules.check(fields, headers, answers)
      return (header, try checkTopic(fields.topic, headers, type: header.type, from: sender, &memory), token)
    }
  }

  @inline(__always) private static func token(
    _ path: (token: DeviceToken?, text: ByteRange), _ headers: RawSpan
  ) throws(Violation) -> DeviceToken {
    if let token = path.token { token } else { try PathRule.token(headers[path.text]) }
  }

  func checkDuplicates(_ fields: RequestFields) throws(Violation) {
    guard let name = fields.duplicate else { return }
    throw Violation(.duplicateHeaders, "\(name)", "\(name) must be sent once")
  }

  /// The refusal for `violation`, with whatever else of the request can be read.
  func refusal(_ violation: Violation, _ fields: RequestFields, headers: RawSpan) -> Refusal {
    var refusal = Refusal(reason: violation.reason, field: violation.field, detail: violation.detail)
    refusal.cause = violation.cause
    if let range = fields.apnsID { refusal.id = PushID(text: headers[range]) }
    if let range = fields.pushType { refusal.type = HeaderRules.pushType(headers[range]) }
    refusal.topic = fields.topic
    if let path = try? PathRule.check(fields.path, headers) { refusal.token = path.token ?? (try? PathRule.token(headers[path.text])) }
    return refusal
  }
}
