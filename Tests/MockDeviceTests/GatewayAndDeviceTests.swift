import Configuration
import DeviceModel
import Foundation
import HTTPClient
import JSON
import Primitives
import Push
import Security
import Telemetry
import Testing

@testable import Gateway
@testable import MockDevice

/// A gateway and a mock device in this process, joined by real sockets as two processes would be.
final class Pair: Sendable {
  let gateway: Gateway
  let device: Device
  /// The two ports of the provider API.
  let providers: [String]
  let control: String
  private let signer: ProviderTokenSigner
  private let ca: String

  static let app = "com.example.app"
  /// How long the gateway may take to answer: its tasks have few threads, which other tests may keep for a minute and more.
  static let patience = TimeSpan.seconds(600)
  private static let now: @Sendable () -> Instant = { Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)) }

  init(devices: JSONValue?, validation: AppPolicy.Validation = .strict) throws {
    let (now, clock) = (Self.now(), Self.now)
    let authority = try CertificateAuthority.make(commonName: "pair", now: now, days: 1)
    let leaf = try authority.issue(names: ["localhost", "127.0.0.1"], now: now, days: 1)
    let identity = ServerIdentity(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
    let ca = try authority.certificate.pem()
    let (backend, own) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
    signer = try ProviderTokenSigner(teamID: "TEAM123456", keyID: "BACKEND123", key: backend)

    var gateway = GatewayConfiguration()
    (gateway.providerPorts, gateway.controlPort) = ([0, 0], 0)
    // Each push is signed anew.
    gateway.tokenUpdates = .off
    gateway.identity = identity
    gateway.store = .memory
    gateway.providers = [ProviderKey(keyID: "BACKEND123", teamID: "TEAM123456", keyPEM: try backend.publicKey.pem())]
    gateway.signingKeys = [SigningKey(teamID: "TEAM123456", keyID: "GATEWAY123", keyPEM: try own.pem())]
    gateway.anyApp = .init(bundleID: "", developmentUpstream: "device", productionUpstream: "device")
    gateway.anyApp?.policy.validation = validation
    gateway.accessTokens = [
      AccessTokenSettings(name: "admin", scopes: ["admin"], secret: .text("admin")),
      AccessTokenSettings(name: "register", scopes: ["register"], secret: .text("register")),
    ]
    let sockets = try GatewaySockets.bind(gateway)
    providers = sockets.providerAddresses.map { "https://127.0.0.1:\($0.port)" }
    control = "https://127.0.0.1:\(sockets.controlAddress.port)"

    var configuration = DeviceConfiguration()
    configuration.port = 0
    configuration.identity = identity
    configuration.providers = [ProviderKey(keyID: "GATEWAY123", teamID: "TEAM123456", keyPEM: try own.publicKey.pem())]
    configuration.accessTokens = gateway.accessTokens
    configuration.gateway = .init(url: control, accessToken: "admin", authorityPEM: ca)
    configuration.devices = devices
    let log = Log(format: .text, level: .error, clock: clock, sink: { _ in })
    var surroundings = Device.Surroundings(version: "test", log: log, clock: clock)
    surroundings.hold = Self.patience
    device = try Device(configuration, surroundings)
    try device.start()

    gateway.upstreams = [UpstreamSettings(name: "device", host: "127.0.0.1", port: device.port, authorityPEM: ca)]
    self.gateway = try Gateway(gateway, sockets, Gateway.Surroundings(version: "test", clock: clock))
    self.ca = ca
  }

  deinit {
    gateway.drain()
    device.stop()
  }

  /// One call on a connection of its own: an idle one would hold up the gateway's end.
  private func perform(_ request: BlockingHTTPClient.Request) async throws -> BlockingHTTPClient.Response {
    try await blocking { [ca, patience = Self.patience] in
      try BlockingHTTPClient(trust: .pem(ca), bounds: .init(total: patience)).perform(request)
    }
  }

  /// Calls an API and gives its JSON.
  func call(_ method: String, _ url: String, as secret: String = "admin", _ body: JSONValue? = nil) async throws -> JSONValue {
    let request = BlockingHTTPClient.Request(
      method, url, fields: [.init("authorization", "Bearer \(secret)")], body: body.map { Array($0.serialized().utf8) })
    let response = try await perform(request)
    return response.body.isEmpty ? .null : try JSONValue.parse(response.body)
  }

  /// Pushes as a backend would, and gives the status.
  func push(_ payload: String, of app: String = Pair.app, to token: String, _ type: PushType, id: PushID, port: Int = 0) async throws -> Int
  {
    let fields: [BlockingHTTPClient.Field] = [
      .init("authorization", "bearer \(try signer.token(now: Self.now()))"), .init("apns-id", id.description),
      .init("apns-push-type", type.description), .init("apns-topic", app + type.topicSuffix.description),
      .init("apns-priority", "10"), .init("apns-expiration", "0"),
    ]
    let request = BlockingHTTPClient.Request("POST", "\(providers[port])/3/device/\(token)", fields: fields, body: Array(payload.utf8))
    return try await perform(request).status
  }

  /// What the gateway knows of a push in the end.
  func fate(of id: PushID) async throws -> JSONValue {
    for _ in 0..<1000 {
      let push = try await call("GET", "\(control)/v1/pushes/\(id)")
      let disposition = push["disposition"]?.stringValue.flatMap { Disposition(name: $0) }
      if let disposition, disposition.isFinal { return push }
      // The answer itself takes a round trip, so this does not spin.
    }
    throw PairError.noFate
  }
}

enum PairError: Error { case noFate }

@Suite("A gateway and a mock device together") struct GatewayAndDeviceTests {
  private static let devices: JSONValue = [
    [
      "name": "phone",
      "apps": [
        [
          "bundleID": "com.example.app", "manifest": ["activities": [["attributesType": "OrderAttributes"]]],
          "widgets": [["kind": "Orders"]], "controls": [["kind": "Lamp"]],
        ]
      ],
    ]
  ]

  private func id(_ number: UInt64) -> PushID { PushID(high: 0xABCD, low: number) }

  @Test func everyKindOfPushFindsItsWay() async throws {
    let pair = try Pair(devices: Self.devices)
    #expect(await pair.device.waitUntilRegistered(atMost: Pair.patience))
    let device = "https://127.0.0.1:\(pair.device.port)"
    let app = try #require(try await pair.call("GET", "\(device)/v1/devices/phone/state")["apps"]?[0])
    func token(_ value: JSONValue?) throws -> String { try #require(value?["token"]?.stringValue) }

    #expect(try await pair.push(contentChanged, to: token(app["widgetExtension"]), .widgets, id: id(1)) == 200)
    let reloaded = try await pair.fate(of: id(1))
    #expect(reloaded["disposition"] == "applied")
    #expect(reloaded["cause"] == "reloaded")
    #expect(try await pair.push(contentChanged, to: token(app["controls"]?[0]), .controls, id: id(2)) == 200)
    #expect(try await pair.fate(of: id(2))["disposition"] == "applied")

    let start =
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"Order","attributes":{},"alert":{"title":"x"}}}"#
    #expect(try await pair.push(start, to: token(app["pushToStart"]), .liveactivity, id: id(3)) == 200)
    let ignored = try await pair.fate(of: id(3))
    #expect(ignored["disposition"] == "ignored")
    #expect(ignored["cause"] == "attributesTypeUnknown")
    #expect(ignored["detail"]?.stringValue?.contains("is OrderAttributes meant?") == true)

    // The app is removed: the gateway learns of it by the next push, and retires the token.
    _ = try await pair.call("DELETE", "\(device)/v1/devices/phone/apps/com.example.app")
    #expect(try await pair.push(#"{"aps":{"alert":"x"}}"#, to: token(app["app"]), .alert, id: id(4)) == 200)
    #expect(try await pair.fate(of: id(4))["cause"] == "unregistered")
    #expect(try await pair.push(#"{"aps":{"alert":"x"}}"#, to: token(app["app"]), .alert, id: id(5)) == 410)
  }

  /// A new token is no new start: what the old one has spent stays spent.
  @Test func aRotatedTokenGoesOnWithItsBudget() async throws {
    let pair = try Pair(devices: Self.devices)
    #expect(await pair.device.waitUntilRegistered(atMost: Pair.patience))
    let device = "https://127.0.0.1:\(pair.device.port)/v1/devices/phone"
    let app = try #require(try await pair.call("GET", "\(device)/state")["apps"]?[0])
    let old = try #require(app["controls"]?[0]?["token"]?.stringValue)
    #expect(try await pair.push(contentChanged, to: old, .controls, id: id(1)) == 200)
    #expect(try await pair.fate(of: id(1))["disposition"] == "applied")
    let spent = try #require(try await pair.call("GET", "\(pair.control)/v1/budgets/\(old)")["budgets"]?[0])
    let remaining = try #require(spent["remaining"]?.intValue)
    #expect(spent["burst"]?.intValue ?? 0 > remaining)

    let rotated = try await pair.call("POST", "\(device)/rotate?wait=30s", ["type": "controls"])["rotated"]?[0]
    #expect(rotated?["old"]?.stringValue == old && rotated?["registration"] == "registered")
    let new = try #require(rotated?["token"]?.stringValue)
    let report = try await pair.call("GET", "\(pair.control)/v1/budgets/\(new)")["budgets"]?[0]
    #expect(report?["remaining"]?.intValue == remaining)
    _ = try await pair.call("GET", "https://127.0.0.1:\(pair.device.port)/v1/events?event=tokenUnregistered&wait=30s&count=1")
    #expect(try await pair.call("GET", "\(pair.control)/v1/registrations/\(old)")["error"] != nil)
    #expect(try await pair.call("GET", "\(pair.control)/v1/registrations/\(new)")["type"] == "controls")
  }

  @Test func eachPortServes() async throws {
    let pair = try Pair(devices: nil)
    #expect(Set(pair.providers).count == 2)
    for port in pair.providers.indices {
      #expect(try await pair.push(contentChanged, to: "00c0ffee", .widgets, id: id(UInt64(port)), port: port) == 400)
    }
  }

  @Test func aTokenIsHostedAsWhatItWasRegisteredAs() async throws {
    let pair = try Pair(devices: nil)
    let activity: JSONValue = [
      "type": "liveactivity", "bundleID": "com.example.app", "environment": "development",
      "activity": ["id": "Delivery-9", "attributesType": "DeliveryAttributes"],
    ]
    let control: JSONValue = [
      "type": "controls", "bundleID": "com.example.app", "environment": "development", "control": ["kind": "Lamp"],
    ]
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00ac", activity)
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00c0", control)
    let now = Int(Date().timeIntervalSince1970)
    let update = #"{"aps":{"timestamp":\#(now),"event":"update","content-state":{"stops":2}}}"#
    #expect(try await pair.push(update, to: "00ac", .liveactivity, id: id(1)) == 200)
    #expect(
      try await pair.fate(of: id(1))["detail"]
        == "activity Delivery-9; no schema is known for DeliveryAttributes, so its content-state was not checked")
    #expect(try await pair.push(contentChanged, to: "00c0", .controls, id: id(2)) == 200)
    #expect(try await pair.fate(of: id(2))["disposition"] == "applied")
    let state = try await pair.call("GET", "https://127.0.0.1:\(pair.device.port)/v1/devices/00c0/state")
    #expect(state["apps"]?[0]?["controls"]?[0]?["kind"] == "Lamp")
  }

  @Test func eachPushFindsWhatItsTokenIsRegisteredAsNow() async throws {
    let pair = try Pair(devices: nil)
    let device = "https://127.0.0.1:\(pair.device.port)/v1/devices"
    var word: JSONObject = [
      "type": "widgets", "bundleID": "com.example.app", "environment": "development", "device": "kates-phone", "user": "kate",
      "widgets": [["kind": "Steps", "family": "systemSmall"], ["kind": "Steps", "family": "systemMedium"]],
    ]
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00c0ffee", .object(word))
    #expect(try await pair.push(contentChanged, to: "00c0ffee", .widgets, id: id(1)) == 200)
    #expect(try await pair.fate(of: id(1))["detail"] == "2 widgets")
    let kates = try await pair.call("GET", "\(device)/kates-phone")
    #expect(kates["user"] == "kate")
    #expect(kates["apps"]?[0]?["widgets"]?.arrayValue?.map { $0["family"] } == ["systemSmall", "systemMedium"])

    word["device"] = "desk"
    word["widgets"] = [["kind": "Orders", "family": "systemLarge"]]
    word["minimumIntervalSeconds"] = 0
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00c0ffee", .object(word))
    #expect(try await pair.push(contentChanged, to: "00c0ffee", .widgets, id: id(2)) == 200)
    #expect(try await pair.fate(of: id(2))["detail"] == "widget Orders-1")
    #expect(try await pair.call("GET", device)["devices"]?.arrayValue?.map { $0["device"] } == ["desk"])
  }

  @Test func aTokenRegisteredByHandIsHosted() async throws {
    let pair = try Pair(devices: nil)
    let registration: JSONValue = ["type": "widgets", "bundleID": "com.example.app", "environment": "development"]
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00c0ffee", registration)
    #expect(try await pair.push(contentChanged, to: "00c0ffee", .widgets, id: id(1)) == 200)
    #expect(try await pair.fate(of: id(1))["disposition"] == "applied")
    let state = try await pair.call("GET", "https://127.0.0.1:\(pair.device.port)/v1/devices/00c0ffee/state")
    #expect(state["apps"]?[0]?["widgets"]?[0]?["lastPush"]?.stringValue == id(1).description)
  }
}
