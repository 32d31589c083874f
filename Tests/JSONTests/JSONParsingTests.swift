import Foundation
import JSON
import Primitives
import Testing

@Suite("JSON parsing") struct JSONParsingTests {
  @Test func readsEveryKindOfValue() throws {
    let value = try JSONValue.parse(
      #" {"null":null,"yes":true,"no":false,"int":-12,"big":9223372036854775808,"real":1.5e2,"text":"a\n\u00e9\ud83d\ude00é","list":[1,[],{}]} "#
    )
    #expect(value["null"] == .null)
    #expect(value["yes"] == true)
    #expect(value["no"]?.boolValue == false)
    #expect(value["int"]?.intValue == -12)
    #expect(value["big"] == .decimal(JSONDecimal("9223372036854775808")))
    #expect(value["real"] == .number(150))
    #expect(value["real"]?.intValue == 150)
    #expect(value["text"]?.stringValue == "a\né😀é")
    #expect(value["list"]?[1] == [])
    #expect(value["list"]?[3] == nil)
    #expect(value.objectValue?.keys == ["null", "yes", "no", "int", "big", "real", "text", "list"])
  }

  /// Each fault with its place; `^` marks the byte where it is seen.
  static let faults: [(String, JSONError.Problem, line: Int, column: Int)] = [
    ("", .empty, 1, 1), (" \n ", .empty, 2, 2), ("{", .unexpectedEnd, 1, 2), ("[1", .unexpectedEnd, 1, 3), ("\"ab", .unexpectedEnd, 1, 4),
    ("{\"a\"", .unexpectedEnd, 1, 5), ("{\"a\":", .unexpectedEnd, 1, 6), ("-", .unexpectedEnd, 1, 2), ("\"\\u12", .unexpectedEnd, 1, 2),
    ("\u{FEFF}{}", .byteOrderMark, 1, 1), ("{\"a\":}", .valueExpected, 1, 6), ("[,1]", .valueExpected, 1, 2),
    ("True", .valueExpected, 1, 1),
    ("tru", .valueExpected, 1, 1), ("nul1", .valueExpected, 1, 1), ("NaN", .valueExpected, 1, 1), ("{'a':1}", .keyExpected, 1, 2),
    ("{a:1}", .keyExpected, 1, 2), ("{\"a\" 1}", .colonExpected, 1, 6), ("{\"a\":1 \"b\":2}", .objectCommaExpected, 1, 8),
    ("[1 2]", .arrayCommaExpected, 1, 4), ("[1}", .arrayCommaExpected, 1, 3), ("{\"a\":1]", .objectCommaExpected, 1, 7),
    ("{\"a\":1,}", .trailingComma, 1, 8), ("[1,\n]", .trailingComma, 2, 1), ("{} {}", .trailingData, 1, 4),
    ("1 // one", .trailingData, 1, 3),
    ("01", .leadingZero, 1, 1), ("-012", .leadingZero, 1, 2), ("1.", .unexpectedEnd, 1, 3), ("[1.]", .digitExpected, 1, 4),
    ("[1e+]", .digitExpected, 1, 5), ("[-]", .digitExpected, 1, 3), ("1e999", .numberOutOfRange, 1, 1),
    ("\"a\tb\"", .controlCharacter, 1, 3),
    ("\"\\x41\"", .badEscape, 1, 2), ("\"\\u12g4\"", .badEscape, 1, 2), ("\"\\ud800\"", .unpairedSurrogate, 1, 2),
    ("\"\\ud800\\u0041\"", .unpairedSurrogate, 1, 2), ("\"é\\udc00\"", .unpairedSurrogate, 1, 3),
    ("{\"a\":1,\"\\u0061\":2}", .duplicateKey("a"), 1, 8),
    ("{\"a\":{\"b\":1},\n \"a\":2}", .duplicateKey("a"), 2, 2),
  ]

  @Test(arguments: faults.indices) func namesTheFaultAndItsPlace(index: Int) throws {
    let (text, problem, line, column) = Self.faults[index]
    let error = try #require(throws: JSONError.self) { try JSONValue.parse(text) }
    #expect(error.problem == problem, "\(text)")
    #expect(error.line == line, "\(text)")
    #expect(error.column == column, "\(text)")
    #expect(error.description == "line \(line), column \(column): \(error.sentence)")
    #expect(throws: JSONError.self, "\(text)") { try scan(text) }
  }

  /// Foundation, by which senders and devices write and read payloads, draws the line at the same number.
  @Test(arguments: [
    "1e400", "-1e309", "1.7976931348623157e308", "1e-400", "9223372036854775808", "1" + String(repeating: "0", count: 308),
    "1" + String(repeating: "0", count: 309), "-" + String(repeating: "9", count: 400), "0.5E+1",
  ])
  func aNumberIsWhatADoubleHolds(number: String) throws {
    let text = "{\"n\":\(number)}"
    let isTaken = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
    #expect(((try? JSONValue.parse(text)) != nil) == isTaken)
    let bytes = Array(text.utf8)
    var scanner = JSONScanner(bytes.span.bytes, depthMax: 64)
    var isScanned = true
    do { try scanner.skipValue() } catch { isScanned = false }
    #expect(isScanned == isTaken)
  }

  /// The scanner alone, with its own check for duplicates.
  private func scan(_ text: String) throws {
    let bytes = Array(text.utf8)
    var scanner = JSONScanner(bytes.span.bytes, depthMax: 64)
    try scanner.skipValue()
    try scanner.finish()
  }

  @Test func refusesInvalidUTF8() {
    let sequences: [[UInt8]] = [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x9F, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF0, 0x8F, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x98, 0x28],
    ]
    for sequence in sequences {
      #expect(String(validating: sequence, as: UTF8.self) == nil)
      #expect(throws: JSONError.self) { try JSONValue.parse([0x22] + sequence + [0x22]) }
    }
  }

  @Test func acceptsEveryScalar() throws {
    for value in stride(from: UInt32(0x20), through: 0x10FFFF, by: 97) {
      guard let scalar = Unicode.Scalar(value), scalar != "\"", scalar != "\\" else { continue }
      let text = String(Character(scalar))
      #expect(try JSONValue.parse("\"\(text)\"") == .string(text))
    }
  }

  @Test func boundsTheDepth() throws {
    let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(throws: Never.self) { try JSONValue.parse(deepest) }
    let error = #expect(throws: JSONError.self) { try JSONValue.parse("[" + deepest + "]") }
    #expect(error?.problem == .tooDeep(max: 64))
  }

  @Test(arguments: [63, 64, 65, 200]) func findsDuplicatesAmongManyKeys(count: Int) throws {
    var members = (0..<count).map { "\"key\($0)\":{\"key0\":0}" }
    #expect(throws: Never.self) { try scan("{\(members.joined(separator: ","))}") }
    members.append("\"key\(count / 2)\":1")
    let error = #expect(throws: JSONError.self) { try scan("{\(members.joined(separator: ","))}") }
    #expect(error?.problem == .duplicateKey("key\(count / 2)"))
  }

  /// Fractions of every length, short ones by the way that makes no text and long ones by the library's, give the nearest double.
  @Test func readsFractionsExactly() throws {
    var random = SplitMix64(seed: 3)
    for _ in 0..<5000 {
      let integer = String(random.next() % 1_000_000_000).prefix(Int(random.next() % 9) + 1)
      let fraction = String(random.next()).prefix(Int(random.next() % 12) + 1)
      let text = (random.next() % 2 == 0 ? "-" : "") + "\(Int64(integer) ?? 0).\(fraction)"
      #expect(try JSONValue.parse(text).doubleValue == Double(text), "\(text)")
    }
    for text in ["0.1", "-0.0", "721692800.25", "999999999999.999", "9999999999.99999", "1e-7", "1.5E+3"] {
      #expect(try JSONValue.parse(text) == .number(Double(text) ?? .nan), "\(text)")
    }
  }

  @Test func agreesWithFoundationOnMutatedInput() throws {
    var random = SplitMix64(seed: 7)
    let seed = Array(#"{"aps":{"content-changed":true,"n":[1,-2.5e3,null,false],"s":"x\u00e9\n"},"é":{}}"#.utf8)
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0..<Int(random.next() % 3 + 1) {
        let at = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[at] = Array("{}[]\":,\\0e-. tfn\u{1F}".utf8)[Int(random.next() % 17)]
        case 1: bytes.remove(at: at)
        default: bytes.insert(bytes[Int(random.next() % UInt64(bytes.count))], at: at)
        }
      }
      let ours = try? JSONValue.parse(bytes)
      let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      // Foundation lets duplicate keys and trailing commas pass; in everything else both agree.
      if ours == nil, theirs != nil {
        switch #expect(throws: JSONError.self, performing: { try JSONValue.parse(bytes) })?.problem {
        case .duplicateKey, .trailingComma: break
        default: Issue.record("only Foundation accepts \(String(decoding: bytes, as: UTF8.self))")
        }
      }
      if ours != nil, theirs == nil { Issue.record("only we accept \(String(decoding: bytes, as: UTF8.self))") }
    }
  }
}
