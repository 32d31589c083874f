import JSON
import Testing

@testable import SwiftSource

/// Which types are of Live Activities, and by what they decode.
@Suite("Conformances in Swift source") struct SwiftConformanceTests {
  /// Each way in which a struct may be said to conform.
  static let many = """
    protocol Trackable: ActivityAttributes {}
    protocol Timed where Self: Trackable {}
    typealias AA = ActivityKit.ActivityAttributes
    typealias Both = Sendable & AA
    struct ParcelAttributes: Timed { struct ContentState: Codable, Hashable { var a: Int } }
    struct BoxAttributes: AA { struct ContentState: Codable, Hashable { var b: Int } }
    struct HatAttributes: Sendable & ActivityAttributes { struct ContentState: Codable, Hashable { var c: Int } }
    struct BagAttributes: ~Copyable, Both { struct ContentState: Codable, Hashable { var d: Int } }
    struct CupAttributes { struct ContentState: Codable, Hashable { var e: Int } }
    typealias Cup = CupAttributes
    extension Cup: @unchecked Sendable, nonisolated Trackable {}
    struct MugAttributes: Trackable {}
    extension Trackable { typealias ContentState = SharedState }
    struct SharedState: Codable, Hashable { var f: Stage }
    extension Stage: Codable {}
    enum Stage: String { case packed, sent = "on its way" }
    """

  private func problems(_ text: String) -> [String] { SwiftSource(text).problems.map(\.description) }

  private func property(_ name: String, of members: String) throws -> JSONValue {
    let source = SwiftSource("struct A: ActivityAttributes { struct ContentState: Codable {\n\(members)\n} }")
    #expect(source.problems.isEmpty, "\(source.problems)")
    return try #require(source.schemas["A"]?["contentState"]?["properties"]?[name])
  }

  @Test func conformancesAreFollowed() {
    let source = SwiftSource(Self.many)
    #expect(source.problems.isEmpty, "\(source.problems)")
    #expect(
      source.schemas.keys == ["ParcelAttributes", "BoxAttributes", "HatAttributes", "BagAttributes", "CupAttributes", "MugAttributes"])
    let keys = source.schemas.map { $0.value["contentState"]?["properties"]?.objectValue?.keys.first }
    #expect(keys == ["a", "b", "c", "d", "e", "f"])
    #expect(
      source.schemas["MugAttributes"]?["contentState"]?["properties"]?["f"] == ["type": "string", "enum": ["packed", "on its way"]])
  }

  @Test(arguments: [
    (
      "struct B: Trackable { struct ContentState: Codable {} }",
      "Trackable is not declared in this file; write struct B: ActivityAttributes"
    ),
    ("struct B { typealias ContentState = Int }", "B has a ContentState, and is not seen to conform to ActivityAttributes; write"),
    ("extension B: ActivityAttributes { struct ContentState: Codable {} }", "B is extended here, and declared elsewhere"),
    ("struct B<T: Codable>: ActivityAttributes { struct ContentState: Codable {} }", "B is generic, and pushes name one type"),
    ("struct 一般: ActivityAttributes { struct ContentState: Codable {} }", "call 一般 otherwise"),
    (
      "enum X { struct A: ActivityAttributes { struct ContentState: Codable {} } }", "X.A has the name of A at 1:8, and pushes tell neither"
    ),
    ("struct A {}", "2:8: A is declared at 1:8 already"), ("typealias A = Int", "A is declared at 1:8 already"),
  ]) func whatIsLeftOutIsNamed(also: String, message: String) {
    let found = problems("struct A: ActivityAttributes { struct ContentState: Codable { var x: Int } }\n" + also)
    #expect(found.count == 1 && found[0].hasPrefix("2:") && found[0].contains(message), "\(found)")
  }

  /// Neither of two types of one name has a schema, since a push to the one would be judged by the other's.
  @Test func typesOfOneNameHaveNoSchema() {
    let types = ["B", "C"].map {
      "enum \($0) { struct X: ActivityAttributes { struct ContentState: Codable { var \($0.lowercased()): Int } } }"
    }
    let source = SwiftSource(types.joined(separator: "\n"))
    #expect(source.schemas.isEmpty)
    #expect(source.problems.map(\.description).first?.hasPrefix("2:17: C.X has the name of B.X at 1:17") == true, "\(source.problems)")
  }

  // MARK: What decodes

  @Test func theRawTypeIsTheFirstOfTheEnumerationItself() throws {
    let names: JSONValue = ["type": "string", "enum": ["a"]]
    #expect(try property("s", of: "var s: S\ntypealias Raw = String\nenum S: Raw, Codable { case a }") == names)
    #expect(
      try property(
        "s",
        of:
          "var s: S\nextension A.ContentState.S: Codable {}\nenum S: Swift.String { case a }\n}\n}\nextension A.ContentState.S: Codable {} \nenum E {enum F {"
      ) == names)
    #expect(try property("s", of: "var s: S\ntypealias Raw = UInt8\nenum S: Raw, Codable { case a }") == ["type": "integer", "enum": [0]])
    let values: JSONValue = try property("s", of: "var s: S\nenum S: Codable & Hashable { case a }")
    #expect(values["oneOf"] != nil)
    #expect(try property("s", of: "var s: S\nenum S: P, Codable { case a }\n}}\nprotocol P {}\nenum E {enum F {")["oneOf"] != nil)
  }

  @Test(arguments: [
    ("enum S: Foo, Codable { case a }", "3:9: Foo is no type of raw values, and no protocol that is known here"),
    ("enum S: Codable { case a = 1 }", "3:24: A.ContentState.S.a has a raw value, and A.ContentState.S no raw type"),
    ("struct R: Codable {}\nenum S: R, Codable { case a }", "has raw values of type A.ContentState.R"),
    ("enum S: Codable { case a; var rawValue: Int { 1 } }", "3:31: A.ContentState.S makes its raw values itself"),
    ("enum S: String, Codable { case a; init?(rawValue: String) { nil } }", "makes its raw values itself"),
    ("enum S: RawRepresentable, Codable { case a }", "makes its raw values itself"),
    (
      "class Base: Codable { var b: Int }\nfinal class S: Base { var s = 0 }",
      "4:13: A.ContentState.S inherits from the class A.ContentState.Base"
    ),
    ("class S: NSObject, Codable { var s = 0 }", "3:10: NSObject is not known here; where it is a class"),
    ("struct S: Codable { init(from d: any Decoder) throws {} }", "3:21: A.ContentState.S has an init(from:) of its own"),
    ("typealias D = Swift.Decoder\nstruct S: Codable { init(from: D) throws {} }", "has an init(from:) of its own"),
    ("struct S: Codable { init(from d: some Decoder) throws {} }", "the compiler does not take a generic init(from:)"),
    ("struct S: Codable { init<D: Decoder>(from d: D) throws {} }", "the compiler does not take a generic init(from:)"),
    ("struct S: RawRepresentable, Codable { init?(rawValue: Int) { nil }; var rawValue: Int }", "may refuse values"),
    ("struct S: RawRepresentable, Codable {}", "no type of a rawValue is seen here"),
    (
      "struct S: P { var a: Int }\n}}\nprotocol P: Codable {}\nextension P { init(from d: any Decoder) throws {} }\nenum E { enum F {",
      "6:15: A.ContentState.S decodes by the init(from:) of P"
    ),
    ("struct S: Codable {}\n}}\nextension KeyedDecodingContainer {}\nenum E { enum F {", "an extension of KeyedDecodingContainer"),
  ]) func whatDecodesOtherwiseIsNamed(also: String, message: String) {
    let found = problems("struct A: ActivityAttributes { struct ContentState: Codable {\nvar s: S\n\(also)\n} }")
    #expect(found.contains { $0.contains(message) }, "\(found)")
  }

  /// What looks like an `init(from:)` of `Decodable` and is none, or is about encoding, changes nothing.
  @Test(arguments: [
    "init(from order: Order) { s = 0 }", "init(from d: any Decoder, by: Int) {}", "func encode(to encoder: any Encoder) throws {}",
    "init<T: Collection>(from: T) {}",
    "init(from order: any Collection<Decoder>) {}", "static func make(from d: any Decoder) {}",
  ]) func othersAreNotTheTypesOwnDecoding(member: String) throws {
    #expect(try property("s", of: "var s: Int\n\(member)") == ["type": "integer"])
  }

  @Test func propertiesThatAreNotDecodedAreLeftOut() throws {
    let source = SwiftSource(
      """
      import A; struct A: ActivityAttributes { class Node: Codable { var v: Int; class var most: Int { 5 } }
      struct ContentState: Codable { lazy var a: Color = .red; static var b: Color = .red; weak var c: Node?; let d = Color.red; var e: Node
      nonisolated(unsafe) static let g = Color(1); let (x, y): (Int, String); @available(iOS 17, *) @MainActor var f: Int
      let (p, _) = (1, 2) } }
      """)
    #expect(source.problems.isEmpty, "\(source.problems)")
    let properties = try #require(source.schemas["A"]?["contentState"]?["properties"]?.objectValue)
    #expect(properties.keys == ["c", "e", "x", "y", "f"])
    #expect(source.schemas["A"]?["contentState"]?["required"] == ["e", "x", "y", "f"])
    #expect(properties["y"] == ["type": "string"])
  }
}
