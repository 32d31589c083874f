import Foundation
import Testing

@Suite("Leftovers") struct LeftoversTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Every file that the repository keeps.
  private static let files: [String] = {
    let tops = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).filter {
      ![".build", ".git", ".widgetpush"].contains($0)
    }
    return tops.flatMap { top -> [String] in
      isFolder(top) ? ((try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(top)")) ?? []).map { "\(top)/\($0)" } : [top]
    }.filter { !isFolder($0) && !$0.contains("__pycache__") }.sorted()
  }()

  private static func isFolder(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(root)/\(path)")
    return attributes?[.type] as? FileAttributeType == .typeDirectory
  }

  private static func text(_ path: String) -> String { (try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)) ?? "" }

  @Test func nothingIsLeftForLater() {
    // Put together, so that this file does not find itself.
    let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "fatalError(\"not " + "implemented"]
    for file in Self.files where !file.hasPrefix("LICENSE") {
      for (number, line) in Self.text(file).split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        for mark in marks where line.contains(mark) { Issue.record("\(file):\(number + 1) has \(mark)") }
      }
    }
  }

  @Test func noFileOnlyHoldsAPlace() {
    for file in Self.files {
      #expect(!file.hasSuffix("Placeholder.swift"), "\(file)")
      #expect(file.hasSuffix(".gitkeep") || !Self.text(file).isEmpty, "\(file) is empty")
    }
  }

  @Test func filesAreShort() {
    for file in Self.files where file.hasSuffix(".swift") {
      let count = Self.text(file).split(separator: "\n", omittingEmptySubsequences: false).count
      #expect(count <= 350, "\(file) has \(count) lines; one file, one idea")
    }
  }

  @Test func scriptsRunAndSayWhatTheyDo() {
    let scripts = Self.files.filter { $0.hasPrefix("scripts/") }
    #expect(scripts.count >= 7)
    for script in scripts {
      #expect(FileManager.default.isExecutableFile(atPath: "\(Self.root)/\(script)"), "\(script)")
      let lines = Self.text(script).split(separator: "\n")
      #expect(lines.first?.hasPrefix("#!/") == true, "\(script)")
      #expect(lines.dropFirst().first.map { $0.hasPrefix("# ") || $0.hasPrefix("\"\"\"") } == true, "\(script) has no header comment")
    }
  }
}
