import Primitives
import Push
import Rules
import Seeds
import Testing

@Suite("Garbled requests") struct GarbledRequestTests {
  /// Requests of each kind with random bytes changed, added and removed: each gets a verdict, and each refusal says why.
  @Test(arguments: seeds(8)) func everyRequestGetsAVerdict(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var rules = TestRules(TestRules.apps(seed % 2 == 0 ? .strict : .apple, any: seed % 4 < 2))
    let seeds = [
      TestRequest().with { $0.id = "eabeae54-14a8-11e5-b60b-1697f925ec7b" },
      TestRequest.liveActivity("{\(PayloadTests.start),\"stale-date\":\(PayloadTests.s + 60)}"),
      TestRequest.liveActivity("{\(PayloadTests.update),\"relevance-score\":-2.5e1,\"\\u0061\":[null,{}]}"),
      TestRequest.alert(#"{"alert":{"title":"é😀"},"sound":"x"}"#),
    ]
    var refusals: Set<Reason> = []
    var pushes = 0
    for round in 0..<1500 {
      var request = seeds[round % seeds.count]
      for _ in 0..<random.next() % 3 + 1 { garble(&request, &random) }
      switch rules.evaluate(request) {
      case .push(let push):
        pushes += 1
        #expect(push.token.count > 0)
        let (fields, headers) = TestRules.fields(request)
        let details = rules.rules.details(of: push, fields, headers: headers.span.bytes, body: request.body.span.bytes, now: request.at)
        #expect(details.allSatisfy { push.warnings.contains($0.warning) && !$0.detail.isEmpty && !$0.field.isEmpty }, "\(details)")
        let text = WarningDetail.text(of: details)
        #expect(text.utf8.count <= Limits.warningDetailsBytes && WarningDetail.read(text).count <= details.count)
      case .refused(let refusal):
        refusals.insert(refusal.reason)
        #expect(!refusal.detail.isEmpty && !refusal.field.isEmpty)
      }
    }
    #expect(pushes > 50)
    #expect(refusals.count >= 10, "\(refusals)")
  }

  private func garble(_ request: inout TestRequest, _ random: inout SplitMix64) {
    switch random.next() % 10 {
    case 0: change(&request.method, &random)
    case 1: change(&request.path, &random)
    case 2: change(&request.authorization, &random)
    case 3: change(&request.id, &random)
    case 4: change(&request.pushType, &random)
    case 5: change(&request.topic, &random)
    case 6: change(&request.priority, &random)
    case 7:
      request.expiration = request.expiration ?? "1796000000"
      change(&request.expiration, &random)
    case 8: change(&request.collapseID, &random)
    default: request.body = changed(request.body, &random)
    }
  }

  private func change(_ text: inout String?, _ random: inout SplitMix64) {
    text = random.next() % 12 == 0 ? nil : text.map { String(decoding: changed(Array($0.utf8), &random), as: UTF8.self) }
  }

  private func changed(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] { random.changed(bytes) }
}

/// What a seeded generator does to bytes.
extension SplitMix64 {
  mutating func changed(_ text: String) -> String { String(decoding: changed(Array(text.utf8)), as: UTF8.self) }

  mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let at = bytes.isEmpty ? 0 : Int(next() % UInt64(bytes.count))
    switch next() % 4 {
    case 0 where !bytes.isEmpty: bytes[at] = UInt8(truncatingIfNeeded: next())
    case 1 where !bytes.isEmpty: bytes.remove(at: at)
    case 2: bytes.insert(contentsOf: Array("%2f\u{0}{\"é.push-type.".utf8).prefix(Int(next() % 18)), at: at)
    default: bytes.removeLast(min(bytes.count, Int(next() % 40)))
    }
    return bytes
  }
}
