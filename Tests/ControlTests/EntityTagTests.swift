import Control
import Testing

/// Which state of a resource `If-Match` and `If-None-Match` ask for (RFC 9110 sections 8.8.3 and 13).
@Suite("Entity tags") struct EntityTagTests {
  private static func outcome(_ method: HTTPMethod, _ fields: HTTPFields, _ current: EntityTag?) throws -> String {
    let request = try HTTPRequest(method: method, target: "/", fields: fields)
    return switch try EntityCondition(request).outcome(current) {
    case .met: "met"
    case .notModified: "304"
    case .failed(let field): field
    }
  }

  /// What is asked for, and what becomes of a write and of a read: where the state is "a", and where there is none.
  @Test(
    arguments: [
      ("if-match", "\"a\"", "met met", "if-match if-match"), ("if-match", "*", "met met", "if-match if-match"),
      ("if-match", "\"b\"", "if-match if-match", "if-match if-match"), ("if-match", "\"zz\", \"a\"", "met met", "if-match if-match"),
      ("if-match", "\"zz\",\t,\"a\" ,", "met met", "if-match if-match"),
      // If-Match compares bytes, which a weak one does not promise; a tag may have commas in it.
      ("if-match", "W/\"a\"", "if-match if-match", "if-match if-match"), ("if-match", "\"x,\", \"a\"", "met met", "if-match if-match"),
      ("if-match", "\"a,b\"", "if-match if-match", "if-match if-match"),
      ("if-none-match", "*", "if-none-match 304", "met met"), ("if-none-match", "\"a\"", "if-none-match 304", "met met"),
      ("if-none-match", "W/\"a\"", "if-none-match 304", "met met"), ("if-none-match", "\"b\", W/\"a\"", "if-none-match 304", "met met"),
      ("if-none-match", "\"b\"", "met met", "met met"), ("if-none-match", "\"aa\"", "met met", "met met"),
      ("if-none-match", "\"\"", "met met", "met met"),
    ] as [(String, String, String, String)])
  func conditionsAreMetByTheStateThatThereIs(field: String, text: String, present: String, absent: String) throws {
    for (current, expected) in [(EntityTag("a"), present), (nil, absent)] {
      let outcomes = [try Self.outcome(.put, [field: text], current), try Self.outcome(.get, [field: text], current)]
      #expect(outcomes.joined(separator: " ") == expected, "\(field): \(text)")
    }
  }

  @Test func linesAreOneListAndIfMatchComesFirst() throws {
    let lines: HTTPFields = ["if-match": "\"b\"", "if-match": "\"a\""]
    #expect(try Self.outcome(.put, lines, EntityTag("a")) == "met")
    let both: HTTPFields = ["if-match": "\"a\"", "if-none-match": "*"]
    #expect(try Self.outcome(.get, both, EntityTag("b")) == "if-match")
    #expect(try Self.outcome(.get, both, EntityTag("a")) == "304")
    #expect(try Self.outcome(.put, [:], nil) == "met")
  }

  /// What is no list of tags is no condition that a write could be made without.
  @Test(arguments: ["a", "", ",", "\"a", "\"a\" \"b\"", "w/\"a\"", "\"a b\"", "*, \"a\"", "\"a\"b"])
  func whatIsNoListIsRefused(text: String) throws {
    for field in ["if-match", "if-none-match"] {
      let error = #expect(throws: ControlError.self) { try Self.outcome(.put, [field: text], EntityTag("a")) }
      #expect(error?.status == 400 && error?.field == field, "\(text)")
    }
  }
}
