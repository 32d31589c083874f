import Configuration
import DeviceModel
import JSON
import Primitives
import Push
import Reactor
import Recorder
import Synchronization
import Testing

@testable import MockDevice

@Suite("Tokens on their way to the gateway") struct RegistrarTests {
  private let app = DeviceUnderTest.app

  private let plan: JSONValue = [
    ["name": "phone", "apps": [["bundleID": "com.example.app", "widgets": [["kind": "Orders"]]]]]
  ]

  @Test func aPlansTokensAreRegisteredAtTheStart() async throws {
    let gateway = try GatewayStage()
    let test = try DeviceUnderTest(devices: plan, gateway: gateway.access())
    defer { test.device.stop() }
    #expect(await test.device.waitUntilRegistered(atMost: .seconds(30)))
    let calls = gateway.calls.all
    #expect(calls.map { $0.body?["type"] } == ["app", "pushToStart", "widgets"])
    #expect(calls.allSatisfy { $0.method == "PUT" && $0.authorization == "Bearer register" })
    #expect(calls[2].body?["widgets"] == [["kind": "Orders", "family": "systemSmall", "id": "Orders-1"]])
    let state = try await test.call(.get, "/v1/devices/phone/state").json
    #expect(state["apps"]?[0]?["widgetExtension"]?["registration"] == "registered")
    #expect(calls[2].path == "/v1/registrations/\(state["apps"]?[0]?["widgetExtension"]?["token"]?.stringValue ?? "")")
  }

  @Test func aDeviceMayStartBeforeItsGateway() async throws {
    let port = try QuietPort()
    let test = try DeviceUnderTest(devices: plan, gateway: GatewayStage.access(port: port.number))
    defer { test.device.stop() }
    let failed = try await test.call(.get, "/v1/events?event=registrationFailed&wait=30s").json
    #expect(failed["events"]?[0]?["detail"]?.stringValue?.contains("connection refused") == true)
    let placed = try await test.call(.post, "/v1/devices/phone/controls?wait=0s", ["bundleID": .string(app), "kind": "Lamp"])
    #expect(placed.json["registration"] == "pending")

    let gateway = try GatewayStage(port: port.number)
    #expect(await test.device.waitUntilRegistered(atMost: .seconds(30)))
    #expect(Set(gateway.calls.all.compactMap { $0.body?["type"]?.stringValue }) == ["app", "pushToStart", "widgets", "controls"])
    let told = try await test.call(.get, "/v1/events?event=registrationFailed").json["events"]?.arrayValue
    #expect(told?.count == 1, "an outage is told once")
    withExtendedLifetime(port) {}
  }

  @Test func placingAnswersOnceTheGatewayHasTheToken() async throws {
    let gateway = try GatewayStage()
    let test = try DeviceUnderTest(devices: plan, gateway: gateway.access())
    defer { test.device.stop() }
    let installed = try await test.call(.post, "/v1/devices/phone/apps?wait=30s", ["bundleID": "com.example.other"])
    #expect(installed.json["app"]?["registration"] == "registered")
    #expect(installed.json["pushToStart"]?["registration"] == "registered")
    let placed = try await test.call(.post, "/v1/devices/phone/controls?wait=30s", ["bundleID": .string(app), "kind": "Lamp"])
    #expect(placed.json["registration"] == "registered")
    let token = try #require(placed.json["token"]?.stringValue)
    #expect(gateway.calls.all.contains { $0.path == "/v1/registrations/\(token)" })
    let rotated = try await test.call(.post, "/v1/devices/phone/rotate?wait=30s", ["type": "controls"])
    #expect(rotated.json["rotated"]?[0]?["old"]?.stringValue == token)
    #expect(rotated.json["rotated"]?[0]?["registration"] == "registered")
    #expect(try await test.call(.delete, "/v1/devices/phone/controls/Lamp-1").status == 204)
    let new = try #require(rotated.json["rotated"]?[0]?["token"]?.stringValue)
    _ = try await test.call(.get, "/v1/events?event=tokenUnregistered&wait=30s&count=2")
    let removed = gateway.calls.all.filter { $0.method == "DELETE" }.map(\.path)
    #expect(removed == ["/v1/registrations/\(token)", "/v1/registrations/\(new)"])
  }

  @Test func whatTheGatewayRefusesIsSaid() async throws {
    let gateway = try GatewayStage(status: 403)
    let test = try DeviceUnderTest(devices: plan, gateway: gateway.access())
    defer { test.device.stop() }
    #expect(await test.device.waitUntilRegistered(atMost: .seconds(30)))
    let placed = try await test.call(.post, "/v1/devices/phone/controls?wait=30s", ["bundleID": .string(app), "kind": "Lamp"])
    #expect(placed.json["registration"] == "refused")
    #expect(placed.json["problem"] == "the gateway answered 403: not today")
  }

  @Test func aGatewayThatTellsNothingHoldsNoPushUp() async throws {
    let gateway = try GatewayStage(status: 403)
    let quiet = try QuietPort()
    defer { withExtendedLifetime(quiet) {} }
    let silent = try GatewayStage.access(port: quiet.number)
    for (access, why) in [
      (try gateway.access(), "the gateway answered 403: not today"), (silent, "the gateway did not answer (nothing listens at "),
    ] {
      let test = try DeviceUnderTest(gateway: access)
      defer { test.device.stop() }
      let outcome = try #require(try await test.push(contentChanged, to: "00c0", .controls).fields["widgetpush-outcome"])
      #expect(outcome.hasPrefix("applied reloaded what its token was registered as was not checked, since \(why)"), "\(outcome)")
      let state = try await test.call(.get, "/v1/devices/00c0/state").json
      #expect(state["apps"]?[0]?["controls"]?[0]?["kind"] == "unknown")
    }
    #expect(gateway.calls.all.map(\.method) == ["GET"])
  }

  @Test func aGatewayThatNeverAnswersHoldsAPushUpForAMomentOnly() async throws {
    let deaf = try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
    let test = try DeviceUnderTest(gateway: GatewayStage.access(port: deaf.address.port), hold: .milliseconds(50))
    defer { test.device.stop() }
    async let first = test.push(contentChanged, to: "00c0", .controls)
    async let second = test.push(contentChanged, to: "00c0", .controls)
    let said = "applied reloaded what its token was registered as was not checked, since the gateway did not answer "
    #expect(try await [first, second].allSatisfy { $0.fields["widgetpush-outcome"]?.hasPrefix(said) == true })
    withExtendedLifetime(deaf) {}
  }

  @Test func questionsAreBoundedAndAGatewayThatIsSilentIsLeftAlone() throws {
    var allowance = QuestionAllowance(atOnce: 3, eachSecond: 10)
    func take(_ milliseconds: Int64, times: Int = 1, isNeeded: Bool = false) -> [Bool] {
      let now = Uptime(nanoseconds: milliseconds * 1_000_000)
      return (0..<times).map { _ in allowance.take(at: now, isNeeded: isNeeded) }
    }
    #expect(take(0, times: 5) == [true, true, true, false, false])
    #expect(take(0, isNeeded: true) == [true], "what a push hangs on is asked in any case")
    #expect(take(150) == [false] && take(200) == [true])
    #expect(take(10_000, times: 5) == [true, true, true, false, false])
    allowance.pause(at: Uptime(nanoseconds: 20_000_000_000))
    #expect(take(20_001) == [false] && take(20_001, isNeeded: true) == [true])
    #expect(take(20_000 + Limits.tokenQuestionPauseMilliseconds) == [true])
    allowance.pause(at: Uptime(nanoseconds: 40_000_000_000))
    allowance.resume()
    #expect(take(40_001) == [true], "it answers again")
  }

  /// A gateway that does not answer costs one push a moment, and not each one: neither one that says nothing, nor one that says it too late.
  @Test(arguments: [true, false]) func aSilentGatewayIsAskedOnceAboutWidgets(saysSo: Bool) throws {
    let clock = HandClock()
    let loop = try EventLoop(clock: { Instant(unixSeconds: 1_796_000_000) }, uptime: { clock.uptime })
    let keeper = FleetKeeper(DeviceFleet(seed: "silence", hashSeed: 1, registersTokens: true), on: loop)
    let token = try #require(DeviceToken(hex: "00c0"))
    var (asked, applied) = (0, 0)
    keeper.ask = { _ in
      asked += 1
      return true
    }
    func pass(_ milliseconds: Int64) {
      clock.advance(.milliseconds(milliseconds))
      loop.turn(waitingAtMost: .zero)
    }
    func push() {
      guard keeper.asksFirst(about: nil, .widgets) else {
        applied += 1
        return
      }
      keeper.hold(token) { applied += 1 }
      pass(Limits.heldPushMilliseconds - 1)
      if saysSo { keeper.learn(.registration(token, .silence(.init(why: "the gateway did not answer", costsTime: true)))) } else { pass(1) }
    }
    for count in 1...3 {
      push()
      #expect(applied == count && asked == 1)
    }
    pass(Limits.tokenQuestionPauseMilliseconds)
    push()
    #expect(applied == 4 && asked == 2)
  }

  /// The gateway is looked for wherever it is at the moment: nowhere, on a port where nobody listens, on two others one after the other.
  @Test(.timeLimit(.minutes(5))) func theGatewayIsLookedUpWheneverItIsNeeded() async throws {
    let whereabouts = Mutex(GatewayWhereabouts.unknown("none runs here"))
    let lines = Recorder<String>()
    let test = try DeviceUnderTest(devices: plan, log: { lines.append($0) }, findGateway: { whereabouts.withLock { $0 } })
    defer { test.device.stop() }
    func outcome() async throws -> String {
      try await test.push(contentChanged, to: "00c0", .controls).fields["widgetpush-outcome"] ?? ""
    }
    let unchecked = "applied reloaded what its token was registered as was not checked, since "
    for _ in 1...3 { #expect(try await outcome().hasPrefix(unchecked + "no gateway is known (none runs here)")) }
    let placed = try await test.call(.post, "/v1/devices/phone/controls?wait=0s", ["bundleID": .string(app), "kind": "Lamp"]).json
    #expect(placed["registration"] == "pending")
    #expect(placed["problem"]?.stringValue?.hasPrefix("no gateway is known (none runs here)") == true, "\(placed)")

    let quiet = try QuietPort()
    defer { withExtendedLifetime(quiet) {} }
    let nobody = try GatewayStage.access(port: quiet.number)
    whereabouts.withLock { $0 = .found(nobody) }
    for _ in 1...3 { #expect(try await outcome().hasPrefix(unchecked + "the gateway did not answer (nothing listens at ")) }

    let gateways = try [GatewayStage(status: 404), GatewayStage(status: 404)]
    for gateway in gateways {
      let access = try gateway.access()
      whereabouts.withLock { $0 = .found(access) }
      let outcome = try await outcome()
      #expect(outcome == "applied reloaded", "the next push finds it: \(outcome)")
      #expect(gateway.calls.all.contains { $0.method == "GET" && $0.path == "/v1/registrations/00c0" })
    }
    // Another port is no outage of its own, and an outage is told once.
    try await lines.until { $0.contains { $0.contains("the gateway answers") } }
    let told = lines.all.filter { $0.contains("gateway") && !$0.contains("registrationFailed") && !$0.contains("not checked") }
    #expect(told.count == 2 && told[0].contains("there is no gateway to ask"), "\(told)")
  }

  /// What a log says of calls that go well and badly in every order.
  @Test func eachChangeOfTheLinkIsToldOnce() {
    var link = GatewayLink()
    func changes(_ findings: GatewayLink.Finding...) -> [GatewayLink.Change?] { findings.map { link.note($0) } }
    #expect(changes(.reached, .told, .reached) == [nil, nil, nil], "what is as it should be is not worth a line")
    #expect(changes(.unreachable("a"), .unreachable("b")) == [.lost("a"), nil])
    #expect(link.isToBeLookedFor)
    #expect(changes(.reached, .unwilling("403"), .reached, .unwilling("403")) == [.restored, .refuses("403"), nil, nil])
    #expect(!link.isToBeLookedFor)
    #expect(changes(.unreachable("c"), .unwilling("403"), .told, .told) == [.lost("c"), .refuses("403"), .restored, nil])
    link = GatewayLink()
    #expect(changes(.unreachable("at the start"), .reached) == [.lost("at the start"), .restored])
  }

  @Test func aStartedActivityRegistersItsUpdateToken() async throws {
    let gateway = try GatewayStage()
    let test = try DeviceUnderTest(devices: plan, gateway: gateway.access())
    defer { test.device.stop() }
    let state = try await test.call(.get, "/v1/devices/phone/state").json
    let pushToStart = try #require(state["apps"]?[0]?["pushToStart"]?["token"]?.stringValue)
    let start =
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"T","attributes":{},"alert":{"title":"x"}}}"#
    #expect(try await test.push(start, to: pushToStart, .liveactivity).fields["widgetpush-outcome"] == "applied started activity T-1")
    #expect(await test.device.waitUntilRegistered(atMost: .seconds(30)))
    #expect(gateway.calls.all.last?.body?["activity"] == ["id": "T-1", "attributesType": "T"])
  }
}
