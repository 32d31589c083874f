import Foundation
import Primitives
import Seeds
import Testing

@testable import JSON

/// What decodes: our verdict is that of this toolchain's `JSONDecoder`.
@Suite("Codable schemas and Swift's decoder") struct CodableJudgeTests {
  /// Some three hundred values of each of thirty-seven types, each one change from a value that decodes: ten thousand in all.
  @Test(arguments: CodableCase.all) func tenThousandValuesAreJudgedAlike(one: CodableCase) throws {
    let schema = try CodableSchema(try JSONValue.parse(one.schema), at: "schema")
    let valid = WrittenJSON(try JSONValue.parse(one.valid))
    #expect(one.decodes(Data(one.valid.utf8)))
    var (decoded, total) = (0, 0)
    for seed in seeds(320) {
      var mutation = JSONMutation(seed: seed)
      let text = mutation.mutated(valid)
      let decodes = one.decodes(Data(text.utf8))
      let value = try JSONValue.parse(Array(text.utf8).span.bytes, duplicates: .first)
      let problem = schema.problem(in: value, at: "s")
      #expect((problem == nil) == decodes, "\(text): \(problem?.message ?? "no problem")")
      total += 1
      if decodes { decoded += 1 }
    }
    #expect(decoded * 10 >= total * 3, "\(decoded) of \(total) decode")
    #expect(decoded < total)
  }

  @Test func thereAreThirtySevenTypes() { #expect(Set(CodableCase.all.map(\.name)).count == 37) }

  /// What stands in for a value that is not known decodes.
  @Test(arguments: CodableCase.all) func aSampleDecodes(one: CodableCase) throws {
    let schema = try CodableSchema(try JSONValue.parse(one.schema), at: "schema")
    let sample = schema.sample(now: Instant(unixSeconds: 1_796_000_000))
    #expect(schema.mismatches(in: sample, at: "s", now: Instant(unixSeconds: 1_796_000_000)) == [])
    #expect(one.decodes(Data(sample.serialized().utf8)), "\(sample)")
  }

  /// Random strings of what matters in a URL.
  @Test func urlsAreThoseOfFoundation() {
    var generator = SplitMix64(seed: 1)
    let pieces = [":", "/", "//", "?", "#", "[", "]", "@", "%", "%20", "a", "b1", "80", "http", "-", ".", "^", " ", "{", "\\", "::1"]
    for _ in seeds(20_000) {
      let text = (0...Int(generator.next() % 7)).map { _ in pieces[Int(generator.next() % UInt64(pieces.count))] }.joined()
      let isURL = URLText.isURL(text)
      #expect(isURL == (URL(string: text) != nil), "\(text)")
    }
  }
}
