import Foundation
import Push
import Rules
import Testing

/// What went wrong in the field: each failure has tests that exist, or says why a gateway cannot see it; and nothing that a push may be told
/// is without a test.
@Suite("Failures") struct FailuresTests {
  /// The text of every test but those of the repository itself.
  private static let text: String = {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: TestNames.folder.path)) ?? []
    return files.filter { $0.hasSuffix(".swift") && !$0.hasPrefix("RepositoryTests") }
      .compactMap { try? String(contentsOf: TestNames.folder.appendingPathComponent($0), encoding: .utf8) }.joined(separator: "\n")
  }()

  /// Every word that stands behind a period or in quotes: a case of an enumeration, or its name in JSON.
  private static let names: Set<String> = {
    var names: Set<String> = []
    var previous: UInt8 = 0
    var word: [UInt8] = []
    var start: UInt8 = 0
    for byte in text.utf8 {
      let isPart = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      if isPart {
        if word.isEmpty { start = previous }
        word.append(byte)
      } else if !word.isEmpty {
        if start == UInt8(ascii: ".") || start == UInt8(ascii: "\"") || start == UInt8(ascii: "(") {
          names.insert(String(decoding: word, as: UTF8.self))
        }
        word.removeAll(keepingCapacity: true)
      }
      previous = byte
    }
    return names
  }()

  /// The same without their capitals, as they differ between code and wire.
  private static let lowercaseNames = Set(names.map { $0.lowercased() })

  @Test func everyFailureHasItsTests() throws {
    let rows = try TestNames.rows(of: "failures.md")
    #expect(rows.map { $0[0] } == (1...36).map(String.init))
    for row in rows {
      try #require(row.count == 3, "\(row)")
      let missing = TestNames.missing(in: row[2])
      #expect(missing.isEmpty, "\(row[0]) names tests that do not exist: \(missing)")
      if row[2].hasPrefix("none can") {
        #expect(row[2].count > 40, "\(row[0]): why none can is said")
      } else {
        let isNamed = !TestNames.named(in: row[2]).isEmpty
        #expect(isNamed, "\(row[0]) has no test")
      }
    }
  }

  @Test(arguments: Cause.allCases) func everyCauseIsTested(cause: Cause) {
    let isNamed = Self.names.contains(cause.name)
    #expect(isNamed)
  }

  @Test(arguments: Disposition.allCases) func everyStepIsTested(disposition: Disposition) {
    let isNamed = Self.names.contains(disposition.name)
    #expect(isNamed)
  }

  /// By its case, or as it stands on the wire.
  @Test(arguments: Reason.allCases) func everyReasonIsTested(reason: Reason) {
    let isNamed = Self.lowercaseNames.contains("\(reason.text)".lowercased())
    #expect(isNamed)
  }

  @Test(arguments: PushLint.ruleNames) func everyLintRuleIsTested(rule: String) {
    let isNamed = Self.names.contains(rule) || Self.names.contains(rule.prefix(1).lowercased() + rule.dropFirst())
    #expect(isNamed)
  }

  // MARK: The table for people

  @Test func theTablesOfCausesSayWhatTheProductSays() throws {
    let path = TestNames.folder.deletingLastPathComponent().appendingPathComponent("docs/causes.md")
    let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    func rows(after head: String) -> [String] { Array(lines.drop { $0 != head }.dropFirst(2).prefix { $0.hasPrefix("|") }) }
    func row(_ name: String, _ remedy: Remedy) -> String {
      "| `\(name)` | \(remedy.happened) | \(remedy.advice) | \(remedy.certainty.name) |"
    }
    let causes = Cause.allCases.filter { $0 != .none }.map { row($0.name, $0.remedy) }
    let isTold = rows(after: "| cause | what happened | remedy | certainty |") == causes
    #expect(isTold, "the table must be\n\(causes.joined(separator: "\n"))")
    let dispositions = Disposition.allCases.map { row($0.name, $0.remedy) }
    let areTold = rows(after: "| disposition | what happened | remedy | certainty |") == dispositions
    #expect(areTold, "the table must be\n\(dispositions.joined(separator: "\n"))")
  }
}
