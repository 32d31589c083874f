import Foundation
import Seeds
import SwiftSource
import Testing

@testable import JSON

/// The schemas that are made of the source of the thirty-seven types: their verdict is that of this toolchain's `JSONDecoder`.
@Suite("Swift source and Swift's decoder") struct SwiftSourceJudgeTests {
  /// What the compiler has read, and for each type an activity whose content-state it is; as many at a time as an app may have.
  private static let sources: [SwiftSource] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("CodableTypes.swift")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let activities = CodableCase.all.map { "struct \($0.name)Attributes: ActivityAttributes { typealias ContentState = \($0.name) }" }
    return [activities.prefix(20), activities.dropFirst(20)].map { SwiftSource(text + "\n" + $0.joined(separator: "\n")) }
  }()

  @Test func everyTypeIsUnderstood() {
    let problems = Self.sources.flatMap(\.problems)
    #expect(problems.isEmpty, "\(problems)")
    let names = Set(Self.sources.flatMap(\.schemas.keys))
    #expect(names.count == 37)
  }

  @Test(arguments: CodableCase.all) func tenThousandValuesAreJudgedAlikeByTheSchemaOfTheSource(one: CodableCase) throws {
    let name = "\(one.name)Attributes"
    let source = try #require(Self.sources.first { $0.schemas[name] != nil })
    let json = try #require(source.schemas[name]?["contentState"])
    let schema = try CodableSchema(json, at: "schema")
    let valid = WrittenJSON(try JSONValue.parse(one.valid))
    for seed in seeds(320) {
      var mutation = JSONMutation(seed: seed)
      let text = mutation.mutated(valid)
      let value = try JSONValue.parse(Array(text.utf8).span.bytes, duplicates: .first)
      let problem = schema.problem(in: value, at: "s")
      #expect((problem == nil) == one.decodes(Data(text.utf8)), "\(text): \(problem?.message ?? "no problem")")
    }
  }
}
