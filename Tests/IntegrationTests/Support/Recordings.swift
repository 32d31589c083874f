import Foundation
import Primitives

/// What the tests of recordings and of replays have in common.
extension Deployment {
  /// Begins to record to a file; returns once it does.
  func record(to path: String, _ more: [String] = []) async throws -> ChildProcess {
    let process = try ChildProcess([Deployment.executable, "record", "--state-dir", state.path, "--out", path] + more)
    try await eventually("it records: \(process.errors.text)") { FileManager.default.contents(atPath: path)?.isEmpty == false }
    return process
  }

  /// Plays a recording here, and gives back the report in JSON.
  func replay(_ path: String, _ more: [String] = []) async throws -> CommandResult {
    try await run([Deployment.executable, "replay", path, "--json", "--state-dir", state.path] + more)
  }
}

extension CommandResult {
  /// What pushes became, and how many of each, as the report has it.
  func counts(_ name: String) throws -> [String: Int] {
    let report = try Document(standardOutput)
    var counts: [String: Int] = [:]
    for row in report["outcomes"].array { counts[row["outcome"].string ?? "not known"] = row[name].int }
    return counts.filter { $0.value > 0 }
  }
}

/// The lines of a recording.
func recordedLines(_ path: String) throws -> [Document] {
  try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { try Document(Data($0.utf8)) }
}

extension UUID {
  /// An id with that number.
  init(number: Int) { self = UUID(uuidString: String(format: "00000000-0000-0000-0000-%012d", number))! }
}
