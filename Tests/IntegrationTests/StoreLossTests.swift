import Foundation
import Testing

/// Somebody removes or moves the store of a gateway that runs, or one that is to start again.
@Suite("Loss of the store", .processes) struct StoreLossTests {
  private func readiness(_ deployment: Deployment) async throws -> (status: Int, obstacles: String) {
    let answer = try await deployment.control("GET", "/readyz")
    return (answer.status, try answer.json["obstacles"].array.compactMap(\.string).joined(separator: " "))
  }

  /// Not ready within a second, give or take a slow machine; 503; a line that says which file; and what was accepted before is known after
  /// a kill -9.
  @Test(arguments: ["gateway.sqlite-wal", "gateway.sqlite", "gateway.sqlite-shm", ""])
  func itIsNoticedWhileItRuns(file: String) async throws {
    let dev = try await Deployment.start(["dev"])
    let tokens = (0..<20).map { _ in newToken() }
    for token in tokens { try await dev.register(token, RegistrationBody.widgets) }
    let sent = tokens.map { (token: $0, id: newID()) }
    #expect(try await dev.sendAll(sent).allSatisfy { $0.status == 200 })
    #expect(try await readiness(dev).status == 200)

    let path = dev.state.path("store/\(file)")
    try FileManager.default.removeItem(atPath: path)
    try await eventually("not ready") { try await readiness(dev).status == 503 }
    let named = file.isEmpty ? "gateway.sqlite" : file
    #expect(try await readiness(dev).obstacles.contains("\(named) was removed or moved away"))
    #expect(try await dev.send(.widgets(tokens[0])).status == 503)
    try await eventually("a line") { dev.process.output.text.contains("the store takes no pushes") }
    #expect(dev.process.output.text.contains("store/\(named) was removed"))
    try await dev.crash()
    guard file.hasPrefix("gateway.sqlite-") else { return }

    let again = try await Deployment.start(["dev"], in: dev.state)
    for push in sent { #expect(try await again.record(push.id)["token"].string == push.token) }
    #expect(try await again.terminate() == 0)
  }

  /// A folder that is moved away and back is the same store, and the gateway goes on by itself.
  @Test func aStoreThatComesBackIsUsedAgain() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    try FileManager.default.moveItem(atPath: dev.state.path("store"), toPath: dev.state.path("elsewhere"))
    try await eventually("not ready") { try await readiness(dev).status == 503 }
    try FileManager.default.moveItem(atPath: dev.state.path("elsewhere"), toPath: dev.state.path("store"))
    try await eventually("ready") { try await readiness(dev).status == 200 }
    #expect(try await dev.send(.widgets(token)).status == 200)
    #expect(try await dev.terminate() == 0)
  }

  /// At a start, a store that was made and is gone is an error that says how to begin anew; doing so works, and so does removing all of
  /// the state folder.
  @Test(arguments: ["store", "store/gateway.sqlite"]) func aStoreThatIsGoneIsMissedAtTheStart(removed: String) async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    #expect(try await dev.terminate() == 0)
    try FileManager.default.removeItem(atPath: dev.state.path(removed))

    for command in ["dev", "gateway"] {
      let refused = try Deployment.launch([command], in: dev.state)
      #expect(try await refused.waitForExit(within: .seconds(30)) == 1)
      let says = refused.errors.text
      #expect(says.contains("\(dev.state.path("store"))/gateway.sqlite is missing"), "\(says)")
      #expect(says.contains("rm -rf \(dev.state.path("store")) \(dev.state.path("store.json"))"), "\(says)")
    }
    for path in ["store", "store.json"] { try? FileManager.default.removeItem(atPath: dev.state.path(path)) }
    let anew = try await Deployment.start(["dev"], in: dev.state)
    #expect(try await anew.control("GET", "/v1/registrations/\(token)").status == 404)
    #expect(try await anew.terminate() == 0)

    for name in try FileManager.default.contentsOfDirectory(atPath: dev.state.path) {
      try FileManager.default.removeItem(atPath: dev.state.path(name))
    }
    let afresh = try await Deployment.start(["dev"], in: dev.state)
    #expect(try await afresh.terminate() == 0)
  }

  /// A gateway whose store is elsewhere is told the same, and one that keeps none misses none.
  @Test func aStoreOfAnotherPlaceIsMissedAsWell() async throws {
    let state = try await Deployment.newState()
    let elsewhere = try Folder()
    let place = ["--store-path", elsewhere.path("kept")]
    let gateway = try await Deployment.start(["gateway"] + place, in: state)
    #expect(try await gateway.terminate() == 0)
    try FileManager.default.removeItem(atPath: elsewhere.path("kept"))
    let refused = try Deployment.launch(["gateway"] + place, in: state)
    #expect(try await refused.waitForExit(within: .seconds(30)) == 1)
    #expect(refused.errors.text.contains("\(elsewhere.path("kept"))/gateway.sqlite is missing"), "\(refused.errors.text)")
    let memory = try await Deployment.start(["gateway", "--store-path", "memory"], in: state)
    #expect(try await memory.terminate() == 0)
  }
}
