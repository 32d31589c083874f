import Foundation
import Testing

@testable import widgetpush

/// A state folder serves one gateway and one device at a time.
@Suite("Who has a state folder", .timeLimit(.minutes(10))) struct OccupationTests {
  private func refusal(_ state: StateFolder, _ servers: [StateFolder.Server]) throws -> String {
    try #require(#expect(throws: CommandError.self) { _ = try state.occupy(servers) }).message
  }

  /// Has it once it is free. A process that another test is just starting has the lock's descriptor, too, until it runs its own program.
  private func occupyOnceFree(_ state: StateFolder, _ servers: [StateFolder.Server]) async throws -> [RunLock] {
    while true {
      if let locks = try? state.occupy(servers) { return locks }
      await Task.yield()
      try Task.checkCancellation()
    }
  }

  @Test(arguments: StateFolder.Server.allCases) func aSecondOneIsToldWhoRuns(server: StateFolder.Server) async throws {
    let folder = try TemporaryFolder()
    let locks = try folder.state.occupy([server])
    let said = try refusal(folder.state, [server])
    #expect(said.hasPrefix("a \(server) runs with the state folder \(folder.state.path) already (process \(getpid())): "), "\(said)")
    #expect(said.contains("kill \(getpid()) stops it") && said.contains("--state-dir"), "\(said)")
    #expect(try Files.read(folder.state.file("\(server).lock")) == "\(getpid())\n" && folder.mode("\(server).lock") == 0o600)
    withExtendedLifetime(locks) {}
  }

  /// A gateway and a device share a folder, and another folder is another matter.
  @Test func othersAreNotInTheWay() throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    let locks = try [folder.state.occupy([.gateway]), folder.state.occupy([.device]), other.state.occupy([.gateway, .device])]
    #expect(locks.map(\.count) == [1, 1, 2])
  }

  /// Who wants both and gets one keeps none.
  @Test func whoIsRefusedKeepsNothing() async throws {
    let folder = try TemporaryFolder()
    let device = try folder.state.occupy([.device])
    #expect(try refusal(folder.state, [.gateway, .device]).hasPrefix("a device runs with"))
    let gateway = try await occupyOnceFree(folder.state, [.gateway])
    #expect(try refusal(folder.state, [.gateway, .device]).hasPrefix("a gateway runs with"))
    withExtendedLifetime((device, gateway)) {}
  }

  @Test func whatWasGivenUpIsFree() async throws {
    let folder = try TemporaryFolder()
    for _ in 0..<3 {
      let locks = try await occupyOnceFree(folder.state, [.gateway, .device])
      #expect(try refusal(folder.state, [.gateway]).contains(folder.state.path))
      withExtendedLifetime(locks) {}
    }
  }

  /// A lock whose file does not say who has it, as in the moment after it was taken, or says what is no process.
  @Test(arguments: ["", "\n", "no process\n", "\u{1B}]0;x\u{7}\n"]) func aHolderThatIsNotKnownIsNotNamed(text: String) throws {
    let folder = try TemporaryFolder()
    let lock = folder.state.file("gateway.lock")
    let locks = try folder.state.occupy([.gateway])
    let file = try #require(FileHandle(forWritingAtPath: lock))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
    let said = try refusal(folder.state, [.gateway])
    #expect(said.hasPrefix("a gateway runs with the state folder \(folder.state.path) already: "), "\(said)")
    #expect(said.contains("stop that one first") && !said.contains("process") && !said.contains("\u{1B}"), "\(said)")
    withExtendedLifetime(locks) {}
  }

  /// The file of a process that is gone keeps nobody off, and nothing of it is left.
  @Test func whatACrashLeavesIsTakenOver() throws {
    let folder = try TemporaryFolder()
    try Files.makeFolder(folder.state.path)
    let lock = folder.state.file("gateway.lock")
    try Data("4194304\nand more that a longer text had\n".utf8).write(to: URL(fileURLWithPath: lock))
    let locks = try folder.state.occupy([.gateway])
    #expect(try Files.read(lock) == "\(getpid())\n")
    withExtendedLifetime(locks) {}
  }
}
