import Primitives
import Testing
import YAML

@Suite("YAML") struct YAMLTests {
  @Test func aDocumentBecomesATreeWithPlaces() throws {
    let text = """
      # comment
      provider:
        port: 2197   # trailing
        names: [a, "b", 'c: d']
      apps:
        - bundleID: com.example.app
          empty:
        - |
          two
          lines
      """
    let root = try #require(try YAML.parse(text))
    #expect(root.mark == YAMLMark(line: 2, column: 1))
    #expect(root["provider"]?["port"] == YAMLNode(.scalar("2197", isPlain: true), at: YAMLMark(line: 3, column: 9)))
    let names = try #require(root["provider"]?["names"])
    #expect(
      names.content
        == .sequence([
          YAMLNode(.scalar("a", isPlain: true), at: YAMLMark(line: 4, column: 11)),
          YAMLNode(.scalar("b", isPlain: false), at: YAMLMark(line: 4, column: 14)),
          YAMLNode(.scalar("c: d", isPlain: false), at: YAMLMark(line: 4, column: 19)),
        ]))
    guard case .sequence(let apps)? = root["apps"]?.content else {
      Issue.record("apps is no list")
      return
    }
    #expect(apps.count == 2)
    #expect(apps[0]["empty"]?.isNull == true)
    #expect(apps[1].content == .scalar("two\nlines", isPlain: false))
    guard case .mapping(let entries) = root.content else { return }
    #expect(entries.map(\.key) == ["provider", "apps"])
    #expect(entries[1].keyMark == YAMLMark(line: 5, column: 1))
  }

  @Test(arguments: ["", "\n\n", "# nothing but words\n"]) func nothingIsNoDocument(text: String) throws {
    #expect(try YAML.parse(text) == nil)
  }

  @Test(arguments: [("~", true), ("null", true), ("\"null\"", false), ("''", false), ("no", false), ("[]", false)])
  func onlyPlainWordsAreNull(text: String, isNull: Bool) throws {
    #expect(try YAML.parse("key: \(text)")?["key"]?.isNull == isNull)
  }

  @Test func jsonIsYAML() throws {
    let root = try YAML.parse(#"{"a": {"b": [1, true, "x\n"]}}"#)
    guard case .sequence(let list)? = root?["a"]?["b"]?.content else {
      Issue.record("not a list")
      return
    }
    #expect(
      list.map(\.content) == [.scalar("1", isPlain: true), .scalar("true", isPlain: true), .scalar("x\n", isPlain: false)])
  }

  @Test(arguments: [
    ("a: 1\nb: 2\na: 3\n", 3, 1, "the key \"a\" stands here again; it was first given in line 1, column 1"),
    ("a:\n  - b: 1\n    b: 2\n", 3, 5, "the key \"b\" stands here again"),
    ("a: *x\n", 1, 4, "the alias *x stands for nothing"),
    ("a: &x [*x]\n", 1, 8, "the alias *x stands for nothing"),
    ("a: !!int 3\n", 1, 4, "the tag"),
    ("a: !thing {}\n", 1, 4, "the tag"),
    ("<<: {}\n", 1, 1, "merge keys are not supported"),
    ("? [a]\n: b\n", 1, 3, "a key must be plain text"),
    ("a: 1\n---\nb: 2\n", 2, 1, "a second document begins here"),
    ("a: [1, 2\nb: 3\n", 2, 2, "did not find expected"),
    ("a: 1\n b: 2\n", 2, 3, "mapping values are not allowed"),
    ("a:\n\t- b\n", 2, 1, "cannot start any token"),
    ("a: \"open\n", 2, 1, "unexpected end of stream"),
  ])
  func faultsHaveAPlaceAndASentence(text: String, line: Int, column: Int, sentence: String) {
    let error = #expect(throws: YAMLError.self) { try YAML.parse(text) }
    #expect(error?.mark == YAMLMark(line: line, column: column), "\(String(describing: error))")
    #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
    #expect(error?.description.hasPrefix("line \(line), column \(column): ") == true)
  }

  @Test func depthIsBounded() throws {
    let bounds = YAML.Bounds(nodesMax: 1000, depthMax: 8)
    #expect(throws: Never.self) {
      try YAML.parse(String(repeating: "[", count: 7) + "x" + String(repeating: "]", count: 7), bounds: bounds)
    }
    for open in [9, 100, 20_000] {
      let error = #expect(throws: YAMLError.self) { try YAML.parse(String(repeating: "[", count: open), bounds: bounds) }
      #expect(error?.message == "nested deeper than 8 levels")
    }
  }

  @Test func aliasesAreFollowedWithinTheBounds() throws {
    let root = try YAML.parse("a: &x {k: v}\nb: *x\nc: [*x, *x]\n")
    #expect(root?["b"]?["k"]?.content == .scalar("v", isPlain: true))
    #expect(root?["b"] == root?["a"])

    var laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...8 {
      laughs += "a\(level): &a\(level) [" + (0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", ") + "]\n"
    }
    let error = #expect(throws: YAMLError.self) { try YAML.parse(laughs) }
    #expect(error?.message.contains("more than 100000 values") == true)

    var chain = "a0: &a0 [x]\n"
    for level in 1...40 { chain += "a\(level): &a\(level) [*a\(level - 1)]\n" }
    let deep = #expect(throws: YAMLError.self) { try YAML.parse(chain) }
    #expect(deep?.message.contains("nested deeper than 32 levels through the alias") == true)
  }

  @Test func everyPrefixOfADocumentEndsWithoutATrap() {
    let text = "a: &x [1, \"two\", {b: 'c'}]\nd: |\n  text\ne: *x\n? f\n: - g\n"
    for count in 0...text.count { _ = try? YAML.parse(String(text.prefix(count))) }
  }

  @Test func randomTextEndsWithoutATrap() {
    var generator = SplitMix64(seed: 7)
    let alphabet = Array("ab:- \n[]{},&*!|>'\"#?%@`\t~0é")
    for _ in 0..<3000 {
      let text = String((0..<Int.random(in: 0..<40, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! })
      _ = try? YAML.parse(text)
    }
  }
}
