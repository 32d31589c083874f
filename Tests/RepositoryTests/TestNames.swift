import Foundation

/// The tests by name, as the tables of `Tests` point to them.
enum TestNames {
  /// The folder of all tests.
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// All Swift functions among the tests, all cases of the Python suites, and the files of captured exchanges.
  static let all: Set<String> = {
    var names: Set<String> = []
    for file in (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    where file.hasSuffix(".swift") || file.hasSuffix(".py") {
      let text = (try? String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)) ?? ""
      for part in text.components(separatedBy: file.hasSuffix(".py") ? "\ndef " : "func ").dropFirst() {
        names.insert(String(part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
      }
    }
    for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("Wire/exchanges").path)) ?? [] {
      names.insert("exchanges/" + file)
    }
    return names
  }()

  /// The cells of a table's rows in a file of `Tests`, those of its head left out.
  static func rows(of file: String) throws -> [[String]] {
    let lines = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8).split(separator: "\n")
    guard let rule = lines.firstIndex(where: { $0.hasPrefix("| ---") }) else { return [] }
    return lines[(rule + 1)...].filter { $0.hasPrefix("| ") }.map { $0.dropFirst(2).dropLast(2).components(separatedBy: " | ") }
  }

  /// What stands between backquotes in a cell.
  static func named(in cell: String) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

  /// The names of a cell that no test has.
  static func missing(in cell: String) -> [String] { named(in: cell).filter { !all.contains($0) } }
}
