import JSON
import Primitives
import Testing

@Suite("Mismatches of a value and its type") struct CodableMismatchTests {
  private static let now = Instant(unixSeconds: 1_796_000_000)

  private static func messages(_ value: JSONValue, _ schema: JSONValue) throws -> [String] {
    try CodableSchema(schema, at: "schema").mismatches(in: value, at: "s", now: now).map(\.message)
  }

  @Test func whatIsMissingFollowsWhatIsThere() throws {
    let schema: JSONValue = [
      "required": ["a", "b", "c"], "properties": ["a": ["type": "integer"], "b": ["type": "string"], "c": ["format": "uuid"]],
    ]
    #expect(
      try Self.messages(["b": 1, "A": 1], schema) == [
        "s.b must be a string, not 1; send \"1\"", "s.a is missing; it must be an integer; is A meant for it?",
        "s.c is missing; it must be a UUID such as \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"",
      ])
  }

  /// A key that is right where it stands is not meant for another.
  @Test func noHintNamesAKeyThatIsRight() throws {
    let schema: JSONValue = ["required": ["stop", "stops"], "properties": ["stop": ["type": "string"], "stops": ["type": "integer"]]]
    #expect(try Self.messages(["stop": "x"], schema) == ["s.stops is missing; it must be an integer"])
    let cases: JSONValue = ["oneOf": [["required": ["a"]], ["required": ["b"]]]]
    let form = "s must be an object with one of the keys a, b, and has"
    #expect(try Self.messages(["a": [:], "b": [:]], cases) == ["\(form) 2"])
    #expect(try Self.messages(["A": [:]], cases) == ["\(form) none; is \"a\" meant?"])
  }

  @Test func aSentenceNamesAFewAndCountsTheRest() throws {
    let schema: JSONValue = ["items": ["type": "integer"]]
    func sentence(_ count: Int, bytesMax: Int = 1000) throws -> String {
      let values = JSONValue.array((0..<count).map { _ in "x" })
      return try CodableSchema(schema, at: "schema").mismatches(in: values, at: "s", now: Self.now)
        .sentence(naming: 5, bytesMax: bytesMax)
    }
    #expect(try sentence(0) == "")
    #expect(try sentence(1) == "s[0] must be an integer, not \"x\"")
    #expect(try sentence(2) == "s[0] must be an integer, not \"x\"; and s[1] must be an integer, not \"x\"")
    #expect(try sentence(8).hasSuffix("s[4] must be an integer, not \"x\"; and 3 more"))
    #expect(try sentence(8, bytesMax: 10) == "s[0] must be an integer, not \"x\"; and 7 more")
  }
}
