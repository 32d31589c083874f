import Foundation
import Push
import Rules
import Testing

@Suite("README") struct ReadmeTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let text = (try? String(contentsOf: root.appendingPathComponent("docs/causes.md"), encoding: .utf8)) ?? ""

  @Test func theErrorTableSaysWhatTheProductSays() {
    let rows = Reason.allCases
      .map { (status: $0.status, row: "| \($0.status) | `\($0)` | \($0.remedy.happened) | \($0.remedy.advice) |") }
      .sorted { ($0.status, $0.row) < ($1.status, $1.row) }.map(\.row)
    expect(rows, after: "| status | reason | cause | remedy |")
  }

  @Test func everyRuleOfLintIsInItsPage() {
    let page = Self.pages.first { $0.name == "lint.md" }?.text ?? ""
    let rows = PushWarning.allCases.map { warning in
      "| `\(warning.name)` | \(PushLint.level(of: warning).rawValue) | \(warning.sentence) |"
    }
    expect(rows, after: "| rule | level | what is wrong, and what would be right |", in: page)
    for rule in PushLint.ruleNames { #expect(page.contains("\n| `\(rule)` | "), "\(rule)") }
  }

  /// The README and the pages of docs, each with the folder that its links begin at.
  private static let pages: [(name: String, folder: URL, text: String)] = {
    let docs = root.appendingPathComponent("docs")
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: docs.path)) ?? []).filter { $0.hasSuffix(".md") }.sorted()
    let files = [root.appendingPathComponent("README.md")] + names.map { docs.appendingPathComponent($0) }
    return files.map { ($0.lastPathComponent, $0.deletingLastPathComponent(), (try? String(contentsOf: $0, encoding: .utf8)) ?? "") }
  }()

  @Test func everyLinkLeadsSomewhere() throws {
    #expect(Self.pages.count > 10)
    for page in Self.pages {
      for match in page.text.matches(of: /\]\(([^)#:]*)(#[^)]+)?\)/) {
        let (path, anchor) = (String(match.1), match.2.map { String($0.dropFirst()) })
        let file = path.isEmpty ? page.folder.appendingPathComponent(page.name) : page.folder.appendingPathComponent(path)
        #expect(FileManager.default.fileExists(atPath: file.path), "\(page.name): \(path)")
        guard let anchor else { continue }
        let headings = try String(contentsOf: file, encoding: .utf8).lowercased().matches(of: /\n#+ (.+)/).map { heading in
          heading.1.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
        }
        #expect(headings.contains(anchor), "\(page.name): \(path)#\(anchor)")
      }
    }
  }

  /// What is longer than a sitting goes into docs.
  @Test func theReadmeIsShort() {
    #expect(Self.pages[0].text.split(separator: "\n", omittingEmptySubsequences: false).count <= 250)
  }

  /// Each page is reached from the README, so that nobody has to look into the folder.
  @Test func everyPageIsNamedInTheReadme() {
    for page in Self.pages.dropFirst() { #expect(Self.pages[0].text.contains("](docs/\(page.name)"), "\(page.name)") }
  }

  private func expect(_ rows: [String], after head: String, in text: String = Self.text) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let found = lines.drop { $0 != head }.dropFirst(2).prefix { $0.hasPrefix("|") }
    #expect(Array(found) == rows, "the table must be\n\(rows.joined(separator: "\n"))")
  }
}
