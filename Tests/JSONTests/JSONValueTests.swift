import JSON
import Testing

@Suite("JSON values") struct JSONValueTests {
  /// Others choose what stands in it, and people print it.
  @Test func whatSteersIsEscaped() throws {
    let text = "a\u{1B}b\u{85}c\u{9B}31md\u{202E}e\u{2028}f\u{2069}g\u{7F}é"
    let value: JSONValue = [text: .string(text)]
    let escaped = #""a\u001bb\u0085c\u009b31md\u202ee\u2028f\u2069g\u007fé""#
    #expect(value.serialized() == "{\(escaped):\(escaped)}")
    #expect(try JSONValue.parse(value.serialized()) == value && JSONValue.parse(value.serialized(pretty: true)) == value)
    // What is sent on keeps its bytes.
    #expect(value.serialized(verbatim: true).utf8.count == 2 * (text.utf8.count + 5 + 2) + 3)
    #expect(try JSONValue.parse(value.serialized(verbatim: true)) == value)
  }

  /// All that marks or turns the direction of writing, the marks that are seen nowhere included.
  @Test func directionalMarksAreEscaped() throws {
    for value: UInt32 in [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069) {
      let mark = try #require(Unicode.Scalar(value))
      let text = JSONValue.string("a\(mark)b").serialized()
      let digits = String(value, radix: 16)
      #expect(text == "\"a\\u" + String(repeating: "0", count: 4 - digits.count) + digits + "b\"")
      #expect(try JSONValue.parse(text) == .string("a\(mark)b"))
    }
  }

  @Test func writesCompactAndInOrder() {
    let value: JSONValue = ["b": [1, 2.5, nil, true], "a": ["x": "q\"\\\n\t\u{1}é"], "empty": [:], "none": []]
    #expect(value.serialized() == #"{"b":[1,2.5,null,true],"a":{"x":"q\"\\\n\t\u0001é"},"empty":{},"none":[]}"#)
  }

  @Test func writesPretty() {
    let value: JSONValue = ["b": [1, [:]], "a": "x"]
    #expect(value.serialized(pretty: true) == "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"x\"\n}")
  }

  @Test(arguments: ["0", "-9223372036854775808", "9223372036854775807", "0.1", "1e+300", "\"\\u0000\"", "[[],{},[{\"a\":null}]]"])
  func readsWhatItWrites(text: String) throws {
    let value = try JSONValue.parse(text)
    #expect(try JSONValue.parse(value.serialized()) == value)
    #expect(try JSONValue.parse(value.serialized(pretty: true)) == value)
  }

  @Test func objectsKeepOrderAndCompareWithoutIt() {
    var object: JSONObject = ["a": 1, "b": 2, "a": 3]
    #expect(object.keys == ["a", "b"])
    #expect(object["a"] == 3)
    #expect(object == ["b": 2, "a": 3])
    #expect(object.hashValue == (["b": 2, "a": 3] as JSONObject).hashValue)
    object["a"] = nil
    object["c"] = .null
    #expect(object.map(\.key) == ["b", "c"])
    #expect(object["c"] == .null)
    #expect(object["a"] == nil)
  }

  @Test func accessorsAnswerOnlyForTheirKind() {
    let values: [JSONValue] = [nil, true, 1, 1.5, "s", [], [:]]
    #expect(values.map { $0.boolValue != nil } == [false, true, false, false, false, false, false])
    #expect(values.map { $0.intValue != nil } == [false, false, true, false, false, false, false])
    #expect(values.map(\.isNumber) == [false, false, true, true, false, false, false])
    #expect(values.map { $0.stringValue != nil } == [false, false, false, false, true, false, false])
    #expect(values.map { $0.arrayValue != nil } == [false, false, false, false, false, true, false])
    #expect(values.map { $0.objectValue != nil } == [false, false, false, false, false, false, true])
    #expect(values.map(\.isNull) == [true, false, false, false, false, false, false])
    #expect(values.map(\.kindName) == ["null", "true", "a number", "a number", "a string", "an array", "an object"])
  }
}

@Suite("JSON reader") struct JSONReaderTests {
  /// Reads a small registration, as a route would.
  private func read(_ value: JSONValue, at path: String = "") throws(FieldError) -> String {
    var reader = try JSONReader(value, at: path)
    let type = try reader.choice("type", of: ["widgets", "controls"])
    let upstream = try reader.optionalString("upstream") ?? "-"
    let user = try reader.optionalStrings("users")?.joined(separator: "+") ?? "-"
    let seconds = try reader.optionalInteger("seconds", in: 0...10) ?? -1
    let ratio = try reader.optionalNumber("ratio", in: 0...1) ?? -1
    let flag = try reader.optionalBool("flag") ?? false
    var kinds: [String] = []
    for var widget in try reader.optionalObjects("widgets", max: 2) ?? [] {
      kinds.append(try widget.string("kind"))
      try widget.finish()
    }
    if var control = try reader.optionalObject("control") { kinds.append(try control.string("kind")) }
    let extra = reader.optionalValue("extra")?.serialized() ?? "-"
    try reader.finish()
    return "\(type) \(upstream) \(user) \(seconds) \(ratio) \(flag) \(kinds) \(extra)"
  }

  @Test func readsWhatIsThere() throws {
    #expect(try read(["type": "controls", "upstream": nil]) == "controls - - -1 -1.0 false [] -")
    let full: JSONValue = [
      "type": "widgets", "upstream": "mock", "users": ["a", "b"], "seconds": 10, "ratio": 1, "flag": true, "widgets": [["kind": "K"]],
      "control": ["kind": "C"], "extra": [1],
    ]
    #expect(try read(full) == #"widgets mock a+b 10 1.0 true ["K", "C"] [1]"#)
  }

  static let faults: [(JSONValue, field: String, message: String)] = [
    ([1], "body", "body must be a JSON object, not an array"),
    ([:], "type", #"type is missing; it must be "widgets" or "controls""#),
    (["type": 1], "type", "type must be a string, not 1"),
    (["type": "widget"], "type", #"type must be "widgets" or "controls", not "widget"; did you mean "widgets"?"#),
    (["type": "widgets", "users": ["a", 1]], "users", "users must be a list of strings, not an array"),
    (["type": "widgets", "seconds": 11], "seconds", "seconds must be an integer from 0 to 10, not 11"),
    (["type": "widgets", "seconds": "1"], "seconds", "seconds must be an integer from 0 to 10, not a string"),
    (["type": "widgets", "flag": "true"], "flag", "flag must be true or false, not a string"),
    (["type": "widgets", "widgets": [["kind": "a"], [:]]], "widgets[1].kind", "widgets[1].kind is missing; it must be a string"),
    (["type": "widgets", "widgets": [1]], "widgets[0]", "widgets[0] must be a JSON object, not a number"),
    (["type": "widgets", "widgets": [[:], [:], [:]]], "widgets", "widgets must have at most 2 entries, not 3"),
    (
      ["type": "widgets", "widgets": [["kind": "a", "knd": 1]]], "widgets[0].knd",
      #"widgets[0].knd is not a known field; did you mean "kind"?"#
    ),
    (["type": "widgets", "upstreem": "x"], "upstreem", #"upstreem is not a known field; did you mean "upstream"?"#),
  ]

  @Test(arguments: faults.indices) func namesTheFieldAndTheRightForm(index: Int) throws {
    let (value, field, message) = Self.faults[index]
    let error = try #require(throws: FieldError.self) { try read(value) }
    #expect(error == FieldError(field: field, message: message))
  }

  @Test func prefixesThePath() throws {
    let error = #expect(throws: FieldError.self) { try read([:], at: "apps[2]") }
    #expect(error?.field == "apps[2].type")
  }
}
