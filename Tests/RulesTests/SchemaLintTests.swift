import JSON
import Primitives
import Push
import Rules
import Testing

/// What `lint` says with a schema is no less than what the gateway refuses, and all at once.
@Suite("Lint by schema") struct SchemaLintTests {
  private static let schema: JSONValue = [
    "type": "object", "required": ["eta", "status", "stopsLeft"],
    "properties": [
      "eta": ["type": "number", "format": "date2001"], "driverName": ["type": "string"], "status": ["enum": ["placed", "sent"]],
      "stopsLeft": ["type": "integer"],
    ],
  ]

  private static func findings(_ state: String, event: String = "update", more: String = "") throws -> [LintFinding] {
    var request = LintedRequest()
    request.body = Array(
      "{\"aps\":{\"timestamp\":\(now.unixSeconds),\"event\":\"\(event)\",\(more)\"content-state\":\(state)}}".utf8)
    request.schemas = [try ActivitySchemas("Ride", ["contentState": schema, "attributes": schema], at: "s")]
    return PushLint.findings(request, now: now)
  }

  @Test func everyMismatchIsToldInTheOrderOfThePayload() throws {
    let found = try Self.findings(
      #"{"eta":\#(now.unixSeconds),"driver_name":3,"status":"preparing","stopsLeft":1.5}"#)
    #expect(found.map(\.field) == ["eta", "driver_name", "status", "stopsLeft"].map { "aps.content-state.\($0)" })
    #expect(found.map(\.rule) == ["dateMisread", "snakeCaseKey", "contentStateNotDecodable", "contentStateNotDecodable"])
    #expect(found.map(\.level) == [.misread, .warning, .ignored, .ignored])
    let turned = try Self.findings(#"{"stopsLeft":1.5,"status":"preparing","eta":1}"#)
    #expect(turned.map(\.field) == ["aps.content-state.stopsLeft", "aps.content-state.status"])
  }

  @Test(arguments: [("driver_name", "snakeCaseKey"), ("DriverName", "unreadKey"), ("driverNane", "unreadKey"), ("chauffeur", nil)])
  func aKeyThatNearlyNamesAnOptionalPropertyIsTold(key: String, rule: String?) throws {
    let found = try Self.findings(#"{"eta":817793196,"\#(key)":"x","status":"placed","stopsLeft":1}"#)
    #expect(found.map(\.rule) == [rule].compactMap(\.self))
    if rule != nil { #expect(found[0].level == .warning && found[0].message.contains("send it as driverName")) }
  }

  @Test func aKeyBesideTheRightOneIsLeftAlone() throws {
    #expect(try Self.findings(#"{"eta":817793196,"driver_name":"x","driverName":"x","status":"placed","stopsLeft":1}"#).isEmpty)
  }

  /// What strict would refuse is an error.
  @Test func aUnixTimeAloneIsAnError() throws {
    let found = try Self.findings(#"{"eta":\#(now.unixSeconds),"status":"placed","stopsLeft":1}"#)
    #expect(found.count == 1 && found[0].level.isWrong)
  }

  @Test func attributesComeWhereTheyStand() throws {
    let found = try Self.findings(
      #"{"eta":1,"status":"placed"}"#, event: "start",
      more: #""attributes-type":"Ride","attributes":{"eta":\#(now.unixSeconds),"status":"placed","stopsLeft":1},"alert":{"title":"t"},"#)
    #expect(found.map(\.field) == ["aps.attributes.eta", "aps.content-state.stopsLeft"])
    #expect(found.last?.message == "aps.content-state.stopsLeft is missing; it must be an integer")
  }

  /// Where a schema is known of the attributes alone, habits judge the content-state.
  @Test func withoutASchemaOfTheContentStateHabitsJudgeIt() throws {
    var request = LintedRequest()
    request.body = Array(
      "{\"aps\":{\"timestamp\":\(now.unixSeconds),\"event\":\"update\",\"content-state\":{\"eta\":\(now.unixSeconds),\"a_b\":1}}}".utf8)
    request.schemas = [try ActivitySchemas("Ride", ["attributes": Self.schema], at: "s")]
    #expect(PushLint.findings(request, now: now).map(\.rule) == ["unixDate", "snakeCaseKey"])
  }
}
