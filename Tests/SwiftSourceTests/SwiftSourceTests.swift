import JSON
import Testing

@testable import SwiftSource

@Suite("Schemas of Swift source") struct SwiftSourceTests {
  /// The content-state's schema of a struct `A` with these members in its `ContentState`, and the whole file for others.
  private func state(_ members: String, also: String = "") throws -> JSONValue {
    let source = SwiftSource("\(also)\nstruct A: ActivityAttributes {\nstruct ContentState: Codable, Hashable {\n\(members)\n}\n}")
    #expect(source.problems.isEmpty, "\(source.problems)")
    return try #require(source.schemas["A"]?["contentState"])
  }

  /// What is told of such a struct.
  private func problems(_ members: String, also: String = "") -> [String] {
    SwiftSource("struct A: ActivityAttributes { struct ContentState: Codable, Hashable {\n\(members)\n} }\n\(also)").problems.map(
      \.description)
  }

  private func object(_ properties: JSONValue, _ required: JSONValue...) -> JSONValue {
    var object: JSONObject = ["type": "object", "properties": properties]
    if !required.isEmpty { object["required"] = .array(required) }
    return .object(object)
  }

  static let delivery = #"""
    //  DeliveryAttributes.swift
    #if canImport(ActivityKit)
    import ActivityKit
    #endif
    import SwiftUI

    /// A delivery. "struct Wrong: ActivityAttributes {" /* nested /* comment */ */
    @available(iOS 16.2, *)
    public struct DeliveryAttributes: ActivityAttributes, Identifiable {
      public typealias DeliveryStatus = ContentState

      public struct ContentState: Codable & Hashable {
        public var driverName: String   // shown first
        var deliveryTimer: ClosedRange<Date>
        fileprivate(set) var stage: Stage = .packed
        let version = 3
        var retries = 0, label = "a \(1 + 2) {"
        var note: String? { didSet { print("}") } }
        static let shared = ContentState.preview
        lazy var cache: NSCache<NSString, UIImage> = { NSCache() }()
        var title: String {
          stage == .packed ? "Packed" : "Sent"
        }
        var isLate: Bool { get { false } set { } }

        init(driverName: String, timer: ClosedRange<Date> = .now ... .now) { self.driverName = driverName }
        func hash(into hasher: inout Hasher) { hasher.combine(driverName) }
      }

      enum Stage: String, Codable, CaseIterable {
        case packed, sent
        case handedOver = "handed-over"
        var next: Stage { switch self { case .packed: .sent; case .sent, .handedOver: .handedOver } }
      }

      public let id: UUID
      var orderNumber: Int
      var `class`: Optional<String>
      #if DEBUG
      var debugID: Color
      #else
      var items: [String: [Item]]
      #endif
    }

    extension DeliveryAttributes {
      struct Item: Codable { let name: String; var count: UInt8 }
      var summary: String { "\(orderNumber)" }
    }

    #Preview("Lock", as: .content, using: DeliveryAttributes(id: .init())) { DeliveryWidget() }
    """#

  /// As Apple's documentation and sample code have it.
  @Test func aFileAsPeopleWriteIt() throws {
    let source = SwiftSource(Self.delivery)
    #expect(source.problems.isEmpty, "\(source.problems)")
    #expect(source.schemas.keys == ["DeliveryAttributes"])
    let schemas = try #require(source.schemas["DeliveryAttributes"])
    let item = object(["name": ["type": "string"], "count": ["type": "integer", "format": "uint8"]], "name", "count")
    #expect(
      schemas["attributes"]
        == object(
          [
            "id": ["type": "string", "format": "uuid"], "orderNumber": ["type": "integer"], "class": ["type": "string"],
            "items": ["type": "object", "additionalProperties": ["type": "array", "items": item]],
          ], "id", "orderNumber", "items"))
    #expect(
      schemas["contentState"]
        == object(
          [
            "driverName": ["type": "string"],
            "deliveryTimer": ["type": "array", "format": "range", "items": ["type": "number", "format": "date2001"]],
            "stage": ["type": "string", "enum": ["packed", "sent", "handed-over"]], "retries": ["type": "integer"],
            "label": ["type": "string"], "note": ["type": "string"],
          ], "driverName", "deliveryTimer", "stage", "retries", "label"))
  }

  @Test func aContentStateMayStandInAnExtensionOrHaveAnotherName() throws {
    let source = SwiftSource(
      """
      struct A {}
      extension A: ActivityKit.ActivityAttributes { public struct ContentState: Codable { var x: Int } }
      struct Shared: Codable, Hashable { var y: Int }
      struct B: ActivityAttributes { typealias ContentState = Shared }
      """)
    #expect(source.problems.isEmpty)
    #expect(source.schemas["A"]?["contentState"] == object(["x": ["type": "integer"]], "x"))
    #expect(source.schemas["B"]?["contentState"] == object(["y": ["type": "integer"]], "y"))
    #expect(source.schemas["B"]?["attributes"] == object([:]))
  }

  @Test func typesAreToldFromValues() throws {
    let schema = try state(
      """
      var a = -5, b = 1.5, c = true
      var d = "x"
      var e = Date()
      var f = Stage.on
      var g = [String: Int]()
      var h: Int = [1, 2]
        .map { $0 }
        .count
      let i: Int
      """, also: "enum Stage: Int, Codable { case off, on = 0x10, next, last = -1 }")
    let properties = try #require(schema["properties"])
    #expect(properties["a"] == ["type": "integer"])
    #expect(properties["b"] == ["type": "number"])
    #expect(properties["c"] == ["type": "boolean"])
    #expect(properties["d"] == ["type": "string"])
    #expect(properties["e"] == ["type": "number", "format": "date2001"])
    #expect(properties["f"] == ["type": "integer", "enum": [0, 16, 17, -1]])
    #expect(properties["g"] == ["type": "object", "additionalProperties": ["type": "integer"]])
    #expect(properties.objectValue?.keys.suffix(2) == ["h", "i"])
  }

  @Test func genericsOptionalsAndKeys() throws {
    let also = """
      struct Box<Value: Codable & Hashable>: Codable { var value: Value; var rest: [Value?] }
      enum Team: String, Codable, CodingKeyRepresentable { case red, blue }
      enum Side: String, Codable { case left }
      struct Kind: RawRepresentable, Codable { var rawValue: String }
      typealias Names = [String]
      typealias Maybe<T> = T?
      """
    let schema = try state(
      """
      var box: Box<Foundation.Date>
      var byTeam: [Team: Int]
      var bySide: Dictionary<Side, Int>
      var byKind: [Kind: Int]
      var kind: Kind!
      var names: Names
      var perhaps: Maybe<Int>
      var a, b: Set<Int>
      """, also: also)
    let properties = try #require(schema["properties"])
    let date: JSONValue = ["type": "number", "format": "date2001"]
    #expect(
      properties["box"]
        == object(
          ["value": date, "rest": ["type": "array", "items": ["type": ["number", "null"], "format": "date2001"]]], "value", "rest"))
    #expect(
      properties["byTeam"]
        == [
          "type": "object", "propertyNames": ["type": "string", "enum": ["red", "blue"]], "additionalProperties": ["type": "integer"],
        ])
    #expect(properties["bySide"] == ["type": "array", "prefixItems": [["type": "string", "enum": ["left"]], ["type": "integer"]]])
    #expect(properties["byKind"] == ["type": "array", "prefixItems": [["type": "string"], ["type": "integer"]]])
    #expect(properties["a"] == ["type": "array", "items": ["type": "integer"], "uniqueItems": true])
    #expect(schema["required"] == ["box", "byTeam", "bySide", "byKind", "names", "a", "b"])
    _ = try CodableSchema(schema, at: "schema")
  }

  @Test func codingKeysRenameAndLeaveOut() throws {
    let schema = try state(
      """
      private enum CodingKeys: String, CodingKey { case title = "t", `in` }
      var title: String
      var `in`: Move
      var cache = Cache()
      """,
      also: """
        indirect enum Move: Codable {
          case castle, step(Int, to: Int?), jump(_ by: Double = 1)
          enum CodingKeys: String, CodingKey { case castle = "c", step }
          enum StepCodingKeys: String, CodingKey { case _0 = "by", to }
        }
        """)
    let step = object(["by": ["type": "integer"], "to": ["type": "integer"]], "by")
    #expect(
      schema
        == object(
          [
            "t": ["type": "string"],
            "in": ["type": "object", "oneOf": [object(["c": object([:])], "c"), object(["step": step], "step")]],
          ], "t", "in"))
  }

  /// Each with its line and column, and with what would be right.
  @Test(arguments: [
    ("var tint: Color", "2:11: Color is no type of this file"), ("var when: Dat", "2:11: Dat is no type"),
    ("var when: Dat", "did you mean Date?"),
    ("var pair: (Int, Int)", "2:11: a tuple does not decode"), ("var run: @Sendable () -> Void", "a function does not decode"),
    ("@Published var count: Int", "2:16: count is wrapped by @Published"), ("var x = make()", "2:5: the type of x is not written"),
    ("var node: Node\nstruct Node: Codable { var next: [Node] }", "3:35: A.ContentState.Node holds itself"),
    ("init(from decoder: any Decoder) throws {}", "2:1: A.ContentState has an init(from:) of its own"),
    ("var level: Level\nenum Level: Double, Codable { case a = 1.5 }", "3:6: A.ContentState.Level has raw values of type Double"),
    (
      "var a: Box<Int, Int>\nstruct Box<T: Codable>: Codable { var t: T }",
      "2:8: A.ContentState.Box has 1 generic parameters, and 2 are given"
    ),
    ("var none: Never2\nenum Never2: Codable {}", "3:6: A.ContentState.Never2 has no cases"),
    ("struct CodingKeys: CodingKey {}", "is no enum"),
    ("var (x, y) = point()\nvar z: Int", "2:5: the type of x is not written"), ("var (x, y): (Int, Int, Int)", "2:5: the type of x"),
    ("var (x, (y, z)): (Int, (Int, Int))", "a tuple does not decode"),
    ("var limit = Config.most\nstruct Config: Codable { static let most = 5 }", "2:5: the type of limit is not written"),
    ("var link = URL(string: \"a\")", "the type of link is not written"), ("var share = 5\n + 0.5", "the type of share is not written"),
    ("@Wrapped var x: Int\n@propertyWrapper struct Wrapped { var wrappedValue: Int }", "2:14: x is wrapped by @Wrapped"),
    ("@lower var x: Int", "x is wrapped by @lower"), ("#Members", "the macro #Members may declare what is decoded"),
    ("var x: Item\nstruct Item { var y: Int }", "3:8: A.ContentState.Item is not said to be Codable in this file"),
    ("var x: Item\n@Observable class Item: Codable { var y: Int }", "has the macro @Observable"),
    ("var who: Who\nactor Who {}", "Who is an actor, into which nothing decodes"),
    (
      "enum CodingKeys: String, CodingKey { case x = \"\"\"\n a\n \"\"\" }\nvar x: Int",
      "the key of A.ContentState.CodingKeys.x is not understood"
    ),
    ("enum CodingKeys: CodingKey { case x; var stringValue: String { \"y\" } }\nvar x: Int", "makes its keys itself"),
    ("var loop: Loop\ntypealias Loop = Loop2\ntypealias Loop2 = Loop", "stands for itself"),
  ]) func whatIsNotUnderstoodIsNamed(members: String, message: String) {
    let found = problems(members)
    #expect(found.contains { $0.contains(message) }, "\(found)")
  }

  @Test func aFileWithoutAttributesSaysSo() {
    #expect(
      SwiftSource("struct A: Codable {}").problems.first?.message.contains("no struct of this file conforms to ActivityAttributes") == true)
    #expect(
      SwiftSource("struct A: ActivityAttributes { var x: Int }").problems.map(\.description) == [
        "1:8: A has no ContentState in this file; declare it within the struct or an extension of it"
      ])
    #expect(SwiftSource(String(repeating: "a", count: 600_000)).problems.first?.message.contains("bytes") == true)
  }
}
