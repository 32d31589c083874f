import Foundation
import Testing

/// A state folder serves one gateway and one device at a time, and is free again when they end, however they do.
@Suite("One server for a state folder", .processes) struct OccupationTests {
  /// Starts one that must not run, and gives what it said.
  private func refused(_ command: String, in state: Folder) async throws -> String {
    let process = try Deployment.launch([command], in: state)
    let status = try await process.waitForExit(within: .seconds(30))
    #expect(status == 1 && !process.output.text.contains("ready "), "\(status): \(process.output.text)")
    return process.errors.text
  }

  @Test(arguments: ["dev", "gateway", "device"]) func aSecondOneIsRefusedUntilTheFirstHasEnded(command: String) async throws {
    let first = try await Deployment.start([command])
    let face = command == "device" ? "device" : "control"
    let server = command == "device" ? "device" : "gateway"
    let said = try await refused(command, in: first.state)
    #expect(said.contains("a \(server) runs with the state folder \(first.state.path) already (process \(first.process.pid))"), "\(said)")
    #expect(said.contains("--state-dir"), "\(said)")
    #expect(try await first.control("GET", "/readyz", as: nil, face: face).status == 200)

    try await first.crash()
    let second = try await Deployment.start([command], in: first.state)
    #expect(try await second.control("GET", "/readyz", as: nil, face: face).status == 200)
    let saidThen = try await refused(command, in: first.state)
    #expect(saidThen.contains("(process \(second.process.pid))"), "\(saidThen)")
    #expect(try await second.terminate() == 0)
    let third = try await Deployment.start([command], in: first.state)
    #expect(try await third.terminate() == 0)
  }

  /// `dev` is a gateway and a device: neither runs beside it, nor it beside one of them.
  @Test func devIsBoth() async throws {
    let dev = try await Deployment.start(["dev"])
    for command in ["gateway", "device"] {
      let said = try await refused(command, in: dev.state)
      #expect(said.contains("a \(command) runs with the state folder \(dev.state.path) already"), "\(said)")
    }
    try await dev.crash()
    let device = try await Deployment.start(["device"], in: dev.state)
    let said = try await refused("dev", in: dev.state)
    #expect(said.contains("a device runs with the state folder \(dev.state.path) already (process \(device.process.pid))"), "\(said)")
    let gateway = try await Deployment.start(["gateway"], in: dev.state)
    #expect(try await gateway.terminate() == 0)
    #expect(try await device.terminate() == 0)
  }
}
