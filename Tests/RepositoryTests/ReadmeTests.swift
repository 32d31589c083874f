import Foundation
import Push
import Testing

@Suite("README") struct ReadmeTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let text = (try? String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)) ?? ""

  /// Causes with which a device lets a push pass.
  private static let ignored: [Cause] = [
    .noSuchWidget, .noSuchControl, .noSuchActivity, .noSuchApp, .noSuchHandler, .appRemoved, .noSubscribers, .payloadNotUnderstood,
    .contentStateNotDecodable,
    .attributesTypeUnknown, .alertMissing, .staleTimestamp, .futureTimestamp, .activityEnded, .tokenKindMismatch, .permissionDenied,
  ]

  @Test func theErrorTableSaysWhatTheProductSays() {
    let rows = Reason.allCases
      .map { (status: $0.status, row: "| \($0.status) | `\($0)` | \($0.remedy.happened) | \($0.remedy.advice) |") }
      .sorted { ($0.status, $0.row) < ($1.status, $1.row) }.map(\.row)
    expect(rows, after: "| status | reason | cause | remedy |")
  }

  @Test func theTableOfCausesSaysWhatTheProductSays() {
    let rows = Self.ignored.map { "| `\($0.name)` | \($0.remedy.happened) | \($0.remedy.advice) |" }
    expect(rows, after: "| cause | what happened | remedy |")
  }

  @Test func everyLinkLeadsSomewhere() {
    for match in Self.text.matches(of: /\]\(([^)#:]+)\)/) {
      #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(String(match.1)).path), "\(match.1)")
    }
    for match in Self.text.matches(of: /\]\(#([^)]+)\)/) {
      #expect(Self.text.lowercased().contains("\n## \(match.1.replacing("-", with: " "))\n"), "\(match.1)")
    }
  }

  private func expect(_ rows: [String], after head: String) {
    let lines = Self.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let found = lines.drop { $0 != head }.dropFirst(2).prefix { $0.hasPrefix("|") }
    #expect(Array(found) == rows, "the table must be\n\(rows.joined(separator: "\n"))")
  }
}
