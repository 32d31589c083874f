import DeviceModel
import JSON
import Primitives
import Push
import Reactor
import Testing

@testable import MockDevice

@Suite("Registering with the gateway") struct RegistrationQueueTests {
  private let start = Uptime(nanoseconds: 1_000_000_000_000)

  private func queue() -> RegistrationQueue { RegistrationQueue(retry: (.milliseconds(100), .milliseconds(400))) }

  private func register(_ byte: UInt8, device: String = "phone") -> DeviceEffect {
    let token = DeviceToken(hex: Hexadecimal.encode([byte]))!
    var registration = Registration(token: token, kind: .widgets, bundleID: "com.example.app", environment: .development)
    registration.device = device
    return .register(registration)
  }

  @Test func effectsGoInOrder() {
    var queue = queue()
    let effects = [register(1), register(2), .unregister(register(3).token)]
    for effect in effects { queue.add(effect) }
    var verdicts: [RegistrationQueue.Verdict] = []
    for effect in effects {
      #expect(queue.next(at: start) == effect)
      verdicts.append(queue.finish(effect, .done, at: start))
    }
    #expect(verdicts == [.settled(.registered), .settled(.registered), .settled(.none)])
    #expect(queue.count == 0)
    #expect(queue.due == nil)
    #expect(queue.next(at: start) == nil)
  }

  @Test func onlyTheNewestWordOnATokenCounts() {
    var queue = queue()
    queue.add(register(1, device: "old"))
    queue.add(register(2))
    queue.add(register(1, device: "new"))
    #expect(queue.count == 2)
    #expect(queue.next(at: start) == register(1, device: "new"))
    // While that call is under way, the app says something else.
    queue.add(.unregister(register(1).token))
    #expect(queue.finish(register(1, device: "new"), .done, at: start) == .superseded)
    #expect(queue.finish(register(2), .done, at: start) == .settled(.registered))
    #expect(queue.next(at: start) == .unregister(register(1).token))
  }

  @Test func aGatewayThatIsNotThereYetIsAskedAgainEverMoreSlowly() {
    var queue = queue()
    queue.add(register(1))
    var now = start
    var waits: [Int64] = []
    for attempt in 0..<5 {
      #expect(queue.next(at: now) == register(1))
      #expect(queue.finish(register(1), .failed("refused"), at: now) == .again("refused", isFirst: attempt == 0))
      #expect(queue.next(at: now) == nil)
      let due = queue.due ?? now
      waits.append((due - now).milliseconds)
      now = due
    }
    #expect(waits == [100, 200, 400, 400, 400])
    #expect(queue.finish(register(1), .done, at: now) == .settled(.registered))
    queue.add(register(2))
    #expect(queue.finish(register(2), .failed("again"), at: now) == .again("again", isFirst: true))
  }

  @Test func aRefusalIsGivenUpAndTheNextGoesOn() {
    var queue = queue()
    queue.add(register(1))
    queue.add(register(2))
    #expect(queue.finish(register(1), .refused("no"), at: start) == .givenUp("no"))
    #expect(queue.next(at: start) == register(2))
  }

  /// Whatever was to be said of the old token before, it is taken back after the new one stands in its place.
  @Test(arguments: [false, true]) func aTokenIsReplacedBeforeItIsRemoved(isHeldUp: Bool) {
    var queue = queue()
    let registration = register(2).registration!
    queue.add(register(1))
    if isHeldUp {
      #expect(queue.finish(register(1), .failed("refused"), at: start) == .again("refused", isFirst: true))
    }
    queue.add(.replace(register(1).token, by: registration))
    queue.add(.unregister(register(1).token))
    // The app says more of the new token: it still has to go on with what the old one had.
    queue.add(register(2, device: "new"))
    let replace = DeviceEffect.replace(register(1).token, by: register(2, device: "new").registration!)
    let later = start + .seconds(1)
    #expect(queue.next(at: later) == replace)
    #expect(queue.finish(replace, .done, at: later) == .settled(.registered))
    #expect(queue.next(at: later) == .unregister(register(1).token))
    #expect(queue.finish(.unregister(register(1).token), .done, at: later) == .settled(.none))
    #expect(queue.count == 0 && queue.next(at: later) == nil)
  }

  /// Twice rotated while the gateway is away: the newest token goes on from the one that the gateway knows.
  @Test func theNewestTokenReplacesTheOneThatIsKnown() {
    var queue = queue()
    for byte in [2, 3] as [UInt8] {
      queue.add(.replace(register(byte - 1).token, by: register(byte).registration!))
      queue.add(.unregister(register(byte - 1).token))
    }
    var told: [DeviceEffect] = []
    while let effect = queue.next(at: start) {
      told.append(effect)
      _ = queue.finish(effect, .done, at: start)
    }
    let replaced = told.firstIndex(of: .replace(register(1).token, by: register(3).registration!))
    let removed = told.firstIndex(of: .unregister(register(1).token))
    #expect(replaced != nil && removed != nil && replaced! < removed!)
    #expect(told.count == 3)
  }

  @Test func aLongQueueLosesNothing() {
    var queue = queue()
    for round in 0..<5000 {
      let byte = UInt8(truncatingIfNeeded: round)
      queue.add(register(byte, device: "\(round)"))
      if round % 3 == 0, let effect = queue.next(at: start) { _ = queue.finish(effect, .done, at: start) }
    }
    var last: [DeviceToken: String] = [:]
    while let effect = queue.next(at: start) {
      if case .register(let registration) = effect { last[registration.token] = registration.device }
      _ = queue.finish(effect, .done, at: start)
    }
    #expect(queue.count == 0)
    for (_, device) in last { #expect((Int(device) ?? 0) >= 5000 - 2 * 256) }
  }

  @Test(arguments: [
    (200, RegistrationQueue.Outcome.done), (201, .done), (204, .done),
    (403, .refused("the gateway answered 403: the access token lacks the scope register")),
    (404, .refused("the gateway answered 404: the access token lacks the scope register")),
    (429, .failed("the gateway answered 429: the access token lacks the scope register")),
    (503, .failed("the gateway answered 503: the access token lacks the scope register")),
  ])
  func answersOfTheGateway(status: Int, outcome: RegistrationQueue.Outcome) {
    let body = Array(#"{"error":{"code":"forbidden","message":"the access token lacks the scope register"}}"#.utf8)
    #expect(RegistrationCall.outcome(register(1), status: status, body: body) == outcome)
  }

  @Test func thereIsNothingToRemove() {
    #expect(RegistrationCall.outcome(.unregister(register(1).token), status: 404, body: []) == .done)
    #expect(RegistrationCall.outcome(.unregister(register(1).token), status: 500, body: []) == .failed("the gateway answered 500"))
  }

  @Test func theRequestIsWhatTheControlAPITakes() throws {
    let token = try #require(DeviceToken(hex: "ab01"))
    var registration = Registration(token: token, kind: .widgets, bundleID: "com.example.app", environment: .development)
    registration.device = "phone"
    registration.user = "alice"
    registration.platform = "iOS"
    registration.widgets = [Registration.Widget(id: "Orders-1", kind: "Orders", family: "systemSmall")]
    let gateway = GatewayAccess(url: "https://gateway:8443/", accessToken: "secret", upstream: "device")
    let put = RegistrationCall.request(.register(registration), gateway)
    #expect(put.method == "PUT")
    #expect(put.url == "https://gateway:8443/v1/registrations/ab01")
    #expect(put.fields.first { $0.name == "authorization" }?.value == "Bearer secret")
    #expect(
      try JSONValue.parse(put.body ?? []) == [
        "type": "widgets", "bundleID": "com.example.app", "environment": "development", "upstream": "device", "device": "phone",
        "user": "alice", "platform": "iOS", "widgets": [["kind": "Orders", "family": "systemSmall", "id": "Orders-1"]],
      ])
    let successor = RegistrationCall.request(.replace(try #require(DeviceToken(hex: "ab00")), by: registration), gateway)
    #expect(successor.method == "PUT" && successor.url == put.url)
    #expect(try JSONValue.parse(successor.body ?? [])["replaces"] == "ab00")
    let delete = RegistrationCall.request(.unregister(token), gateway)
    #expect(delete.method == "DELETE")
    #expect(delete.body == nil)

    registration.kind = .liveactivity
    registration.widgets = []
    registration.activity = Registration.Activity(id: "T-1", attributesType: "T")
    #expect(RegistrationCall.json(registration, upstream: nil)["activity"] == ["id": "T-1", "attributesType": "T"])
    registration.kind = .controls
    registration.controlKind = "Lamp"
    registration.developerMode = true
    #expect(RegistrationCall.json(registration, upstream: nil)["control"] == ["kind": "Lamp"])
    #expect(RegistrationCall.json(registration, upstream: nil)["developerMode"] == true)
  }
}
