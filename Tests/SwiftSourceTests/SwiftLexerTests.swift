import Primitives
import Seeds
import Testing

@testable import SwiftSource

/// The lexer consumes something at each turn, whatever the text: no text keeps it for ever, and no two tokens begin at one place.
@Suite("Tokens of Swift source") struct SwiftLexerTests {
  private func tokens(_ text: String) -> [SwiftToken] { SwiftLexer.read(text).tokens }

  /// Every scalar of a plane, alone, and within a name.
  @Test(arguments: UInt32(0)...16) func everyScalarIsConsumed(plane: UInt32) {
    for value in plane << 16...plane << 16 | 0xFFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let alone = tokens(String(scalar))
      var isRight = alone.count <= 1 && alone.allSatisfy { $0.place == SourcePlace(line: 1, column: 1) }
      // What stands behind it is read as if it were not there, but for what opens a literal.
      let within = tokens("a\(scalar)b c")
      if scalar != "\"" && scalar != "`" { isRight = isRight && within.last?.kind == .word("c") && within.count <= 4 }
      if !isRight { Issue.record("U+\(String(value, radix: 16)): \(alone.map(\.kind)) \(within.map(\.kind))") }
    }
  }

  /// Digits that are none of ASCII belong to names, as in Swift.
  @Test func digitsOfOtherScriptsAreNames() {
    for name in ["一般", "½", "②", "٣", "1️⃣", "x²"] where name.unicodeScalars.first?.isASCII == false || name == "x²" {
      #expect(tokens("case \(name)").map(\.kind) == [.word("case"), .word(name)])
    }
    #expect(tokens("1️⃣").map(\.kind) == [.integer(1), .word("\u{FE0F}\u{20E3}")])
    let source = SwiftSource(
      "struct A: ActivityAttributes { struct ContentState: Codable { var k: K }; enum K: String, Codable { case 一般, ½, ②, ٣ } }")
    #expect(source.schemas["A"]?["contentState"]?["properties"]?["k"] == ["type": "string", "enum": ["一般", "½", "②", "٣"]])
  }

  /// Lines end where compilers end them; a comment goes on over what other software takes for the end of a line.
  @Test func linesEndWithCarriageReturnAndLineFeedAlone() {
    #expect(tokens("a\r\nb\rc\nd").map(\.place.line) == [1, 2, 3, 4])
    #expect(tokens("// a\u{2028}b\u{85}c\u{B}d").isEmpty)
  }

  @Test func regularExpressionsAreOneToken() {
    #expect(tokens(#"x = /"}{/"#).map(\.kind) == [.word("x"), .mark("="), .regularExpression])
    #expect(tokens("f(/[}]/, #/ \" /#)").map(\.kind).filter { $0 == .regularExpression }.count == 2)
    #expect(tokens("a / b / c; (a)/b/c").allSatisfy { $0.kind != .regularExpression })
  }

  @Test(arguments: [
    ("/* a /* b */", "1:1: the comment"), ("x = \"abc\ny", "1:5: the string"), ("\"\"\"\n a\"", "1:1: the string"),
    ("f(\"\\(a\")", "1:5: the interpolation"),
    ("#/ a", "1:1: the regular expression"),
  ]) func whatIsNotClosedIsNamed(text: String, message: String) {
    let problems = SwiftSource(text).problems.map(\.description)
    #expect(problems.contains { $0.hasPrefix(message) && $0.contains("not closed") }, "\(problems)")
  }

  /// Random pieces of source and random scalars.
  @Test func anyTextIsReadOnce() {
    let pieces = [
      "struct A: ActivityAttributes {", "struct ContentState: Codable {", "var x: Int", "let (a, b): (Int, ", "enum E: String { case a = ",
      "\"", "\"\"\"", "\\(", "#\"",
      "#", "/", "/*", "*/", "//", "`", "\n", "{", "}", "(", ")", "[", "]", "<", ">", "@a", "#if X", "#else", "#endif", "1.5e+", "0x", "½",
      "1️⃣", "\r\n", "extension A", "typealias B = ",
      "init(from: ", "~", "&", ":", ",", "=", "?", "->", "some ", "protocol P: ", "case a(b: ", "import X;",
    ]
    for seed in seeds(3_000) {
      var generator = SplitMix64(seed: seed)
      var text = ""
      for _ in 0...generator.next() % 24 {
        if generator.next() % 4 == 0, let scalar = Unicode.Scalar(UInt32(generator.next() % 0x11_0000)) {
          text.unicodeScalars.append(scalar)
        } else {
          text += pieces[Int(generator.next() % UInt64(pieces.count))]
        }
        if generator.next() % 2 == 0 { text += " " }
      }
      let places = tokens(text).map(\.place)
      #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): \(text)")
      #expect(places.count <= text.unicodeScalars.count, "seed \(seed): \(text)")
      let source = SwiftSource(text)
      #expect(!source.schemas.isEmpty || !source.problems.isEmpty, "seed \(seed): \(text)")
    }
  }

  /// A file that is cut off anywhere has schemas of the whole, or a problem.
  @Test func everyPrefixOfAFileIsWholeOrRefused() {
    for text in [SwiftSourceTests.delivery, SwiftConformanceTests.many] {
      let whole = SwiftSource(text)
      #expect(whole.problems.isEmpty && !whole.schemas.isEmpty, "\(whole.problems)")
      for count in 0..<text.count {
        let source = SwiftSource(String(text.prefix(count)))
        let isPart = source.schemas.allSatisfy { whole.schemas[$0.key] == $0.value }
        #expect(
          !source.problems.isEmpty || isPart, "\(text.prefix(count).suffix(80))")
        _ = SwiftSource(String(text.suffix(count)))
      }
    }
  }
}
