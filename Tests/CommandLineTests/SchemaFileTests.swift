import Foundation
import JSON
import Testing

@testable import widgetpush

/// The forms that a file with schemas may have, for `lint --schema` and `schemas set` alike.
@Suite("Files with schemas") struct SchemaFileTests {
  private static let state = #"{"required":["stops"],"properties":{"stops":{"type":"integer"}}}"#

  private static func withFile<Result>(_ text: String, _ body: (String) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder()
    let file = folder.path + "/schemas.json"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return try withExtendedLifetime(folder) { try body(file) }
  }

  private static func read(_ text: String, type: String?) throws -> JSONObject {
    try withFile(text) { try AppSchemas.read($0, type: type) }
  }

  @Test func eachFormNamesItsTypeOrIsGivenIt() throws {
    let state = try JSONValue.parse(Self.state)
    let expected: JSONObject = ["Ride": ["contentState": state]]
    let schema = try CodableSchema(state, at: "")
    let both = #"{"contentState":\#(Self.state)}"#
    #expect(try Self.read(#"{"Ride":\#(both)}"#, type: nil) == expected)
    #expect(try Self.read(#"{"Ride":\#(both),"Game":\#(both)}"#, type: "Ride") == expected)
    #expect(try Self.read(both, type: "Ride") == expected)
    #expect(try Self.read(Self.state, type: "Ride") == expected)
    for text in [Self.state, both] {
      let types = try Self.withFile(text) { try LintInput.schemas($0) }
      #expect(types.map(\.attributesType) == [""] && types[0].contentState == schema)
    }
  }

  @Test(
    arguments: [
      (state, nil, "name it with --type TYPE, or write {\"TYPE\": {\"contentState\": SCHEMA}}"),
      (#"{"contentState":{}}"#, nil, "name it with --type TYPE"), ("{}", nil, "there are none in it"),
      ("{}", "Ride", "there are none in it"),
      (#"{"Ride":{"contentState":{}}}"#, "Game", "has no schemas of Game, only of Ride"), ("[]", nil, "must be a JSON object"),
      (#"{"type":"string"}"#, "Ride", "must be the schema of an object"),
    ] as [(String, String?, String)])
  func whatCannotBeSetSaysWhatWouldBeRight(text: String, type: String?, message: String) {
    let error = #expect(throws: CommandError.self) { try Self.read(text, type: type) }
    #expect(error.map { "\($0)" }?.contains(message) == true, "\(error.map { "\($0)" } ?? "")")
  }
}
