import Foundation
import Testing

/// A gateway and a mock device as two processes of one state folder: they may start in any order, and again on other ports.
@Suite("Gateway and device as two processes", .processes) struct TwoProcessesTests {
  /// Pushes that a device drops get as far as the device.
  private static let lenient = ["WIDGETPUSH_CONFIG": "apps: [{bundleID: com.example.app, validation: apple}]"]
  private static let lost = "there is no gateway to ask what push tokens were registered as"
  private static let found = "the gateway answers"

  private func gateway(in state: Folder) async throws -> Deployment {
    try await Deployment.start(["gateway"], in: state, environment: Self.lenient)
  }

  /// An activity that another device registered, whose content-state has a number, and gets a text.
  private func activity(_ gateway: Deployment) async throws -> String {
    let schema = #"{"contentState":{"required":["eta"],"properties":{"eta":{"type":"number"}}}}"#
    let set = try await gateway.control("PUT", "/v1/apps/com.example.app/schemas/DeliveryAttributes", schema)
    #expect((200..<300).contains(set.status), "\(set)")
    let token = newToken()
    try await gateway.register(
      token,
      #"{"type":"liveactivity","bundleID":"com.example.app","environment":"development","device":"desk","activity":{"id":"o","attributesType":"DeliveryAttributes"}}"#
    )
    return token
  }

  private func update(_ gateway: Deployment, _ token: String) async throws -> Document {
    let body = #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","content-state":{"eta":"x"}}}"#
    let answer = try await gateway.send(PushRequest("liveactivity", to: token).body(body))
    #expect(answer.status == 200, "\(answer)")
    return try await gateway.settled(try #require(answer["apns-id"]), as: "applied", "ignored")
  }

  private func expectDropped(_ record: Document) {
    #expect(record["disposition"].string == "ignored" && record["cause"].string == "contentStateNotDecodable", "\(record)")
    #expect(record["certainty"].string == "known" && record["detail"].string?.contains("aps.content-state.eta") == true, "\(record)")
  }

  private func told(_ text: String, by device: Deployment) -> Int {
    device.process.errors.text.split(separator: "\n").count { $0.contains(text) }
  }

  /// The device is there first, and says that it has no gateway; it finds it once it is there, and on another port when it starts again.
  @Test func aDeviceThatStartsFirstFindsItsGateway() async throws {
    let state = try Folder()
    let device = try await Deployment.start(["device"], in: state)
    try await eventually("it says that there is no gateway") { told(Self.lost, by: device) == 1 }
    func call(_ method: String, _ path: String, _ json: String? = nil) async throws -> Document {
      let answer = try await device.control(method, "/v1/devices/\(path)", json, face: "device")
      #expect((200..<300).contains(answer.status), "\(answer)")
      return try answer.json
    }
    _ = try await call("PUT", "phone", "{}")
    _ = try await call("POST", "phone/apps?wait=0s", #"{"bundleID":"com.example.app"}"#)
    let placed = try await call("POST", "phone/controls?wait=0s", #"{"bundleID":"com.example.app","kind":"Lamp"}"#)
    #expect(placed["registration"].string == "pending", "\(placed)")
    #expect(placed["problem"].string?.contains("no gateway is known (none runs with the state folder \(state.path))") == true, "\(placed)")

    var gateway = try await gateway(in: state)
    let token = try await activity(gateway)
    expectDropped(try await update(gateway, token))
    try await eventually("the gateway is told what was placed before it was there") {
      try await gateway.control("GET", "/v1/registrations/\(placed["token"].string ?? "")").status == 200
    }
    #expect(try await call("GET", "desk/state")["apps"][0]["activities"][0]["id"].string == "o")
    try await eventually("it says that there is one") { told(Self.found, by: device) == 1 }

    let port = try gateway.port("control")
    try await gateway.crash()
    gateway = try await self.gateway(in: state)
    #expect(try gateway.port("control") != port)
    expectDropped(try await update(gateway, token))
    let later = try await activity(gateway)
    expectDropped(try await update(gateway, later))
    let widgets = try await call("POST", "phone/widgets?wait=60s", #"{"bundleID":"com.example.app","kind":"Orders"}"#)
    #expect(widgets["registration"].string == "registered", "\(widgets)")
    #expect(try await device.terminate() == 0)
    #expect(try await gateway.terminate() == 0)
  }

  /// The gateway is there first, and expects the device elsewhere than it starts, and starts again: the push waits, which says where the device
  /// was looked for, and goes.
  @Test func aGatewayThatStartsFirstFindsItsDevice() async throws {
    let state = try await Deployment.newState()
    // A device that was killed has left its address.
    let credentials = String(decoding: try state.read("credentials.json"), as: UTF8.self)
    _ = try state.write("credentials.json", credentials.replacing("{", with: #"{"device":"https://127.0.0.1:1","#, maxReplacements: 1))
    let gateway = try await gateway(in: state)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let id = try #require(try await gateway.send(.widgets(token))["apns-id"])
    let clause = "he upstream device at 127.0.0.1:1 cannot be reached ("
    func warnings() async throws -> [String] {
      let ready = try await gateway.control("GET", "/readyz", as: nil)
      #expect(ready.status == 200, "what comes is taken all the same: \(ready)")
      return try ready.json["warnings"].array.compactMap(\.string)
    }
    try await eventually("/readyz warns") { try await warnings().contains { $0.hasPrefix("T" + clause) } }
    func explained() async throws -> String {
      try await run([Deployment.executable, "explain", id, "--state-dir", state.path]).text
    }
    try await eventually("the push waits") { try await explained().contains("waiting (upstreamUnavailable)") }
    let story = try await explained()
    #expect(story.contains("\n  T" + clause) && story.contains("see that it runs there, that this address"), "\(story)")
    try await eventually("what was not sent is no attempt") {
      let story = try await explained()
      return story.contains("nothing was sent") && !story.contains("attempt ")
    }

    for round in 1...2 {
      let device = try await Deployment.start(["device"], in: state)
      let token = newToken()
      try await gateway.register(token, RegistrationBody.widgets)
      try await gateway.settled(try #require(try await gateway.send(.widgets(token))["apns-id"]), as: "applied")
      try await gateway.settled(id, as: "applied")
      try await eventually("/readyz warns of nothing") { try await warnings().isEmpty }
      gateway.process.signal(SIGHUP)
      try await eventually("nothing has changed") { told("the configuration was read again changed=nothing", by: gateway) == round }
      try await device.crash()
    }
    #expect(told("need a restart", by: gateway) == 0, "\(gateway.process.errors.text)")
    #expect(try await gateway.terminate() == 0)
  }

  /// What a push did while the gateway could not be asked is not said to be known, and is put right by the next push after that.
  @Test func whatCannotBeAskedIsSaid() async throws {
    let state = try Folder()
    let device = try await Deployment.start(["device"], in: state)
    let gateway = try await gateway(in: state)
    let token = try await activity(gateway)
    let credentials = String(decoding: try state.read("credentials.json"), as: UTF8.self)
    let control = try gateway.url("control").split(separator: "/").last.map(String.init) ?? ""
    _ = try state.write("credentials.json", credentials.replacing(control, with: "127.0.0.1:1"))
    for _ in 1...2 {
      let record = try await update(gateway, token)
      #expect(record["disposition"].string == "applied" && record["certainty"].string == "likely", "\(record)")
      let detail = record["detail"].string ?? ""
      #expect(!detail.contains("is not known"), "\(detail)")
      let said = "what its token was registered as and its app's schemas were not checked, since the gateway did not answer "
      #expect(detail.contains("\(said)(nothing listens at https://127.0.0.1:1/"), "\(detail)")
    }
    func devices() async throws -> [String?] {
      try await device.control("GET", "/v1/devices", as: "read", face: "device").json["devices"].array.map { $0["device"].string }
    }
    #expect(try await devices() == [token])
    _ = try state.write("credentials.json", credentials)
    expectDropped(try await update(gateway, token))
    #expect(try await devices() == ["desk"])
    #expect(try await device.terminate() == 0)
    #expect(
      told(Self.lost, by: device) <= 2 && told(Self.found, by: device) == told(Self.lost, by: device), "\(device.process.errors.text)")
    #expect(try await gateway.terminate() == 0)
  }
}
