import Foundation
import Testing

/// The table of the reference's rows: each has tests that exist, or a departure with its reason.
@Suite("Rows") struct RowsTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// The cells of each row: section, what the row says, tests.
  private static func rows() throws -> [[String]] {
    let text = try String(contentsOf: tests.appendingPathComponent("rows.md"), encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") && !$0.hasPrefix("| section") }.map { line in
      line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
    }
  }

  /// The names of all Swift functions among the tests, of the cases of the Python suites, and of the files of captured exchanges.
  private static func names() throws -> Set<String> {
    var names: Set<String> = []
    for file in try FileManager.default.subpathsOfDirectory(atPath: tests.path) where file.hasSuffix(".swift") || file.hasSuffix(".py") {
      let text = try String(contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
      let keyword = file.hasSuffix(".py") ? "\ndef " : "func "
      for part in text.components(separatedBy: keyword).dropFirst() {
        names.insert(String(part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
      }
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: tests.appendingPathComponent("Wire/exchanges").path) {
      names.insert("exchanges/" + file)
    }
    return names
  }

  @Test func everyRowHasItsTests() throws {
    let rows = try Self.rows()
    let names = try Self.names()
    // Its own function, so that a failure does not print them all.
    func missing(_ name: String) -> String? { names.contains(name) ? nil : name }
    #expect(rows.count > 140)
    for row in rows {
      try #require(row.count == 3, "\(row)")
      let told = row[2].matches(of: /`([^`]+)`/).map { String($0.1) }
      for name in told { #expect(missing(name) == nil, "\(row[0]), \(row[1]): no test is named \(name)") }
      if row[2].hasPrefix("departure: ") {
        #expect(row[2].count > 30, "\(row[0]), \(row[1]): a departure has a reason")
      } else {
        #expect(!told.isEmpty, "\(row[0]), \(row[1]) has no test")
      }
    }
  }

  @Test func everySectionIsThere() throws {
    let sections = Set(try Self.rows().map { $0[0] })
    #expect(sections == ["1.3", "1.4", "2.1", "4.1", "4.2", "4.3", "4.4", "5.1", "5.2", "8.1", "8.2", "8.3"])
  }
}
