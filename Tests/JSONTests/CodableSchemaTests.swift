import Foundation
import JSON
import Primitives
import Testing

private struct Everything: Decodable {
  enum Stage: String, Decodable { case packed, sent }
  enum Level: Int, Decodable { case low = 1, high }
  struct Stop: Decodable {
    var name: String
    var at: Date?
  }
  var text: String
  var count: Int
  var ratio: Double
  var flag: Bool
  var eta: Date
  var stage: Stage
  var level: Level
  var stops: [Stop]
  var tags: [String?]
  var note: String?
  var nested: Stop?
}

@Suite("Content-state schemas") struct CodableSchemaTests {
  private static let now = Instant(unixSeconds: 1_796_000_000)
  private static let stop: JSONValue = [
    "type": "object", "required": ["name"], "properties": ["name": ["type": "string"], "at": ["type": "number", "format": "date2001"]],
  ]
  private static let everything: JSONValue = [
    "title": "All that a ContentState may have", "type": "object",
    "required": ["text", "count", "ratio", "flag", "eta", "stage", "level", "stops", "tags"],
    "properties": [
      "text": ["type": "string"], "count": ["type": "integer"], "ratio": ["type": "number"], "flag": ["type": "boolean"],
      "eta": ["format": "date2001"], "stage": ["enum": ["packed", "sent"]], "level": ["enum": [1, 2]],
      "stops": ["type": "array", "items": stop], "tags": ["items": ["type": ["string", "null"]]], "note": ["type": "string"],
      "nested": stop,
    ],
  ]
  private static let good: JSONObject = [
    "text": "a", "count": 3, "ratio": 0.5, "flag": true, "eta": 817_692_800, "stage": "sent", "level": 2,
    "stops": [["name": "x", "at": 1.5]],
    "tags": ["a", nil], "note": "n", "nested": ["name": "y"],
  ]
  private static let values: [JSONValue] = [
    nil, true, false, 0, 1, 2, 3, -1, 1.5, 3.0, 1e3, 12_345_678_901, 1e30, "", "sent", "lost", "5", "2026-11-30T00:00:00Z", [], ["a"],
    [nil],
    [1], [["name": "x"]], [["name": 1]], [["at": 1]], [["name": "x", "at": nil]], [["name": "x", "at": "soon"]], [:], ["name": "x"],
    ["name": nil], ["name": "x", "other": 1], ["name": "x", "at": 0.25],
  ]

  private static func decodes(_ value: JSONObject) -> Bool {
    (try? JSONDecoder().decode(Everything.self, from: Data(JSONValue.object(value).serialized().utf8))) != nil
  }

  /// Every value in every place: the schema and the decoder of the very type say the same.
  @Test func theyAgreeWithSwiftsDecoder() throws {
    let schema = try CodableSchema(Self.everything, at: "schema")
    #expect(Self.decodes(Self.good) && schema.problem(in: .object(Self.good), at: "s") == nil)
    for key in Self.good.keys {
      for value in Self.values {
        var object = Self.good
        object[key] = value
        let problem = schema.problem(in: .object(object), at: "s")
        #expect((problem == nil) == Self.decodes(object), "\(key): \(value.serialized()): \(problem?.message ?? "no problem")")
        #expect(problem?.path.hasPrefix("s.\(key)") ?? true)
      }
      var object = Self.good
      object[key] = JSONValue?.none
      #expect((schema.problem(in: .object(object), at: "s") == nil) == Self.decodes(object), "without \(key)")
      object["unknown"] = 1
      #expect((schema.problem(in: .object(object), at: "s") == nil) == Self.decodes(object))
    }
  }

  @Test(
    arguments: [
      ("eta", 1_796_000_000, "s.eta is a Unix time; Swift's Date shows 2057, send 817692800"),
      ("eta", 1_700_000_000, "s.eta is a Unix time; Swift's Date shows 2054, send 721692800"),
      ("eta", 1_796_000_000_000, "s.eta is a Unix time in milliseconds; Swift's Date shows a year past 56000, send 817692800"),
      ("stops", [["name": "x", "at": 1_796_000_000]], "s.stops[0].at is a Unix time; Swift's Date shows 2057, send 817692800"),
      (
        "eta", "2026-11-30T00:00:00Z",
        "s.eta must be a number of seconds since 2001-01-01 UTC, as Swift's Date decodes by default, not \"2026-11-30T00:00:00Z\"; send 817689600"
      ),
      ("count", 3.5, "s.count must be an integer that fits Swift's Int, without a fraction, not 3.5"),
      ("count", "3", "s.count must be an integer, not \"3\"; send 3"), ("ratio", "0.5", "s.ratio must be a number, not \"0.5\"; send 0.5"),
      ("text", 5, "s.text must be a string, not 5; send \"5\""), ("flag", 1, "s.flag must be true or false, not 1; send true"),
      ("flag", "false", "s.flag must be true or false, not \"false\"; send false"),
      ("stage", "snet", "s.stage must be one of packed, sent, not \"snet\"; send \"sent\""),
      ("level", 3, "s.level must be one of 1, 2, not 3"),
      ("text", nil, "s.text is null, and the property is not optional; it must be a string"),
      ("stops", [["nam": "x"]], "s.stops[0].name is missing; it must be a string; is nam meant for it?"),
      ("stops", [:], "s.stops must be an array, not {}"),
    ] as [(String, JSONValue, String)])
  func theKeyAndTheRightValueAreNamed(key: String, value: JSONValue, message: String) throws {
    var object = Self.good
    object[key] = value
    let mismatches = try CodableSchema(Self.everything, at: "schema").mismatches(in: .object(object), at: "s", now: Self.now)
    #expect(mismatches.first?.message == message)
    #expect(mismatches.first?.consequence == (message.contains("Unix time") ? .misreads : .fails))
  }

  /// A date far from now in Unix time may be one of 2001's count.
  @Test(arguments: [0, 817_692_800, 1_200_000_000, 2_200_000_000, -5] as [JSONValue]) func otherDatesAreMeant(value: JSONValue) throws {
    var object = Self.good
    object["eta"] = value
    #expect(try CodableSchema(Self.everything, at: "schema").mismatches(in: .object(object), at: "s", now: Self.now) == [])
  }

  /// What is not understood is an error that says what is.
  @Test(
    arguments: [
      (["type": "object", "additionalProperties": false], "s.additionalProperties"), (["minimum": 1], "s.minimum"),
      (["$ref": "#/x"], "s.$ref"),
      (["properties": ["a": ["properties": ["b": ["pattern": "x"]]]]], "s.properties.a.properties.b.pattern"),
      (["items": ["oneOf": []]], "s.items.oneOf"), (["oneOf": [["type": "string"]]], "s.oneOf[0]"),
      (["oneOf": [["required": ["a"], "properties": ["a": ["type": "string"]]]]], "s.oneOf[0].properties.a"),
      (["oneOf": [["required": ["a"]]], "properties": [:]], "s.properties"), (["propertyNames": ["type": "string"]], "s.propertyNames"),
      (["additionalProperties": [:], "propertyNames": ["type": "boolean"]], "s.propertyNames"),
      (["additionalProperties": [:], "required": ["a"]], "s.required"), (["prefixItems": [[:]]], "s.prefixItems"),
      (["properties": ["stops": [:]], "required": ["stop"]], "s.required"),
      (["format": "range"], "s.items"), (["type": "string", "format": "uint8"], "s.format"),
      (["type": "integer", "format": "uuid"], "s.format"), (["type": "Date"], "s.type"), (["type": ["string", "integer"]], "s.type"),
      (["type": ["null"]], "s.type"), (["type": []], "s.type"), (["type": 5], "s.type"), (["format": "date"], "s.format"),
      (["type": "string", "format": "date2001"], "s.format"), (["enum": []], "s.enum"), (["enum": ["a", 1]], "s.enum"),
      (["type": "number", "enum": ["a"]], "s.enum"), (["properties": []], "s.properties"), (["required": "a"], "s.required"), (5, "s"),
    ] as [(JSONValue, String)])
  func whatIsNotUnderstoodIsAnError(schema: JSONValue, field: String) {
    let error = #expect(throws: FieldError.self) { try CodableSchema(schema, at: "s") }
    #expect(error?.field == field)
    if field.hasSuffix("minimum") {
      #expect(error?.message.contains("type, properties, required, items, enum, format, additionalProperties") == true)
    }
  }

  /// Both parts of an activity are objects, and what a file or a request has in their place is told with what would be right.
  @Test(
    arguments: [
      (["contentState": ["type": "string"]], "schemas.contentState must be the schema of an object, which a content-state always is"),
      (["contentState": ["type": ["integer", "null"]]], "schemas.contentState must be the schema of an object"),
      (["attributes": ["items": [:]]], "schemas.attributes must be the schema of an object, which attributes always are"),
      (["contentState": ["enum": ["a"]]], "schemas.contentState must be the schema of an object"),
      (["contentState": ["required": ["stop"], "properties": ["stops": [:]]]], "which properties does not have; did you mean \"stops\"?"),
      (["Ride": ["contentState": [:]]], "schemas has the schemas under the key \"Ride\"; only the value of that key is wanted here"),
      (["contenState": [:]], "did you mean \"contentState\"?"), ([:], "schemas must have contentState, attributes or both"),
    ] as [(JSONValue, String)])
  func whatCannotBeMeantIsAnError(source: JSONValue, message: String) {
    let error = #expect(throws: FieldError.self) { try ActivitySchemas("Ride", source, at: "schemas") }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test(
    arguments: [
      [:], ["oneOf": [["required": ["a"], "properties": ["a": [:]]]]], ["additionalProperties": [:]], ["type": ["object", "null"]],
    ] as [JSONValue])
  func everyFormOfAnObjectMayBeAContentState(schema: JSONValue) {
    #expect(throws: Never.self) { try ActivitySchemas("Ride", ["contentState": schema, "attributes": schema], at: "schemas") }
    #expect(throws: FieldError.self) { try ActivitySchemas("Ride", contentState: ["items": schema], at: "schemas") }
  }

  @Test(arguments: [
    ("Ride", true), ("Pizza.Order_2", true), ("_Ride", true), ("", false), (".", false), ("..", false), ("A.", false), ("2Ride", false),
    ("a b\u{1B}[31m", false), ("x/y", false), ("Übersicht", false),
  ]) func aTypesNameIsThatOfASwiftType(name: String, isOne: Bool) {
    #expect(ActivitySchemas.isTypeName(name) == isOne)
    for listed in [["contentState": [:]], [:]] as [JSONValue] {
      let isTaken = (try? ActivitySchemas.list([name: listed], at: "schemas", max: 1, contentStatesOnly: listed == [:])) != nil
      #expect(isTaken == isOne)
    }
  }

  @Test func manyTypes() throws {
    let types = try ActivitySchemas.list(["A": ["type": "object"], "B": [:]], at: "c", max: 2, contentStatesOnly: true)
    #expect(
      types.map(\.attributesType) == ["A", "B"] && types.json == ["A": ["contentState": ["type": "object"]], "B": ["contentState": [:]]])
    let replaced = types.replaced(
      by: try ActivitySchemas.list(["A": ["additionalProperties": [:]], "C": [:]], at: "c", max: 2, contentStatesOnly: true))
    #expect(replaced.map(\.attributesType) == ["B", "A", "C"] && replaced[1].contentState == .dictionary(.strings, .anything))
    #expect(throws: FieldError.self) { try ActivitySchemas.list(["A": [:], "B": [:]], at: "c", max: 1, contentStatesOnly: true) }
    let error = #expect(throws: FieldError.self) {
      try ActivitySchemas.list(["A": ["type": "x"]], at: "c", max: 1, contentStatesOnly: true)
    }
    #expect(error?.field == "c.A.type")
  }
}
