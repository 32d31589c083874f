import Testing

/// The table of what people met: each row has tests that exist, at least three where the kind has siblings.
@Suite("Field cases") struct FieldTests {
  @Test func everyCaseHasItsTests() throws {
    let rows = try TestNames.rows(of: "field.md")
    let names =
      (1...19).map { "A\($0)" } + (1...7).map { "C\($0)" } + [1, 2, 3, 5, 7, 9].map { "D\($0)" } + (1...10).map { "E\($0)" }
    #expect(rows.map { $0[0] } == names)
    for row in rows {
      try #require(row.count == 4, "\(row)")
      let missing = TestNames.missing(in: row[3])
      #expect(missing.isEmpty, "\(row[0]) names tests that do not exist: \(missing)")
      let enough = Set(TestNames.named(in: row[3])).count >= (row[2] == "–" ? 1 : 3)
      #expect(enough, "\(row[0]) has too few tests")
    }
  }
}
