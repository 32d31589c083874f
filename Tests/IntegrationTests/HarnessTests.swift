import Foundation
import Testing

@Suite("Harness", .processes) struct HarnessTests {
  @Test func commandsReportWhatTheyDid() async throws {
    let result = try await run(["sh", "-c", "cat; echo oops >&2; exit 3"], input: Data("in".utf8))
    #expect(result.status == 3)
    #expect(result.text == "in")
    #expect(result.standardError == "oops\n")
  }

  @Test func aProcessThatHangsIsEnded() async throws {
    await #expect(throws: HarnessError.self) { try await run(["sleep", "600"], within: .milliseconds(50)) }
  }

  @Test func processesAndFoldersAreLeftByNobody() async throws {
    let process = try ChildProcess(["sleep", "600"])
    process.signal(SIGKILL)
    #expect(try await process.waitForExit() == 128 + SIGKILL)
    let path = try { try Folder().path }()
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
