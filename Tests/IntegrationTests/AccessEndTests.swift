import Foundation
import Testing

/// What an access token has begun, and what becomes of it when the token is revoked: real processes, and curl as the caller.
@Suite("Revoked access tokens", .processes) struct AccessEndTests {
  /// For how long a call may go on once its token is no longer taken.
  private static let patience = Duration.seconds(5)

  private func tokens(_ names: String...) -> String {
    (["accessTokens:"] + names.map { "  - {name: \($0), scopes: [admin], secret: \($0)-secret-00001}" }).joined(separator: "\n") + "\n"
  }

  private func headers(_ name: String) -> [String] { ["authorization: Bearer \(name)-secret-00001", "content-type: application/json"] }

  private func status(_ server: Deployment, _ method: String, _ path: String, _ face: String, as name: String, _ body: String? = nil)
    async throws -> Int
  {
    try await curl(
      method, server.url(face) + path, ca: server.state.path("ca.pem"), headers: headers(name), body: body.map { Data($0.utf8) }
    ).status
  }

  /// A call that goes on until the server ends it.
  private func open(_ server: Deployment, _ options: [String], _ path: String, _ face: String, as name: String) throws -> ChildProcess {
    try ChildProcess(
      ["curl", "-sSvN", "--max-time", "300", "--cacert", server.state.path("ca.pem")] + headers(name).flatMap { ["-H", $0] } + options
        + [server.url(face) + path])
  }

  /// Revokes the token `worker`, and checks that the calls end soon after that holds; `keeper`'s goes on.
  private func revoke(_ server: Deployment, _ face: String, _ configuration: String, calls: [ChildProcess], kept: ChildProcess) async throws
  {
    for call in calls + [kept] {
      try await eventually("the request was sent: \(call.errors.text)") { call.errors.text.lowercased().contains("> user-agent: curl") }
    }
    // The server has read what was sent before this.
    #expect(try await status(server, "GET", "/v1/events?bad=1", face, as: "worker") == 400)
    for call in calls + [kept] { try #require(call.exitStatus == nil, "\(call.output.text)\(call.errors.text)") }
    _ = try server.state.write("\(face).yaml", configuration)
    server.process.signal(SIGHUP)
    try await eventually("the token is no longer taken") { try await status(server, "GET", "/v1/events?bad=1", face, as: "worker") == 401 }
    for call in calls {
      try await eventually(within: Self.patience, "the call ends: \(call.output.text)") { call.exitStatus != nil }
      #expect(call.exitStatus == 0, "\(call.errors.text)")
    }
    #expect(kept.exitStatus == nil, "\(kept.output.text)")
    kept.signal(SIGKILL)
    #expect(try await server.terminate() == 0)
  }

  /// A stream of events, and a list that waits for pushes.
  @Test func theGatewaysCallsEndWithTheirToken() async throws {
    let state = try await Deployment.newState()
    let rest = "upstreams: {here: {url: \"https://localhost:9\"}}\napps: [{bundleID: com.example.app}]\n"
    let file = try state.write("control.yaml", rest + tokens("keeper", "worker"))
    let gateway = try await Deployment.start(["gateway", "--config", file], in: state)
    let stream = try open(gateway, [], "/v1/events", "control", as: "worker")
    try await eventually("the stream has begun") { stream.output.text.contains("retry: 1000") }
    let list = try open(gateway, [], "/v1/pushes?wait=300s", "control", as: "worker")
    let kept = try open(gateway, [], "/v1/pushes?wait=300s", "control", as: "keeper")
    try await revoke(gateway, "control", rest + tokens("keeper"), calls: [stream, list], kept: kept)
    #expect(!stream.output.text.contains("error"))
    #expect(list.output.text.contains("\"unauthorized\""), "\(list.output.text)")
  }

  /// A list that waits for events, and a widget that waits until a gateway which is away has its token.
  @Test func theDevicesCallsEndWithTheirToken() async throws {
    let state = try await Deployment.newState()
    // Port 9 (discard) refuses connections on any machine that runs no inetd.
    let rest = "gateway: {url: \"https://localhost:9\", accessToken: any-secret-00000001}\n"
    let file = try state.write("device.yaml", rest + tokens("keeper", "worker"))
    let device = try await Deployment.start(["device", "--config", file], in: state)
    #expect(try await status(device, "PUT", "/v1/devices/phone", "device", as: "keeper", "{}") == 201)
    let app = #"{"bundleID":"com.example.app"}"#
    #expect(try await status(device, "POST", "/v1/devices/phone/apps?wait=0s", "device", as: "keeper", app) == 201)
    let list = try open(device, [], "/v1/events?event=deviceRemoved&wait=300s", "device", as: "worker")
    let widget = ["-d", #"{"bundleID":"com.example.app","kind":"Orders"}"#]
    let placing = try open(device, widget, "/v1/devices/phone/widgets?wait=300s", "device", as: "worker")
    let kept = try open(device, [], "/v1/events?event=deviceRemoved&wait=300s", "device", as: "keeper")
    try await revoke(device, "device", rest + tokens("keeper"), calls: [list, placing], kept: kept)
    for call in [list, placing] { #expect(call.output.text.contains("\"unauthorized\""), "\(call.output.text)") }
  }
}
