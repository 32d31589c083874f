import Foundation
import Testing

/// A disk that takes the write-ahead log, and not what is copied from it into the database.
@Suite("Checkpoints that fail", .processes) struct CheckpointTests {
  private func failures(_ gateway: Deployment) async throws -> Int {
    let text = try await gateway.control("GET", "/metrics").text
    let line = text.split(separator: "\n").first { $0.hasPrefix("widgetpush_checkpoints_failed_total ") }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  /// What `/readyz` warns of beside the upstream, which is not there.
  private func warnings(_ gateway: Deployment) async throws -> [String] {
    let readiness = try await gateway.control("GET", "/readyz")
    #expect(readiness.status == 200)
    return try readiness.json["warnings"].array.compactMap(\.string).filter { !$0.hasPrefix("The upstream ") }
  }

  /// The gateway goes on, warns, counts and says so; and says so again when the disk works.
  @Test func theyAreToldAndCounted() async throws {
    let state = try await Deployment.newState()
    let disk = try await Preloaded("disk", "DISK_FAULT_FILE")
    let options = try GatewayConfiguration(upstream: "https://localhost:9").options(in: state)
    let gateway = try await Deployment.start(["gateway"] + options, in: state, environment: disk.environment)
    #expect(try await failures(gateway) == 0)
    try disk.set("syncs fail")
    let tokens = (0..<500).map { _ in newToken() }
    for token in tokens {
      try await gateway.register(token, RegistrationBody.app)
      if token == tokens[0] { #expect(try await warnings(gateway).isEmpty) }
    }
    // A pass begins with 32 MB of log.
    let text = String(repeating: "x", count: 3900)
    var rounds = 0
    while try await failures(gateway) == 0, rounds < 20 {
      let pushes = tokens.map { (token: $0, id: newID()) }
      let answers = try await gateway.sendAll(pushes, .alert(text), parallel: 8)
      #expect(answers.allSatisfy { $0.status == 200 || $0.status == 429 })
      rounds += 1
    }
    let warning = try await warnings(gateway).first ?? ""
    #expect(warning.contains("cannot be copied into its database") && warning.contains("SQLITE_IOERR"), "\(warning) after \(rounds)")
    #expect(gateway.process.errors.text.contains("the store warns"))
    let health = try await run([Deployment.executable, "health", "--state-dir", state.path])
    #expect(health.status == 0 && health.standardError.contains("the gateway warns"), "\(health.standardError)")

    try disk.set(nil)
    try await eventually("the warning is over") { try await warnings(gateway).isEmpty }
    #expect(gateway.process.errors.text.contains("a warning of the store is over"))
    #expect(try await gateway.terminate() == 0)
  }
}
