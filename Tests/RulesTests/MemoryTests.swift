import Primitives
import Push
import Rules
import Testing

/// What is remembered of a request never changes the verdict on the next.
@Suite("Request memory") struct MemoryTests {
  private static let long = String(repeating: "x", count: 200)

  private static let payloads = [
    #"{"aps":{"content-changed":true}}"#, #"{"aps":{"content-changed":true},"k":1}"#, #"{"aps":{"content-changed":fals}}"#,
    #"{"aps":{"content-changed":true}"#, #"{"aps":{"content-changed":"\#(long)"}}"#, #"{"aps":{"content-changed":true},"k":"\#(long)"}"#,
    #"{"aps":{"alert":"hello"}}"#, "[]", "{}", "",
  ]
  private static let topics = [
    "com.example.app.push-type.widgets", "com.example.app.push-type.controls", "com.example.app", "com.example.other.push-type.widgets",
    "com.example.team.push-type.widgets", "com.example.voip", "com.example.\(long).push-type.widgets", "", nil,
  ]
  private static let types = ["widgets", "controls", "alert", "liveactivity", nil]

  private static func request(_ number: UInt64) -> TestRequest {
    var request = TestRequest()
    var rest = number
    func pick<T>(_ choices: [T]) -> T {
      defer { rest /= UInt64(choices.count) }
      return choices[Int(rest % UInt64(choices.count))]
    }
    request.body = Array(pick(payloads).utf8)
    request.topic = pick(topics)
    request.pushType = pick(types)
    request.priority = pick(["5", nil])
    switch pick([0, 1, 2, 3]) {
    case 1: request.authorization = "Bearer " + TestToken().text
    case 2:
      var token = TestToken()
      token.signature = "forged"
      request.authorization = "bearer " + token.text
    case 3: request.authorization = "bearer"
    default: break
    }
    return request
  }

  /// Many requests in a seeded order, each after the others and by itself; each twice in a row, so that it is remembered.
  @Test func aRememberedRequestIsJudgedAsANewOne() {
    var rules = TestRules()
    var random = SplitMix64(seed: 11)
    var accepted = 0
    for _ in 0..<3000 {
      let request = Self.request(random.next())
      let alone = "\(judge(request))"
      for _ in 0..<2 { #expect("\(rules.evaluate(request))" == alone) }
      if rules.evaluate(request).push != nil { accepted += 1 }
    }
    #expect(accepted > 50)
  }

  /// The age of a token that is known by its bytes alone is judged anew.
  @Test func theLatestTokenExpires() {
    var rules = TestRules()
    var request = TestRequest()
    for _ in 0..<3 { #expect(rules.evaluate(request).push != nil) }
    request.at = request.at + .seconds(2 * 3600)
    #expect(rules.evaluate(request).refusal?.reason == .expiredProviderToken)
    #expect(rules.verifier.calls.count == 1)
  }
}
