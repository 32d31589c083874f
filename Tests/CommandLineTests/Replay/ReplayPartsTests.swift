import Gateway
import JSON
import Primitives
import Push
import Testing

@testable import widgetpush

@Suite("Parts of a replay") struct ReplayPartsTests {
  private static let sent = Instant(nanoseconds: 1_800_000_000_600_000_000)

  private func push(_ payload: String, _ fields: [RecordedPush.Field] = [], token: String = "a5a5", sent: Instant = sent) -> RecordedPush {
    RecordedPush(id: PushID(high: 1, low: 1), sent: sent, path: "/3/device/\(token)", fields: fields, payload: Array(payload.utf8))
  }

  private func text(_ push: RecordedPush) -> String { String(decoding: push.payload, as: UTF8.self) }

  // MARK: Dates

  @Test(arguments: [
    (#"{"aps":{"timestamp":1800000000,"event":"update"}}"#, #"{"aps":{"timestamp":1800086400,"event":"update"}}"#),
    (
      #"{"a":{"timestamp":1},"aps":{"stale-date":1800000900,"content-state":{"timestamp":1800000000},"dismissal-date":1800001800}}"#,
      #"{"a":{"timestamp":1},"aps":{"stale-date":1800087300,"content-state":{"timestamp":1800000000},"dismissal-date":1800088200}}"#
    ),
    // The mistakes that are recorded stay the mistakes that they are.
    (#"{"aps":{"timestamp":1800000000000}}"#, #"{"aps":{"timestamp":1800000000000}}"#),
    (#"{"aps":{"timestamp":"1800000000"}}"#, #"{"aps":{"timestamp":"1800000000"}}"#),
    (#"{"aps":{"timestamp":1800000000.5}}"#, #"{"aps":{"timestamp":1800000000.5}}"#),
    (#"{"aps":{"timestamp":0}}"#, #"{"aps":{"timestamp":0}}"#), (#"{"aps":{"timestamp":1800000000}"#, #"{"aps":{"timestamp":1800000000}"#),
    (#"[{"aps":{"timestamp":1800000000}}]"#, #"[{"aps":{"timestamp":1800000000}}]"#), (#"{"aps":1}"#, #"{"aps":1}"#), ("", ""),
    (#"{ "aps" : { "stale-date" : 999999999 , "x" : 1 } }"#, #"{ "aps" : { "stale-date" : 1000086399 , "x" : 1 } }"#),
  ]) func datesOfAPayload(before: String, after: String) {
    var dates = SenderDates()
    #expect(text(dates.moved(push(before), to: Self.sent + .seconds(86_400))) == after)
  }

  @Test(arguments: [
    ("1800000600", "1800004200"), ("0", "0"), ("-5", "-5"), ("soon", "soon"), ("9223372036854775807", "9223372036854775807"),
  ])
  func expirations(before: String, after: String) {
    var dates = SenderDates()
    let moved = dates.moved(push("{}", [.init("apns-expiration", before), .init("apns-priority", "5")]), to: Self.sent + .seconds(3600))
    #expect(moved.fields == [.init("apns-expiration", after), .init("apns-priority", "5")])
  }

  /// However fast it is played, an update is newer than another exactly where it was, as a device compares them.
  @Test(arguments: 0..<100 as Range<UInt64>) func timestampsKeepTheirOrder(seed: UInt64) throws {
    var (random, dates) = (SplitMix64(seed: seed), SenderDates())
    var (sent, now) = (Self.sent, Instant(unixSeconds: 1_900_000_000))
    var newest: (recorded: Int64, replayed: Int64)?
    for _ in 0..<200 {
      sent = sent + .milliseconds(Int64(random.next() % 100_000))
      now = now + .milliseconds(Int64(random.next() % 10))
      let recorded = sent.unixSeconds - Int64(random.next() % 50)
      let moved = dates.moved(push(#"{"aps":{"timestamp":\#(recorded)}}"#, sent: sent), to: now)
      let replayed = try #require(try JSONValue.parse(moved.payload)["aps"]?["timestamp"]?.intValue)
      if let newest {
        #expect((recorded > newest.recorded) == (replayed > newest.replayed))
        #expect((recorded == newest.recorded) == (replayed == newest.replayed))
      }
      if newest == nil || recorded >= newest!.recorded { newest = (recorded, replayed) }
    }
    // Of another token nothing is known.
    let other = dates.moved(push(#"{"aps":{"timestamp":1800000000}}"#, token: "b6", sent: Self.sent), to: Self.sent)
    #expect(text(other) == #"{"aps":{"timestamp":1800000000}}"#)
  }

  // MARK: Tokens

  @Test func tokensAreOthersOfTheSameLength() {
    let (one, two) = (ReplayTokens(seed: "1"), ReplayTokens(seed: "2"))
    for count in [1, 2, 32, 33, 80, 100] {
      let recorded = String(repeating: "a5", count: count)
      let token = one.token(for: recorded)
      #expect(token.count == recorded.count && token != recorded && DeviceToken(hex: token) != nil)
      #expect(token == one.token(for: recorded.uppercased()))
      if count > 1 { #expect(token != two.token(for: recorded)) }
    }
    // What is wrong with a token stays wrong.
    for none in ["", "xyz", "a5a", String(repeating: "a5", count: 101)] { #expect(one.token(for: none) == none) }
    #expect(one.moved(push("{}", token: "")).path == "/3/device/")
    var odd = push("{}")
    odd.path = "/4/broadcasts"
    #expect(one.moved(odd) == odd)
    let (token, body) = one.moved([
      "token": "a5a5", "type": "widgets", "upstream": "apple", "replaces": "b6b6", "user": "alice",
    ])
    #expect(token == one.token(for: "a5a5"))
    #expect(body == ["type": "widgets", "replaces": .string(one.token(for: "b6b6")), "user": "alice"])
  }

  // MARK: Pace

  @Test(arguments: [("max", ReplayPace.unpaced), ("1", .times(1)), ("0.5", .times(0.5)), ("1000000", .times(1e6))])
  func paces(text: String, pace: ReplayPace) { #expect(ReplayPace(text: text) == pace) }

  @Test(arguments: ["", "0", "-1", "fast", "nan", "inf", "1e9", "MAX"]) func noPaces(text: String) {
    #expect(ReplayPace(text: text) == nil)
  }

  @Test func delays() {
    #expect(ReplayPace.unpaced.delay(.seconds(86_400)) == .zero)
    #expect(ReplayPace.times(1).delay(.seconds(90)) == .seconds(90))
    #expect(ReplayPace.times(60).delay(.seconds(90)) == .milliseconds(1500))
    #expect(ReplayPace.times(0.5).delay(.seconds(90)) == .seconds(180))
    #expect(ReplayPace.times(0.001).delay(.seconds(366 * 86_400)) > .seconds(86_400))
  }

  /// It begins whole seconds after the recording, or at the same time of the day; never before now, and no later than it must.
  @Test(arguments: 0..<100 as Range<UInt64>) func beginnings(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let start = Instant(nanoseconds: 1_700_000_000_000_000_000 + Int64(random.next() % 1_000_000_000_000_000_000))
    let now = seed == 0 ? start : Instant(nanoseconds: 1_700_000_000_000_000_000 + Int64(random.next() % 1_000_000_000_000_000_000))
    for (atTimeOfDay, unit) in [(true, TimeSpan.seconds(86_400)), (false, .seconds(1))] {
      let beginning = ReplayTime.beginning(from: now, like: start, atTimeOfDay: atTimeOfDay)
      #expect(beginning >= now && beginning - now < unit)
      #expect((beginning - start).nanoseconds % unit.nanoseconds == 0)
      if seed == 0 { #expect(beginning == start) }
    }
  }

  // MARK: Report

  @Test func aReportCountsBoth() throws {
    var report = ReplayReport(span: .seconds(90))
    let applied = RecordedOutcome(disposition: "applied")
    let refused = RecordedOutcome(disposition: "refused", reason: "TooManyRequests", cause: "budgetSpent")
    func add(_ count: UInt64, _ recorded: RecordedOutcome?, _ replayed: RecordedOutcome?, from first: UInt64, answered: Bool = true) {
      for id in first..<first + count {
        report.add(PushID(high: 1, low: id), recorded, as: answered ? "\(PushID(high: 2, low: id))" : nil, replayed)
      }
    }
    add(5, applied, applied, from: 1)
    add(3, applied, refused, from: 10)
    add(1, nil, applied, from: 20)
    add(1, refused, nil, from: 30, answered: false)
    add(2, nil, nil, from: 40)
    #expect(report.total == 12 && report.same == 5 && report.unanswered == 1)
    #expect(
      report.endings.map { "\($0.ending.text) \($0.recorded) \($0.replayed)" } == [
        "applied 8 6", "refused TooManyRequests (budgetSpent) 1 3", "not known 3 3",
      ])
    #expect(
      report.changes.map { "\($0.cases.count) \($0.change.from.text) → \($0.change.to.text)" } == [
        "3 applied → refused TooManyRequests (budgetSpent)", "1 refused TooManyRequests (budgetSpent) → not known", "1 not known → applied",
      ])
    #expect(report.text.contains("5 of 12 became the same") && report.text.contains("1 were not answered"))
    #expect(report.text.contains("such as \(PushID(high: 2, low: 10))"), "\(report.text)")
    let json = report.json
    #expect(json["pushes"] == 12 && json["same"] == 5 && json["unanswered"] == 1)
    #expect(json["outcomes"]?[0] == ["outcome": "applied", "recorded": 8, "replayed": 6])
    #expect(json["changes"]?[0]?["example"]?["recorded"] == .string("\(PushID(high: 1, low: 10))"))
    #expect(json["changes"]?[1]?["to"] == .null)
  }
}
