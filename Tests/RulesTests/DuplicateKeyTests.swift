import Foundation
import JSON
import Primitives
import Push
import Seeds
import Testing

@testable import Rules

/// A key that stands twice in its object: what a device takes, and what is said of it.
@Suite("Keys that stand twice") struct DuplicateKeyTests {
  private static let context = PayloadContext(
    type: .liveactivity, now: now, priority: .immediate, hasCollapseID: true, hasChannelID: false)
  private static let keys = [
    "event", "timestamp", "alert", "content-state", "sound", "stale-date", "input-push-channel", "dismissal-date", "x",
  ]
  private static let values = [
    "null", "1", "\"update\"", "\"end\"", "\"start\"", "\"nil\"", "true", "{}", #"{"title":"t","titel":1,"sound":"nil","sound":"a"}"#,
    #"{"title":"t","body":"b"}"#, "\(now.unixSeconds)", "\"aMs2y8fFEe8AAPIAM4gHog==\"", "[{\"a\":1,\"a\":2}]",
  ]

  private static func payload(_ seed: UInt64) -> String {
    var generator = SplitMix64(seed: seed)
    func object(_ count: Int) -> String {
      let members = (0..<count).map { _ in
        "\"\(keys[Int(generator.next() % UInt64(keys.count))])\":\(values[Int(generator.next() % UInt64(values.count))])"
      }
      return "{\(members.joined(separator: ","))}"
    }
    let parts = (0...generator.next() % 2).map { _ in "\"aps\":\(object(Int(generator.next() % 8)))" }
    return "{\(parts.joined(separator: ",\"y\":1,"))}"
  }

  /// The payload but for what is decoded by other rules.
  private static func withoutState(_ payload: JSONValue) -> JSONValue {
    guard var object = payload.objectValue, var aps = object["aps"]?.objectValue else { return payload }
    aps["content-state"] = nil
    object["aps"] = .object(aps)
    return .object(object)
  }

  /// The rules read what JSONSerialization reads, by one pass over the bytes, and so does the tree that a device goes by.
  @Test func theLastCountsAsToFoundation() throws {
    var repeated = 0
    for seed in seeds(1_000) {
      let text = Self.payload(seed)
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
      let plain = [UInt8](try JSONSerialization.data(withJSONObject: object))
      let expected = PayloadRules.everything(plain.span.bytes, Self.context).map(\.warning)
      let found = PayloadRules.everything(Array(text.utf8).span.bytes, Self.context).map(\.warning)
      #expect(found.filter { $0 != .duplicateKeys && $0 != .unusedAPSKeys } == expected.filter { $0 != .unusedAPSKeys }, "\(text)")
      if found.contains(.duplicateKeys) { repeated += 1 } else { #expect(found == expected, "\(text)") }
      #expect(Self.withoutState(try JSONValue.payload(Array(text.utf8))) == Self.withoutState(try JSONValue.payload(plain)), "\(text)")
    }
    #expect(repeated > 300)
  }

  /// Within what an app decodes the first counts, as to JSONDecoder.
  @Test func theFirstCountsInWhatIsDecoded() throws {
    struct State: Decodable { var a: Int }
    let state = #"{"a":1,"a":2}"#
    let payload = try JSONValue.payload(Array(#"{"aps":{"content-state":\#(state),"attributes":[\#(state)],"alert":\#(state)}}"#.utf8))
    let first = try JSONDecoder().decode(State.self, from: Data(state.utf8)).a
    #expect(payload["aps"]?["content-state"]?["a"]?.intValue == Int64(first))
    #expect(payload["aps"]?["attributes"]?[0]?["a"]?.intValue == Int64(first))
    let last = (try JSONSerialization.jsonObject(with: Data(state.utf8)) as? [String: Int])?["a"]
    #expect(payload["aps"]?["alert"]?["a"]?.intValue == last.map(Int64.init))
    #expect(first == 1 && last == 2)
  }

  @Test(arguments: [
    (#""event":"update","event":"end""#, "aps.event", #"first as "update" and at last as "end"; a device most likely takes the last"#),
    (
      #""content-state":{"a":1,"b":[{"c":1,"c":2,"c":3}]}"#, "aps.content-state.b[0].c",
      "first as 1 and at last as 3; a device most likely takes the first, as Swift's JSONDecoder does, so send it once"
    ),
    (
      #""attributes":{"a":{"b":null,"\u0062":{}}}"#, "aps.attributes.a.b",
      "first as null and at last as {}; a device most likely takes the first"
    ),
    (#""alert":{"title":"t","title":"u"}"#, "aps.alert.title", "takes the last, as JSONSerialization does"),
  ]) func theKeyAndBothValuesAreTold(members: String, path: String, sentence: String) throws {
    let body = Array("{\"aps\":{\(members)}}".utf8)
    let told = try #require(PayloadRules.everything(body.span.bytes, Self.context).first { $0.warning == .duplicateKeys })
    #expect(told.field == path)
    #expect(told.message.hasPrefix("\(path) stands more than once, ") && told.message.contains(sentence), "\(told.message)")
  }

  /// Whatever the mode, the push passes, and its detail is on record.
  @Test(arguments: AppPolicy.Validation.allCases) func thePushPassesWithItsDetail(validation: AppPolicy.Validation) throws {
    let request = TestRequest().with { $0.body = Array(#"{"aps":{"content-changed":false,"content-changed":true}}"#.utf8) }
    let detail = try #require(try details(of: request, validation).first)
    #expect(detail.warning == .duplicateKeys && detail.field == "aps.content-changed")
    #expect(detail.detail.contains("first as false and at last as true"))
    // The one that counts is wrong.
    let wrong = TestRequest().with { $0.body = Array(#"{"aps":{"content-changed":true,"content-changed":false}}"#.utf8) }
    #expect((judge(wrong, TestRules.apps(validation, any: true)).refusal == nil) == (validation == .apple))
  }
}
