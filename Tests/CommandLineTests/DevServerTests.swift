import Foundation
import HTTPClient
import JSON
import Primitives
import Testing

@testable import widgetpush

/// Gateway and mock device in this process, spoken to as the commands do.
@Suite("A whole dev") struct DevServerTests {
  @Test func registerSendAndFind() async throws {
    let folder = try TemporaryFolder()
    try await onAThread {
      let server = try DevServer(Self.freePorts, DevState.prepare(folder.state, now: Machine.now)) { _, _ in }
      defer { server.drain() }
      #expect(server.faces.map(\.name) == ["provider", "control", "device", "plain"])
      let client = try ControlClient(folder.state)
      let finder = PushFinder(client: client)
      let (first, second) = (String(repeating: "ab", count: 32), "ab" + String(repeating: "cd", count: 31))
      for token in [first, second] {
        let answer = try client.call(
          "PUT", "/v1/registrations/\(token)", ["type": "widgets", "bundleID": "com.example.app", "environment": "development"])
        #expect(answer.status == 201)
      }
      #expect(throws: CommandError.self) { try finder.last() }

      let provider = try ProviderClient(folder.state, now: Machine.now)
      var push = ProviderClient.Push(
        token: first, type: "widgets", topic: "com.example.app.push-type.widgets", payload: Array(#"{"aps":{"content-changed":true}}"#.utf8)
      )
      push.id = "12345678-0000-0000-0000-00000000000a"
      #expect(try provider.send(push).status == 200)
      push.token = second
      push.id = "12345678-0000-0000-0000-00000000000B"
      #expect(try provider.send(push).id == push.id)
      push.priority = "7"
      push.id = "99345678-0000-0000-0000-00000000000c"
      #expect(try provider.send(push).reason == "BadPriority")

      // A refusal is answered before it is on record.
      #expect(try client.call("GET", "/v1/pushes?disposition=refused&count=1&wait=10s").json["complete"] == true)
      #expect(try finder.last()["id"]?.stringValue == push.id)
      try expectPush(finder, "12345678-0000-0000-0000-00000000000a", token: first)
      try expectPush(finder, "12345678-0000-0000-0000-00000000000b", token: second)
      try expectPush(finder, "12345678-0000-0000-0000-00000000000A", token: first)
      try expectPush(finder, "9934", token: second)
      guard case .token(let token, let registration, let pushes, let symptom) = try finder.find(String(first.prefix(7))) else {
        Issue.record("a token's beginning finds the token")
        return
      }
      #expect(token == first && registration?["type"] == "widgets" && pushes.count == 1 && symptom == nil)
      let ambiguous = #expect(throws: CommandError.self) { try finder.find("12345678-0000") }
      #expect(ambiguous?.message.contains("push 12345678-0000-0000-0000-00000000000b") == true)
      for name in ["zzzz", "abc", "77777777", "12345678-0000-0000-0000-0000000000ff"] {
        #expect(throws: CommandError.self) { try finder.find(name) }
      }
      #expect(try client.fullToken("abab") == first)
      #expect(throws: CommandError.self) { try client.fullToken("ab") }
      #expect(throws: CommandError.self) { try client.fullToken("xy") }
      #expect(try client.fullToken("0123") == "0123", "what is not registered is taken as it is")
    }
  }

  @Test func theControlFaceSpeaksBothProtocols() async throws {
    let folder = try TemporaryFolder()
    try await onAThread {
      let server = try DevServer(Self.freePorts, DevState.prepare(folder.state, now: Machine.now)) { _, _ in }
      defer { server.drain() }
      let client = BlockingHTTPClient(trust: .file(folder.state.file("ca.pem")))
      let control = try #require(server.credentials.control)
      let second = try client.perform(.init("GET", "\(control)/version"))
      #expect(second.isHTTP2 && second.status == 200)
      let first = try client.perform(.init("GET", "\(control)/version", version: .http1))
      #expect(!first.isHTTP2 && first.body == second.body)
      #expect(try JSONValue.parse(first.body)["version"]?.stringValue == Version.text)
      let plain = try #require(server.credentials.plain)
      #expect(try client.perform(.init("GET", "\(plain)/dev/ca.pem")).text == Files.read(folder.state.file("ca.pem")))
      let admin = [BlockingHTTPClient.Field("authorization", "Bearer \(server.credentials.admin)")]
      let served = try client.perform(.init("GET", "\(plain)/dev/credentials.json", fields: admin)).text
      #expect(try served == Files.read(folder.state.file("credentials.json")))
      #expect(try client.perform(.init("GET", "\(plain)/device/version")).text.contains("device"))
    }
  }

  private static var freePorts: DevServer.Options {
    var options = DevServer.Options()
    (options.providerPort, options.controlPort, options.devicePort, options.plainPort) = (0, 0, 0, 0)
    return options
  }

  private func expectPush(_ finder: PushFinder, _ name: String, token: String) throws {
    guard case .push(let push) = try finder.find(name) else {
      Issue.record("\(name) is no push")
      return
    }
    #expect(push["token"]?.stringValue == token)
  }
}

/// Runs `body`, which blocks, on a thread of its own: the servers' async handlers need the pool that tests run on.
private func onAThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
