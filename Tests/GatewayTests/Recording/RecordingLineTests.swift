import JSON
import Primitives
import Push
import Testing

@testable import Gateway

@Suite("Lines of a recording") struct RecordingLineTests {
  private static let at = Instant(nanoseconds: 1_800_000_000_123_456_789)

  private func again(_ line: RecordingLine) throws -> RecordingLine { try RecordingLine(JSONValue.parse(line.text)) }

  private func push(_ payload: [UInt8], _ fields: [RecordedPush.Field] = [], path: String = "/3/device/a5a5") -> RecordedPush {
    RecordedPush(id: PushID(high: 1, low: 2), sent: Self.at, path: path, fields: fields, payload: payload)
  }

  @Test(
    arguments: [
      .beginning(.init(gateway: "1.2.3", bundleID: nil)), .beginning(.init(gateway: "1.2.3", bundleID: "com.example.app")),
      .app(bundleID: "com.example.app", ["budgetMode": "reject"]), .registration(["token": "a5", "type": "widgets"]),
      .unregistered("a5"), .outcome(PushID(high: 3, low: 4), RecordedOutcome(disposition: "applied")),
      .outcome(
        PushID(high: 3, low: 4), RecordedOutcome(disposition: "refused", reason: "TooManyRequests", cause: "budgetSpent", isLowered: true)),
      .lost(.init(pushes: 3, changes: 2, outcomes: 1)), .end(pushes: 7), .nothing,
    ] as [RecordingLine.Content])
  func everyKindIsReadBack(content: RecordingLine.Content) throws {
    let line = RecordingLine(at: Self.at, content)
    #expect(try again(line) == line)
    #expect(!line.text.contains("\n"))
  }

  /// Whatever the body is, it is the same to the byte; what can be read by people stands there as it is.
  @Test(arguments: [
    (#"{"aps":{"content-changed":true}}"#, #""payload":{"aps":{"content-changed":true}}"#), ("", #""headers":{}}"#),
    (#"{ "aps" : {} }"#, #""payloadText":"{ \"aps\" : {} }""#), (#"{"a":1,"a":2}"#, "payloadText"), ("null", #""payloadText":"null""#),
    ("[1]", "payloadText"), (#"{"a":1.0e2}"#, "payloadText"), (#"{"a":null,"b":[]}"#, #""payload":{"a":null,"b":[]}"#),
    (#"{"a":"line\nend"}"#, #""payload":{"#), ("{\"a\":\n1}", "payloadText"), ("{", "payloadText"),
    (String(repeating: #"{"a":"#, count: 62) + "1" + String(repeating: "}", count: 62), #""payload":{"#),
    (String(repeating: #"{"a":"#, count: 63) + "1" + String(repeating: "}", count: 63), "payloadText"),
  ]) func bodiesAreKeptToTheByte(body: String, sign: String) throws {
    let line = RecordingLine(at: Self.at, .push(push(Array(body.utf8))))
    #expect(try again(line) == line)
    #expect(line.text.contains(sign), "\(line.text)")
  }

  @Test(arguments: 0..<200) func anyBytesAreKept(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let alphabet = Array(#"{}[]",:\ntrue10.e-"#.utf8) + [0, 9, 10, 0x7F, 0xC3, 0xA4, 0xFF]
    let payload = (0..<Int(random.next() % 60)).map { _ in
      seed % 2 == 0 ? UInt8(truncatingIfNeeded: random.next()) : alphabet[Int(random.next() % UInt64(alphabet.count))]
    }
    let names = ["apns-topic", "apns-priority", "apns-id", "apns-expiration"]
    // Several of a name stand together, in their order.
    let fields = names.flatMap { name in (0..<Int(random.next() % 3)).map { RecordedPush.Field(name, "\($0) \(random.next())") } }
    var recorded = push(payload, fields, path: ["/3/device/A5A5", "/3/device/", "/x y", "/3/device/a5"][Int(random.next() % 4)])
    recorded.sent = Instant(nanoseconds: Int64(random.next() % 2_000_000_000_000_000_000))
    recorded.method = random.next() % 2 == 0 ? "POST" : "GET"
    let line = RecordingLine(at: Self.at, .push(recorded))
    #expect(try again(line) == line)
  }

  @Test(arguments: [
    (#"[]"#, "must be a JSON object"), (#"{"push":{}}"#, "at"), (#"{"at":"yesterday"}"#, "must be a time"),
    (#"{"at":"1013-01-31T12:00:00Z"}"#, "1678 to 2261"), (#"{"at":"2262-04-11T23:47:16.9Z"}"#, "1678 to 2261"),
    (#"{"at":"2027-01-31T12:00:00Z","push":{"id":"x","token":"a5"}}"#, "UUID"),
    (#"{"at":"2027-01-31T12:00:00Z","push":{"id":"00000000-0000-0000-0000-000000000000"}}"#, "token"),
    (#"{"at":"2027-01-31T12:00:00Z","push":{"id":"00000000-0000-0000-0000-000000000000","token":"a5","payloadBase64":"?"}}"#, "base 64"),
    (#"{"at":"2027-01-31T12:00:00Z","push":{"id":"00000000-0000-0000-0000-000000000000","token":"a5","headers":{"a":1}}}"#, "headers.a"),
    (#"{"at":"2027-01-31T12:00:00Z","outcom":{}}"#, "outcome"), (#"{"at":"2027-01-31T12:00:00Z","registration":{}}"#, "token"),
    (#"{"at":"2027-01-31T12:00:00Z","end":{}}"#, "pushes"), (#"{"at":"2027-01-31T12:00:00Z","app":{"bundleID":"a"}}"#, "settings"),
  ]) func whatIsWrongIsNamed(text: String, sign: String) throws {
    let error = try #require(throws: FieldError.self) { try RecordingLine(JSONValue.parse(text)) }
    #expect(error.message.contains(sign), "\(error)")
  }

  /// What a later version has in its first line is no error here: its number is for the reader to refuse.
  @Test func aLaterVersionIsRead() throws {
    let line = try RecordingLine(JSONValue.parse(#"{"at":"2027-01-31T12:00:00Z","recording":{"version":2,"shape":"round"},"more":1}"#))
    #expect(line.content == .beginning(.init(version: 2, gateway: "", bundleID: nil)))
  }

  @Test func outcomesAreNamed() {
    let outcomes = [
      RecordedOutcome(disposition: "applied"), RecordedOutcome(disposition: "refused", reason: "TooManyRequests", cause: "budgetSpent"),
      RecordedOutcome(disposition: "applied", isLowered: true),
    ]
    #expect(outcomes.map(\.description) == ["applied", "refused TooManyRequests (budgetSpent)", "applied at priority 5"])
  }
}
