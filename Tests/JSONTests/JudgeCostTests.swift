import Primitives
import Seeds
import Testing

@testable import JSON

/// What judging a push costs hangs on the push, whatever schema somebody has set: one with thousands of properties stalls nobody.
@Suite("Cost of a judgement") struct JudgeCostTests {
  /// Values and keys in a value.
  private func size(_ value: JSONValue) -> Int {
    if let object = value.objectValue { return 1 + object.reduce(0) { $0 + 1 + size($1.value) } }
    return 1 + (value.arrayValue ?? []).reduce(0) { $0 + size($1) }
  }

  private func steps(_ schema: JSONValue, _ value: JSONValue, countMax: Int) throws -> Int {
    var judge = CodableJudge(now: Instant(unixSeconds: 1_800_000_000), countMax: countMax)
    judge.judge(value, by: try CodableSchema(schema, at: "s"), at: "s")
    return judge.steps
  }

  /// A list of many small objects, each with thousands of keys that may be there, or must.
  @Test(arguments: [false, true], [1, 100]) func manyPropertiesByManyElements(isRequired: Bool, countMax: Int) throws {
    let names = (0..<7000).map { "p\($0)" }
    var item: JSONObject = ["properties": .object(JSONObject(names.map { ($0, [:]) }))]
    if isRequired { item["required"] = .array(names.map(JSONValue.string)) }
    let schema: JSONValue = ["properties": ["l": ["items": .object(item)]]]
    let value: JSONValue = ["l": .array([JSONValue](repeating: ["p1": 1, "other": 2], count: 600))]
    #expect(try steps(schema, value, countMax: countMax) <= 3 * size(value) + 2 * countMax + 10)
  }

  /// The same for cases and raw values.
  @Test func manyCasesAndChoices() throws {
    let names = (0..<3000).map { "c\($0)" }
    let cases = names.map { ["required": [.string($0)], "properties": .object([$0: [:]])] as JSONValue }
    let value: JSONValue = .array([JSONValue](repeating: ["c2999": [:]], count: 1000))
    #expect(try steps(["items": ["oneOf": .array(cases)]], value, countMax: 100) <= 3 * size(value) + 10)
    let choice: JSONValue = ["enum": .array(names.map(JSONValue.string))]
    let schema = try CodableSchema(choice, at: "s")
    #expect(schema.problem(in: "c2999", at: "s") == nil)
    let message = try #require(schema.problem(in: "x", at: "s")).message
    #expect(message.contains("c11 and 2988 more") && message.utf8.count < 300, "\(message)")
  }
}
