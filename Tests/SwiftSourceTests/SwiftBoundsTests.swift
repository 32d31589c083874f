import JSON
import Push
import Testing

@testable import SwiftSource

/// What a file may have, and what becomes of one that has more: a problem, at once.
@Suite("Bounds of Swift source") struct SwiftBoundsTests {
  private func problems(_ text: String) -> [String] { SwiftSource(text).problems.map(\.description) }

  private func activity(_ name: String = "A", _ members: String = "") -> String {
    "struct \(name): ActivityAttributes { struct ContentState: Codable { \(members) } }"
  }

  @Test(arguments: [
    (
      "struct A: ActivityAttributes {\n  struct ContentState: Codable {\n    var x: Int\n",
      "2:32: the { that stands here is not closed, and 1 more around it"
    ),
    (
      "struct A: ActivityAttributes {\n  struct ContentState: Codable { var x: Int }\n",
      "1:30: the { that stands here is not closed; is the file cut off?"
    ),
    ("struct A: ActivityAttributes { struct ContentState: Codable { var x: [Int } }", "1:75: } stands where the [ of 1:70 is still open"),
    ("struct A: ActivityAttributes { struct ContentState: Codable { } var x: Int } }", "1:78: } closes nothing"),
    ("#if os(iOS)\nstruct A: ActivityAttributes { struct ContentState: Codable { } }", "1:1: the #if that stands here has no #endif"),
    ("#endif", "1:1: #endif without an #if"), ("\n#else", "2:1: #else without an #if"),
  ]) func aFileThatIsCutOffHasNoSchemas(text: String, message: String) {
    let source = SwiftSource(text)
    #expect(source.schemas.isEmpty)
    #expect(source.problems.map(\.description).contains { $0.hasPrefix(message) }, "\(source.problems)")
  }

  /// What is printed is read again, so that it is no deeper than JSON is read.
  @Test(arguments: [20, 26, 30, 40, 4800]) func aSchemaIsNoDeeperThanJSONIsRead(count: Int) throws {
    let types = (0..<count).map { "struct T\($0): Codable { var t: \($0 == count - 1 ? "Int" : "T\($0 + 1)") }" }
    let source = SwiftSource(types.joined(separator: "\n") + activity("A", "var t: T0"))
    if count <= 26 {
      #expect(source.problems.isEmpty)
      let file = JSONValue.object(["schemas": [.object(source.schemas)]]).serialized()
      _ = try JSONValue.parse(file)
    } else {
      #expect(source.problems.map(\.message).first?.contains("nested deeper than 56 levels here, and JSON is read to 64") == true)
    }
  }

  /// Other names, generic arguments, raw values and cases go deep as well.
  @Test func otherWaysToGoDeepAreBoundedToo() {
    let names = (0..<4800).map { "typealias T\($0) = T\($0 + 1)" }.joined(separator: "\n") + "\ntypealias T4800 = Int\n"
    #expect(problems(names + activity("A", "var t: T0"))[0].contains("deeper than 56 levels"))
    let cases = (0..<20).map { "enum T\($0): Codable { case a(T\($0 + 1)) }" }.joined(separator: "\n") + "\ntypealias T20 = Int\n"
    #expect(problems(cases + activity("A", "var t: T0"))[0].contains("deeper than 56 levels"))
    let pairs = "struct P<T: Codable>: Codable { var a: T; var b: T }\n"
    let nested = String(repeating: "P<", count: 24) + "Int" + String(repeating: ">", count: 24)
    #expect(problems(pairs + activity("A", "var t: \(nested)"))[0].contains("are too many"))
    let many = (0..<12).map { level in
      "struct T\(level): Codable { \((0..<10).map { "var p\($0): T\(level + 1)" }.joined(separator: "; ")) }"
    }
    let source = SwiftSource(many.joined(separator: "\n") + "\nstruct T12: Codable {}\n" + activity("A", "var t: T0"))
    #expect(source.problems.contains { $0.message.contains("are too many") })
    #expect(source.problems.count <= Limits.swiftSourceProblems)
    let deep = (0..<40).map { "enum E\($0) {" }.joined(separator: "\n") + String(repeating: "}", count: 40)
    #expect(problems(deep)[0].hasPrefix("33:6: declarations are nested deeper than 32 levels here"))
    #expect(problems("struct \(String(repeating: "a", count: 300)) {}")[0].contains("a name of 300 bytes is longer than the 256"))
  }

  /// As many types, and as many bytes of each, as `schemas set` takes.
  @Test func asMuchIsMadeAsCanBeSet() {
    let types = (0..<33).map { activity("A\($0)") }
    #expect(SwiftSource(types.prefix(32).joined(separator: "\n")).problems.isEmpty)
    #expect(
      problems(types.joined(separator: "\n")) == [
        "33:8: an app has schemas of at most 32 attributes types, and this is one more; give fewer"
      ])
    let source = SwiftSource(activity("A", (0..<4000).map { "var property\($0): Int" }.joined(separator: "\n")))
    #expect(source.schemas.isEmpty)
    #expect(source.problems.first?.message.contains("bytes, and 65536 are taken") == true, "\(source.problems)")
  }

  /// Texts whose parts repeat: the work grows with the text and no faster.
  @Test func repeatedTextsAreReadInBoundedTime() {
    for piece in [
      "{", "(", "[", "<", "@", "struct A {", "var a: [", "var a: A<", "/*", "\"\\(", "#if (", "@a(", "}", "enum A { case a(", "#", "(/\\",
      "/", "\"", "A&", "~", "?", "!",
      "var (", "init(from: ", "init<A: ", "case a=", "`", "\\", "@a.", "A.",
    ] {
      _ = SwiftSource("struct A: ActivityAttributes { struct ContentState { var x: " + String(repeating: piece, count: 20_000))
    }
  }

  /// What is not understood is left open: neither its key nor that it is there is affirmed.
  @Test func whatIsNotUnderstoodIsLeftOpen() {
    let source = SwiftSource(
      activity("A", "var a: Color; var b: Int; var k: K; struct K: Codable { struct CodingKeys: CodingKey {}; var x: Int }"))
    #expect(source.problems.count == 2)
    let state = source.schemas["A"]?["contentState"]
    #expect(state?["required"] == ["b"])
    #expect(state?["properties"]?["a"] == ["$comment": "not understood"])
    #expect(state?["properties"]?["k"] == ["$comment": "not understood"])
  }

  // MARK: Advice

  @Test func onlyNearNamesAreSuggested() {
    let found = problems(
      activity(
        "A", "\nvar a: Locale\nvar b: DateInterval\nvar c: Strng\nvar d: Stages\nvar e: Zone\nvar f: T\nvar g: Box<Int>.Inner")
        + "\nenum Stage: Codable { case a }\nstruct Box<T: Codable>: Codable { struct Inner: Codable { var t: T } }")
    #expect(found.count == 7)
    for (line, text) in zip(
      found,
      [
        #"its JSON is {"identifier": "en_US"}"#, #"{"start": 817692800"#, "did you mean String?", "did you mean Stage?",
        "put its declaration", "put its declaration", "10:66: T is a generic parameter of Box",
      ])
    {
      #expect(line.contains(text), "\(line)")
    }
    #expect(found.filter { $0.contains("Float64") }.count == 1, "\(found)")
    #expect(found[2].contains("known are the types that the file declares"))
  }

  /// A type's parameter is not that of another.
  @Test func parametersBelongToTheirTypes() throws {
    let source = SwiftSource(
      """
      struct T: Codable { var real: Int }
      struct Other: Codable { var t: T }
      struct Box<T: Codable>: Codable { struct Inner: Codable { var t: T }; var inner: Inner; var other: Other; var value: T; var list: [T] }
      typealias Same<T> = T
      """ + "\n" + activity("A", "var box: Box<Int?>; var same: Same<Int?>; var nested: Box<Box<String>>"))
    #expect(source.problems.isEmpty, "\(source.problems)")
    let state = try #require(source.schemas["A"]?["contentState"])
    let box = state["properties"]?["box"]
    #expect(box?["properties"]?["other"]?["properties"]?["t"]?["properties"]?["real"] == ["type": "integer"])
    #expect(box?["properties"]?["value"] == ["type": ["integer", "null"]])
    #expect(box?["properties"]?["inner"]?["properties"]?["t"] == ["type": ["integer", "null"]])
    #expect(box?["required"] == ["inner", "other", "value", "list"])
    #expect(state["required"] == ["box", "nested"])
    #expect(state["properties"]?["nested"]?["properties"]?["value"]?["properties"]?["value"] == ["type": "string"])
  }

  @Test func conditionsAreThoseOfANewCompilerOnADevice() {
    let conditions = [
      ("swift(>=5.9)", true), ("swift(<6)", false), ("compiler(<6.1)", false), ("canImport(AppKit)", false),
      ("canImport(ActivityKit)", true),
      ("arch(arm64)", true), ("targetEnvironment(simulator)", false), ("os(iOS) && !DEBUG", true),
    ]
    for (condition, holds) in conditions {
      let source = SwiftSource(activity("A", "\n#if \(condition)\nvar yes: Int\n#else\nvar no: Int\n#endif\n"))
      #expect(source.schemas["A"]?["contentState"]?["required"] == [holds ? "yes" : "no"], "\(condition)")
    }
  }
}
