import JSON
import Primitives
import Push
import Testing

@testable import Faults

@Suite("Faults: in JSON") struct FaultJSONTests {
  private func read(_ text: String) throws -> FaultSpecification {
    var reader = try JSONReader(try JSONValue.parse(text))
    let specification = try FaultSpecification(&reader)
    try reader.finish()
    return specification
  }

  @Test(arguments: [
    (#"{"status":503}"#, FaultAction.answer(.serviceUnavailable, timestamp: nil)),
    (#"{"status":503,"reason":"Shutdown"}"#, .answer(.shutdown, timestamp: nil)),
    (
      #"{"reason":"ExpiredToken","timestamp":1700000000123}"#,
      .answer(.expiredToken, timestamp: Instant(unixMilliseconds: 1_700_000_000_123))
    ),
    (#"{"goaway":true}"#, .goAway(isAnswered: false)), (#"{"goaway":"before"}"#, .goAway(isAnswered: false)),
    (#"{"goaway":"after"}"#, .goAway(isAnswered: true)), (#"{"reset":true}"#, .reset(code: 2)),
    (#"{"reset":"REFUSED_STREAM"}"#, .reset(code: 7)),
    (#"{"concurrentStreams":1}"#, .concurrentStreams(1)), (#"{"close":true}"#, .close), (#"{"stall":true}"#, .stall),
    (#"{"outage":true}"#, .outage(nil)), (#"{"outage":{"milliseconds":1500}}"#, .outage(.milliseconds(1500))),
    (#"{"delayMilliseconds":200}"#, .passes),
  ])
  func everyEffect(then: String, action: FaultAction) throws {
    #expect(try read(#"{"then":\#(then)}"#).action == action)
  }

  @Test(arguments: [
    ("200", FaultLatency.fixed(.milliseconds(200))), (#"{"from":0,"to":50}"#, .uniform(from: .zero, to: .milliseconds(50))),
    (#"{"median":80,"p99":900}"#, .logNormal(median: .milliseconds(80), p99: .milliseconds(900))),
  ])
  func everyLatency(text: String, latency: FaultLatency) throws {
    let alone = try read(#"{"then":{"delayMilliseconds":\#(text)}}"#)
    #expect(alone.latency == latency && alone.action == .passes)
    let with = try read(#"{"then":{"delayMilliseconds":\#(text),"status":500}}"#)
    #expect(with.latency == latency && with.action == .answer(.internalServerError, timestamp: nil))
  }

  @Test func whatIsShownReadsAsWhatWasAskedFor() throws {
    for then in [
      #"{"status":410,"reason":"Unregistered","timestamp":1700000000123}"#,
      #"{"delayMilliseconds":{"median":80,"p99":900},"goaway":"after"}"#,
      #"{"outage":{"milliseconds":5}}"#, #"{"reset":"CANCEL"}"#, #"{"concurrentStreams":4}"#, #"{"delayMilliseconds":0.5}"#,
    ] {
      let text =
        #"{"match":{"token":"a1b2","bundleID":"com.example.app","type":"alert"},"then":\#(then),"times":4,"probability":0.25,"seed":9}"#
      let specification = try read(text)
      var table = FaultTable()
      let rule = table.add(specification)
      let shown = try #require(rule).json
      var object = try #require(shown.objectValue)
      #expect(object["id"] == 1 && object["applied"] == 0 && object["matched"] == 0 && object["spent"] == false)
      for name in ["id", "applied", "matched", "spent"] { object[name] = nil }
      let again = try read(JSONValue.object(object).serialized())
      #expect(again == specification, "\(then)")
    }
  }

  @Test(arguments: [
    ("{}", "then", "then is missing"), (#"{"then":{}}"#, "then", "then must have one of status"),
    (#"{"then":{"stauts":503}}"#, "then.stauts", "did you mean \"status\"?"),
    (#"{"then":{"status":502}}"#, "then.status", "must be one that Apple answers with"),
    (#"{"then":{"status":500,"reason":"Unregistered"}}"#, "then.status", "must be 410"),
    (#"{"then":{"reason":"Unregisterd"}}"#, "then.reason", "did you mean \"Unregistered\"?"),
    (#"{"then":{"status":500,"timestamp":1}}"#, "then.timestamp", "410"), (#"{"then":{"timestamp":1}}"#, "then.timestamp", "410"),
    (#"{"then":{"close":false}}"#, "then.close", "must be true"), (#"{"then":{"stall":true,"close":true}}"#, "then.stall", "one thing"),
    (#"{"then":{"goaway":"soon"}}"#, "then.goaway", "before"), (#"{"then":{"reset":"NO"}}"#, "then.reset", "REFUSED_STREAM"),
    (#"{"then":{"concurrentStreams":0}}"#, "then.concurrentStreams", "from 1 to"),
    (#"{"then":{"delayMilliseconds":{"from":5,"to":1}}}"#, "then.delayMilliseconds", "must be"),
    (#"{"then":{"delayMilliseconds":{"from":5}}}"#, "then.delayMilliseconds", "must be"),
    (#"{"then":{"delayMilliseconds":{"form":5,"to":6}}}"#, "then.delayMilliseconds.form", "from"),
    (#"{"then":{"delayMilliseconds":60001}}"#, "then.delayMilliseconds", "must be"),
    (#"{"then":{"outage":5}}"#, "then.outage", "must be"),
    (#"{"then":{"outage":{"milliseconds":0}}}"#, "then.outage.milliseconds", "from 1"),
    (#"{"then":{"stall":true},"times":0}"#, "times", "from 1"), (#"{"then":{"stall":true},"probability":0}"#, "probability", "more than 0"),
    (#"{"then":{"stall":true},"probability":1.5}"#, "probability", "from 0"), (#"{"then":{"stall":true},"seeds":1}"#, "seeds", "seed"),
    (#"{"then":{"stall":true},"match":{"token":"xyz"}}"#, "match.token", "hexadecimal"),
    (#"{"then":{"stall":true},"match":{"type":"widget"}}"#, "match.type", "did you mean \"widgets\"?"),
    (#"{"then":{"stall":true},"match":{"bundle":"a"}}"#, "match.bundle", "bundleID"),
  ])
  func whatIsWrongIsNamed(text: String, field: String, message: String) throws {
    let error = #expect(throws: FieldError.self) { try read(text) }
    #expect(error?.field == field, "\(error?.field ?? "")")
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }
}
