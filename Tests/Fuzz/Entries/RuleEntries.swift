import HTTP2
import Primitives
import ProviderAPI
import Push
import Rules

/// The rules as a loop has them, with signatures that are right where they end in an even byte.
struct RuleEntries: ~Copyable {
  private static let now = Instant(unixSeconds: 1_796_000_000)
  private let rules: RequestRules
  private var memory: RequestMemory
  private var connection = ConnectionCredentials(source: 0)

  private struct Verifier: ProviderTokenVerifier {
    func verify(_ signature: RawSpan, of message: RawSpan, key index: Int, algorithm: ProviderTokenAlgorithm) -> Bool {
      signature.byteCount > 0 && signature.array.last! & 1 == 0
    }
  }

  private static let strict = rules(.strict)
  private static let apple = rules(.apple)

  private static func rules(_ validation: AppPolicy.Validation) -> RequestRules {
    var policy = AppPolicy()
    policy.validation = validation
    return RequestRules(
      apps: AppDirectory([.init(bundleID: "com.example.app", policy: policy)], anyApp: .init(bundleID: "", policy: policy)),
      providers: ProviderDirectory([.init(keyID: "ABCDE12345", teamID: "TEAM012345")]))
  }

  init(_ validation: AppPolicy.Validation = .strict) {
    rules = validation == .strict ? Self.strict : Self.apple
    memory = RequestMemory(verifier: Verifier(), capacity: 16, seed: 42)
  }

  /// Why the request is refused, or nil: a push's, or one about broadcasts, as its path says.
  mutating func judge(_ exchange: Exchange) -> Reason? {
    if let path = exchange.value(of: .path), RequestRules.isBroadcast(path) {
      let verdict = rules.evaluateBroadcast(
        RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal,
        environment: nil, time: RequestTime(Self.now), memory: &memory, connection: &connection)
      guard case .refused(let refusal) = verdict else { return nil }
      return refusal.reason
    }
    let verdict = rules.evaluate(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal,
      environment: nil, time: RequestTime(Self.now), memory: &memory, connection: &connection)
    guard case .refused(let refusal) = verdict else { return nil }
    return refusal.reason
  }

  mutating func trusts(_ exchange: Exchange) -> Bool {
    rules.trusts(
      exchange.range(of: .authorization), headers: exchange.headerBytes, environment: nil, time: RequestTime(Self.now), memory: &memory,
      connection: &connection)
  }

  /// A push that keeps the rules, but for what is handed in.
  private mutating func judge(authorization: [UInt8]?, type: String, topic: String, body: [UInt8]) {
    var headers: [UInt8] = []
    func add(_ bytes: some Collection<UInt8>) -> ByteRange {
      let range = ByteRange(offset: headers.count, count: bytes.count)
      headers += bytes
      return range
    }
    var fields = RequestFields()
    fields.method = add("POST".utf8)
    fields.path = add("/3/device/a1b2".utf8)
    fields.authorization = add(authorization ?? Self.authorization)
    fields.pushType = add(type.utf8)
    fields.topic = add(topic.utf8)
    let kept = Array(body.prefix(Limits.providerBodyBytes))
    // Twice, since what is remembered must be judged alike; large bodies are not.
    for _ in 0..<(kept.count <= 256 ? 2 : 1) {
      let verdict = rules.evaluate(
        fields, headers: headers.span.bytes, body: kept.span.bytes, bodyBytesTotal: body.count,
        environment: nil, time: RequestTime(Self.now), memory: &memory, connection: &connection)
      if case .refused(let refusal) = verdict { precondition(refusal.reason.status >= 400) }
    }
  }

  private static let authorization: [UInt8] = {
    let parts = [#"{"alg":"ES256","kid":"ABCDE12345"}"#, #"{"iss":"TEAM012345","iat":1796000000}"#, String(repeating: "B", count: 64)]
    return Array(("bearer " + parts.map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")).utf8)
  }()

  /// A token in its encoding; or, where it begins with a brace, the lines header, claims and signature, which are then encoded.
  static func token(_ input: [UInt8]) {
    var rules = RuleEntries()
    var token = input
    if input.first == UInt8(ascii: "{") {
      let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
      token = Array(("bearer " + parts.map { Base64.encode($0, .urlSafe) }.joined(separator: ".")).utf8)
    }
    rules.judge(authorization: token, type: "alert", topic: "com.example.app", body: Array(#"{"aps":{"alert":"a"}}"#.utf8))
  }

  static func payload(_ input: [UInt8]) {
    for validation in [AppPolicy.Validation.strict, .apple] {
      var rules = RuleEntries(validation)
      for (type, suffix) in [
        ("alert", ""), ("widgets", ".push-type.widgets"), ("controls", ".push-type.controls"), ("liveactivity", ".push-type.liveactivity"),
      ] {
        rules.judge(authorization: nil, type: type, topic: "com.example.app" + suffix, body: input)
      }
    }
  }
}
