import Testing

/// The table of the reference's rows: each has tests that exist, or a departure with its reason.
@Suite("Rows") struct RowsTests {
  @Test func everyRowHasItsTests() throws {
    let rows = try TestNames.rows(of: "rows.md")
    #expect(rows.count > 140)
    for row in rows {
      try #require(row.count == 3, "\(row)")
      let missing = TestNames.missing(in: row[2])
      #expect(missing.isEmpty, "\(row[0]), \(row[1]) names tests that do not exist: \(missing)")
      if row[2].hasPrefix("departure: ") {
        #expect(row[2].count > 30, "\(row[0]), \(row[1]): a departure has a reason")
      } else {
        let isNamed = !TestNames.named(in: row[2]).isEmpty
        #expect(isNamed, "\(row[0]), \(row[1]) has no test")
      }
    }
  }

  @Test func everySectionIsThere() throws {
    let sections = Set(try TestNames.rows(of: "rows.md").map { $0[0] })
    #expect(sections == ["1.3", "1.4", "2.1", "4.1", "4.2", "4.3", "4.4", "5.1", "5.2", "8.1", "8.2", "8.3"])
  }
}
