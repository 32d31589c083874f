import Primitives
import Push
import Rules
import Testing

@Suite("Provider tokens") struct ProviderTokenTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var client: String
    var algorithm: ProviderTokenAlgorithm
    var signatureBytes: Int
    var header: String

    var testDescription: String { client }
  }

  /// One token for each encoding of clients.md, all truly signed with one P-256 key.
  static let vectors: [Vector] = [
    Vector(
      client: "raw, base64url", algorithm: .es256, signatureBytes: 64,
      header:
        "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwfQ.BkcIhh8oG_exYT90SDC1Buqk0C6Eds36y83ihFNwXqY_iH9A1b0wUDinQVdGijqi_OBBgTa8KU7IUNL0aR9yEg"
    ),
    Vector(
      client: "typ and exp", algorithm: .es256, signatureBytes: 64,
      header:
        "BEARER eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwLCJleHAiOjE3OTYwMDM2MDB9.8NKfU1zAPjOdiMkxAX8rmpcUQyJJ_6KoBCpCngDt4itiyVcTF7i6J5XyVdNw8JqHYhy1vBId0-GGkOsO4AnUuA"
    ),
    Vector(
      client: "fractional iat", algorithm: .es256, signatureBytes: 64,
      header:
        "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwLjczNDUxMn0.sf1mlsKZY2a8ACdAlq5RduaiinW3ubPi61E0hU3HGdwy5aYbDC0RmTBD2CwqZ7KDPRM51u9COGVX8UcbhaZygQ"
    ),
    Vector(
      client: "iat as a string", algorithm: .es256, signatureBytes: 64,
      header:
        "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoiMTc5NjAwMDAwMCJ9.HzGeHmtGtOUh20GH7S-3_6J0-pw-OqGQUjNPYjt5aTWX0C42QPvFpfQxRAplieVQOyt1chgvsCV7VFkySws2Ww"
    ),
    Vector(
      client: "DER, base64url", algorithm: .es256, signatureBytes: 70,
      header:
        "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwfQ.MEQCIF3ML5NDxJsW_QiekyMOksdsr0BO6gMYjQfyCjL0bi1MAiB8l-0An7895U87Cj4CuSljpRDDZStxID5lDsaqoe_oFA"
    ),
    Vector(
      client: "DER, padded base 64, Bearer", algorithm: .es256, signatureBytes: 71,
      header:
        "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ==.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwfQ==.MEUCIFY74Qw1/h6lkdR3aQjgjpYX7qVq/DeiJZRhNHpv9QfYAiEAqoViHxJFhXYLuIb9hRKsvLj7hGcggT7PFqFWeNj1SOg="
    ),
    Vector(
      client: "raw, padded base 64", algorithm: .es256, signatureBytes: 64,
      header:
        "bearer  eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ==.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwfQ==.wc1UCZdqq2beWYJyxgTYcfDgKzwajDEUHw33a/YFEoR+75dsfpNa4eGj/rL7JzVfKt54b+hAALiWN6gOiz9fpw== "
    ),
    Vector(
      client: "ES512 with a P-256 key", algorithm: .es512, signatureBytes: 132,
      header:
        "bearer eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzUxMiIsImtpZCI6IkFCQ0RFMTIzNDUifQ.eyJpc3MiOiJURUFNMDEyMzQ1IiwiaWF0IjoxNzk2MDAwMDAwfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAK3w9ROtm0SYunmvSmhu_IqBB_3skvgC8aTjgpTMUE2xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAF8_WSUvSLx5QAgCV2h_JK56_tBCMuSztJTvrW_TYga1"
    ),
    Vector(
      client: "spaces in the JSON", algorithm: .es256, signatureBytes: 70,
      header:
        "bearer eyAiYWxnIjogIkVTMjU2IiwgImtpZCI6ICJBQkNERTEyMzQ1IiB9.eyAiaXNzIjogIlRFQU0wMTIzNDUiLCAiaWF0IjogMTc5NjAwMDAwMCB9.MEQCICfdr0LFKS_pe7exLXmSPmfvnVH-Yk3DLNqy2tlbemQiAiBwR0NRrHARZ-t3GK2xsb8CJU1pmbSeB0dDN-3wr-nsGA"
    ),
  ]

  @Test(arguments: vectors) func takesEveryEncoding(vector: Vector) throws {
    var rules = TestRules()
    rules.verifier.takesEverything = true
    let push = try #require(rules.evaluate(TestRequest().with { $0.authorization = vector.header }).push)
    #expect(push.provider == 0)
    let call = try #require(rules.verifier.calls.first)
    #expect(call.algorithm == vector.algorithm)
    #expect(call.key == 0)
    #expect(call.signature.count == vector.signatureBytes)
    let parts = vector.header.split(separator: " ")[1].split(separator: ".")
    #expect(call.message == parts[0] + "." + parts[1])
    #expect(Base64.decode(String(parts[2])) == call.signature)
  }

  private func signed(_ change: (inout TestToken) -> Void = { _ in }) -> TestRequest {
    var token = TestToken()
    change(&token)
    return TestRequest().with { $0.authorization = "bearer " + token.text }
  }

  @Test func verifiesEachTokenOnce() {
    var rules = TestRules()
    for _ in 0..<3 { #expect(rules.evaluate(signed()).push != nil) }
    #expect(rules.verifier.calls.count == 1)
    #expect(rules.evaluate(signed { $0.issuedAt = "1796000001" }).push != nil)
    #expect(rules.verifier.calls.count == 2)
    // The same token in another letter case of the scheme is other bytes, and nothing is taken on trust.
    #expect(rules.evaluate(TestRequest().with { $0.authorization = "Bearer " + TestToken().text }).push != nil)
    #expect(rules.verifier.calls.count == 3)
    rules.memory = TestRules.memory(rules.verifier)
    #expect(rules.evaluate(signed()).push != nil)
    #expect(rules.verifier.calls.count == 4)
  }

  @Test func verifiesAForgedTokenOnce() {
    var rules = TestRules()
    for _ in 0..<3 { #expect(rules.evaluate(signed { $0.signature = "forged" }).refusal?.reason == .invalidProviderToken) }
    #expect(rules.verifier.calls.count == 1)
  }

  @Test func judgesTheAgeOfAKnownTokenAnew() {
    var rules = TestRules()
    let hour = Limits.providerTokenAgeSeconds
    let cases: [(Int64, Reason?)] = [
      (0, nil), (hour, nil), (hour + 1, .expiredProviderToken), (-hour, nil), (-hour - 1, .invalidProviderToken),
    ]
    for (age, reason) in cases {
      let verdict = rules.evaluate(signed().with { $0.at = now + .seconds(age) })
      #expect(verdict.refusal?.reason == reason, "\(age)")
    }
    #expect(rules.verifier.calls.count == 1)
  }

  @Test func judgesTheEnvironmentAnew() {
    var rules = TestRules()
    let request = signed { $0.keyID = "DEVKEY0001" }
    let cases: [(PushEnvironment?, Reason?)] = [(nil, nil), (.development, nil), (.production, .badEnvironmentKeyInToken)]
    for (environment, reason) in cases {
      #expect(rules.evaluate(request.with { $0.environment = environment }).refusal?.reason == reason)
    }
    #expect(rules.evaluate(signed().with { $0.environment = .production }).push != nil)
  }

  @Test func badTokensDisplaceNoGoodOne() {
    var rules = TestRules(capacity: 4)
    let good = (0..<Int64(4)).map { age in signed { $0.issuedAt = "\(now.unixSeconds - age)" } }
    for request in good { #expect(rules.evaluate(request).push != nil) }
    for attempt in 0..<1000 {
      #expect(rules.evaluate(signed { $0.signature = "forged\(attempt)" }).refusal != nil)
    }
    #expect(rules.verifier.calls.count == 1004)
    for request in good { #expect(rules.evaluate(request).push != nil) }
    #expect(rules.verifier.calls.count == 1004)
  }

  @Test func aNewTokenDisplacesABadOneElseTheOldest() {
    var rules = TestRules(capacity: 4)
    let tokens = (0..<Int64(4)).map { age in signed { $0.issuedAt = "\(now.unixSeconds - age)" } }
    for request in tokens.prefix(3) { _ = rules.evaluate(request) }
    _ = rules.evaluate(signed { $0.signature = "forged" })
    _ = rules.evaluate(tokens[3])
    #expect(rules.verifier.calls.count == 5)
    for request in tokens { _ = rules.evaluate(request) }
    #expect(rules.verifier.calls.count == 5)
    // A fifth good one takes the place of the oldest, which is then verified again.
    _ = rules.evaluate(signed { $0.issuedAt = "\(now.unixSeconds + 5)" })
    for request in tokens.prefix(3) { _ = rules.evaluate(request) }
    #expect(rules.verifier.calls.count == 6)
    _ = rules.evaluate(tokens[3])
    #expect(rules.verifier.calls.count == 7)
  }

  @Test func aProviderMaySendToItsAppsOnly() {
    let request = signed { $0.keyID = "ONEAPP0001" }
    func topic(_ bundleID: String, any: Bool = false) -> Reason? {
      judge(request.with { $0.topic = bundleID + ".push-type.widgets" }, TestRules.apps(any: any)).refusal?.reason
    }
    #expect(topic("com.example.other") == nil)
    #expect(topic("com.example.app") == .topicDisallowed)
    #expect(topic("com.example.unlisted") == .topicDisallowed)
    #expect(topic("com.example.unlisted", any: true) == nil)
    #expect(topic("com.example.stranger", any: true) == .topicDisallowed)
  }
}
