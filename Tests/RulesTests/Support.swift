import Foundation
import Primitives
import Push
import Rules

/// 2026-11-30, as good a now as any.
let now = Instant(unixSeconds: 1_796_000_000)

/// Takes a signature that is the text `good`, raw or DER alike, and remembers what it was asked.
final class FakeVerifier: ProviderTokenVerifier {
  struct Call: Equatable {
    var signature: [UInt8]
    var message: String
    var key: Int
    var algorithm: ProviderTokenAlgorithm
  }

  var calls: [Call] = []
  var takesEverything = false

  func verify(_ signature: RawSpan, of message: RawSpan, key index: Int, algorithm: ProviderTokenAlgorithm) -> Bool {
    calls.append(Call(signature: signature.array, message: message.string, key: index, algorithm: algorithm))
    return takesEverything || signature.equals("good")
  }
}

/// A provider token under construction.
struct TestToken {
  var algorithm: String? = "ES256"
  var keyID: String? = "ABCDE12345"
  var teamID: String? = "TEAM012345"
  var issuedAt: String? = "\(now.unixSeconds)"
  var signature = "good"

  var text: String {
    let header = [algorithm.map { "\"alg\":\"\($0)\"" }, keyID.map { "\"kid\":\"\($0)\"" }].compactMap { $0 }.joined(separator: ",")
    let claims = [teamID.map { "\"iss\":\"\($0)\"" }, issuedAt.map { "\"iat\":\($0)" }].compactMap { $0 }.joined(separator: ",")
    return ["{\(header)}", "{\(claims)}", signature].map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
  }
}

/// A request under construction; untouched, it is a widget push that keeps every rule.
struct TestRequest {
  var method: String? = "POST"
  var path: String? = "/3/device/" + String(repeating: "a1", count: 32)
  var authorization: String? = "bearer " + TestToken().text
  var id: String?
  var pushType: String? = "widgets"
  var topic: String? = "com.example.app.push-type.widgets"
  var priority: String? = "10"
  var expiration: String?
  var collapseID: String? = "widgets"
  var channelID: String?
  var duplicate: StaticString?
  var body = Array(#"{"aps":{"content-changed":true}}"#.utf8)
  var bodyBytesTotal: Int?
  var environment: PushEnvironment?
  var at = now
  /// The times by which it is judged; nil for `at` on all clocks.
  var time: RequestTime?

  static func liveActivity(_ aps: String) -> TestRequest {
    var request = TestRequest()
    request.pushType = "liveactivity"
    request.topic = "com.example.app.push-type.liveactivity"
    request.body = Array("{\"aps\":\(aps)}".utf8)
    return request
  }

  static func alert(_ aps: String) -> TestRequest {
    var request = TestRequest()
    request.pushType = "alert"
    request.topic = "com.example.app"
    request.body = Array("{\"aps\":\(aps)}".utf8)
    return request
  }

  /// A push of that type with the topic and a payload that every device takes.
  static func of(_ type: PushType, bundle: String = "com.example.app") -> TestRequest {
    var request = TestRequest()
    request.pushType = "\(type)"
    request.topic = type == .mdm ? "com.apple.mgmt.External.1" : "\(bundle)\(type.topicSuffix)"
    request.priority = "5"
    request.body = Array(payload(of: type).utf8)
    return request
  }

  /// A payload that keeps the rules of its type.
  static func payload(of type: PushType) -> String {
    switch type {
    case .alert: #"{"aps":{"alert":"hello"}}"#
    case .background: #"{"aps":{"content-available":1}}"#
    case .widgets, .controls: #"{"aps":{"content-changed":true}}"#
    case .liveactivity: "{\"aps\":{\(PayloadTests.update)}}"
    case .mdm: #"{"mdm":"magic"}"#
    case .complication, .fileprovider, .location, .pushtotalk, .voip: "{}"
    }
  }

  func with(_ change: (inout TestRequest) -> Void) -> TestRequest {
    var copy = self
    change(&copy)
    return copy
  }
}

/// The rules with a cache, as one loop has them.
struct TestRules: ~Copyable {
  static let providers = ProviderDirectory([
    .init(keyID: "ABCDE12345", teamID: "TEAM012345"),
    .init(keyID: "DEVKEY0001", teamID: "TEAM012345", environment: .development),
    .init(keyID: "ONEAPP0001", teamID: "TEAM012345", bundleIDs: ["com.example.other", "com.example.unlisted"]),
    .init(keyID: "OTHERTEAM1", teamID: "TEAM999999"),
  ])

  static func apps(_ validation: AppPolicy.Validation = .strict, any: Bool = false) -> AppDirectory {
    var policy = AppPolicy()
    policy.validation = validation
    return AppDirectory(
      [
        .init(bundleID: "com.example.app", policy: policy), .init(bundleID: "com.example.other", policy: policy),
        .init(bundleID: "com.example.voip", policy: policy), .init(bundleID: "com.example.team", teamID: "TEAM999999", policy: policy),
      ], anyApp: any ? .init(bundleID: "", policy: policy) : nil)
  }

  let verifier = FakeVerifier()
  var rules: RequestRules
  var memory: RequestMemory

  init(
    _ apps: AppDirectory = TestRules.apps(), providers: ProviderDirectory = TestRules.providers, capacity: Int = 16,
    answers: ProviderAnswers = ProviderAnswers(), tokenUpdates: ProviderTokenPolicy.Updates = .off,
    updates: (any ProviderTokenUpdates)? = nil
  ) {
    rules = RequestRules(apps: apps, providers: providers, answers: answers, tokenUpdates: tokenUpdates)
    memory = Self.memory(verifier, capacity: capacity, updates: updates)
  }

  /// A memory of no request.
  static func memory(_ verifier: FakeVerifier, capacity: Int = 16, updates: (any ProviderTokenUpdates)? = nil) -> RequestMemory {
    RequestMemory(verifier: verifier, capacity: capacity, seed: 42, updates: updates)
  }

  /// The verdict on a request that comes alone on its connection.
  mutating func evaluate(_ request: TestRequest) -> Verdict {
    var connection = ConnectionCredentials(source: 0)
    return evaluate(request, on: &connection)
  }

  mutating func evaluate(_ request: TestRequest, on connection: inout ConnectionCredentials) -> Verdict {
    let (fields, headers) = Self.fields(request)
    return rules.evaluate(
      fields, headers: headers.span.bytes, body: request.body.span.bytes, bodyBytesTotal: request.bodyBytesTotal ?? request.body.count,
      environment: request.environment, time: request.time ?? RequestTime(request.at), memory: &memory, connection: &connection)
  }

  mutating func evaluateBroadcast(_ request: TestRequest, on connection: inout ConnectionCredentials) -> BroadcastVerdict {
    let (fields, headers) = Self.fields(request)
    return rules.evaluateBroadcast(
      fields, headers: headers.span.bytes, body: request.body.span.bytes, bodyBytesTotal: request.body.count,
      environment: request.environment, time: request.time ?? RequestTime(request.at), memory: &memory, connection: &connection)
  }

  mutating func trusts(_ request: TestRequest, on connection: inout ConnectionCredentials) -> Bool {
    let (fields, headers) = Self.fields(request)
    return rules.trusts(
      fields.authorization, headers: headers.span.bytes, environment: request.environment, time: request.time ?? RequestTime(request.at),
      memory: &memory,
      connection: &connection)
  }

  static func fields(_ request: TestRequest) -> (RequestFields, [UInt8]) {
    var headers = Array("unrelated".utf8)
    func add(_ value: String?) -> ByteRange? {
      guard let value else { return nil }
      let range = ByteRange(offset: headers.count, count: value.utf8.count)
      headers += Array(value.utf8)
      return range
    }
    var fields = RequestFields()
    fields.method = add(request.method)
    fields.path = add(request.path)
    fields.authorization = add(request.authorization)
    fields.apnsID = add(request.id)
    fields.pushType = add(request.pushType)
    fields.topic = add(request.topic)
    fields.priority = add(request.priority)
    fields.expiration = add(request.expiration)
    fields.collapseID = add(request.collapseID)
    fields.channelID = add(request.channelID)
    fields.duplicate = request.duplicate
    return (fields, headers)
  }
}

/// The verdict on one request, by rules of its own.
func judge(
  _ request: TestRequest, _ apps: AppDirectory = TestRules.apps(), answers: ProviderAnswers = ProviderAnswers()
) -> Verdict {
  var rules = TestRules(apps, answers: answers)
  return rules.evaluate(request)
}

extension Verdict {
  var refusal: Refusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }

  var push: ParsedPush? {
    if case .push(let push) = self { push } else { nil }
  }
}
