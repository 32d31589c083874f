import Delivery
import Primitives
import Push
import Testing

@testable import Storage

extension Bench {
  /// Asks for an activity by name, and makes what follows.
  @discardableResult
  func show(_ name: String, _ shown: String, user: String = "alice", alert: String? = "{}", type: String = "Ride") throws -> ActivityAnswer
  {
    let request = ActivityRequest(
      bundleID: Bench.bundle, name: name, target: .user(user), attributesType: type,
      content: .init(state: shown, alert: alert))
    let tokens = try engine.registrations(RegistrationQuery(bundleID: Bench.bundle, user: user)).map(\.0).filter {
      $0.kind == .pushToStart || $0.activity?.id == name
    }
    let answer = state.show(request, tokens, at: now)
    try carryOut()
    return answer
  }

  /// One round of the store thread for activities.
  func carryOut() throws {
    let batch = Batch()
    state.carryOutActivities(loops: 1, at: now) { _ in batch }
    collect(batch)
    try commit()
  }

  func endActivity(_ name: String) throws {
    let number = state.errands.activities.number(Bench.bundle, name)!
    let now = now
    state.errands.changeActivity(number) { $0.end(state: nil, dismissalDate: nil, at: now) }
    try carryOut()
  }

  func named(_ name: String) -> NamedActivity? {
    state.errands.activities.number(Bench.bundle, name).flatMap { state.errands.activities[$0] }
  }

  /// What was sent for activities: the event and the content-state's text.
  var sentEvents: [String] {
    forwarded.map { sent in
      let event = ["start", "update", "end"].first { sent.payload.contains("\"event\":\"\($0)\"") } ?? "?"
      return "\(event) \(sent.payload.firstMatch(of: #/"content-state":({[^}]*})/#)?.1 ?? "")"
    }
  }
}

@Suite("Activities by name in the state") struct ActivityStateTests {
  static func registration(_ number: Int, _ kind: TokenKind, id: String? = nil, device: String = "phone") -> Registration {
    var registration = Bench.registration(number, kind)
    (registration.user, registration.device) = ("alice", device)
    registration.activity = id.map { .init(id: $0, attributesType: "Ride") }
    return registration
  }

  /// Starts once, holds the newest, updates, ends; with a crash after every step.
  @Test func aLifeWithCrashes() throws {
    let bench = try Bench()
    func crash() throws {
      try bench.crash()
      // What was in flight is sent again.
      try bench.releaseDue()
      try bench.carryOut()
    }
    #expect(try bench.show("order", #"{"v":1}"#) == .begun)
    #expect(bench.forwarded.isEmpty && bench.named("order")?.legs.isEmpty == true, "no push-to-start token yet")
    try crash()
    try bench.register(Self.registration(1, .pushToStart))
    try bench.carryOut()
    #expect(bench.sentEvents == [#"start {"v":1}"#])
    try crash()
    #expect(bench.sentEvents == [#"start {"v":1}"#, #"start {"v":1}"#] && Set(bench.forwarded.map(\.push.id)).count == 1)
    #expect(try bench.show("order", #"{"v":2}"#, alert: nil) == .there)
    #expect(try bench.show("order", #"{"v":3}"#, alert: nil) == .there)
    try bench.complete(.finished(.applied, .started), token: 1)
    try bench.carryOut()
    #expect(bench.named("order")?.legs[0].state == .started)
    try crash()
    #expect(bench.forwarded.count == 2, "held until the update token is known")
    try bench.register(Self.registration(2, .liveactivity, id: "device-1"))
    try bench.carryOut()
    #expect(bench.sentEvents.last == #"update {"v":3}"# && bench.forwarded.count == 3)
    try bench.complete(.accepted, token: 2)
    try bench.carryOut()
    try crash()
    // The same once more asks for nothing.
    #expect(try bench.show("order", #"{"v":3}"#, alert: nil) == .there)
    #expect(bench.forwarded.count == 3)
    // The token changes.
    try bench.register(Self.registration(3, .liveactivity, id: "device-1"), replacing: Bench.token(2))
    try bench.carryOut()
    try bench.show("order", #"{"v":4}"#, alert: nil)
    #expect(bench.forwarded.last?.push.token == Bench.token(3) && bench.sentEvents.last == #"update {"v":4}"#)
    try bench.complete(.accepted, token: 3)
    try bench.endActivity("order")
    #expect(bench.sentEvents.last == #"end {"v":4}"#)
    try bench.complete(.finished(.applied, .ended), token: 3)
    try bench.carryOut()
    try crash()
    #expect(bench.named("order")?.phase == .ended)
    let pushes = try #require(bench.named("order")?.pushes)
    #expect(pushes.map(\.event) == [.start, .update, .update, .end])
    for push in pushes {
      let record = try #require(bench.state.records(of: push.id, all: false).first)
      #expect(record.errand == .activity(name: "order"))
    }
    // A new one may have the name.
    #expect(try bench.show("order", #"{"v":9}"#) == .begun)
    #expect(bench.sentEvents.last == #"start {"v":9}"#)
  }

  /// Two of a type on one device: tokens go to them in the order of the starts, and by id from then on.
  @Test func twoOfAType() throws {
    let bench = try Bench()
    try bench.register(Self.registration(1, .pushToStart))
    for name in ["one", "two"] {
      try bench.show(name, "{\"of\":\"\(name)\"}")
      try bench.complete(.finished(.applied, .started), token: 1)
      try bench.carryOut()
    }
    try bench.register(Self.registration(2, .liveactivity, id: "first"))
    try bench.register(Self.registration(3, .liveactivity, id: "second"))
    try bench.carryOut()
    try bench.show("two", #"{"of":"TWO"}"#, alert: nil)
    #expect(bench.forwarded.last?.push.token == Bench.token(3))
    try bench.register(Self.registration(4, .liveactivity, id: "first"), replacing: Bench.token(2))
    try bench.carryOut()
    try bench.show("one", #"{"of":"ONE"}"#, alert: nil)
    #expect(bench.forwarded.last?.push.token == Bench.token(4))
  }

  /// The budget of starts is the device's: what it ignores is told, and the next request tries again.
  @Test func aSpentStartBudgetIsTold() throws {
    let bench = try Bench()
    try bench.register(Self.registration(1, .pushToStart))
    _ = bench.setBudget(1, index: nil, credits: 0)
    try bench.show("order", #"{"v":1}"#)
    #expect(bench.forwarded.isEmpty && bench.named("order")?.legs[0].cause == .startBudgetSpent)
    _ = bench.setBudget(1, index: nil, credits: nil)
    try bench.show("order", #"{"v":1}"#)
    #expect(bench.sentEvents == [#"start {"v":1}"#])
  }

  /// A dead update token is waited for anew, and the newest is shown once there is another.
  @Test func aDeadTokenIsReplaced() throws {
    let bench = try Bench()
    try bench.register(Self.registration(2, .liveactivity, id: "order"))
    #expect(try bench.show("order", #"{"v":1}"#) == .begun)
    #expect(bench.sentEvents == [#"update {"v":1}"#], "the app has begun by itself")
    try bench.complete(.unregistered(bench.now + .seconds(1)), token: 2)
    try bench.carryOut()
    #expect(bench.named("order")?.legs[0].updateToken == nil)
    try bench.register(Self.registration(3, .liveactivity, id: "order"))
    try bench.carryOut()
    #expect(bench.forwarded.last?.push.token == Bench.token(3))
    let wasThere = try bench.unregister(3)
    try bench.carryOut()
    #expect(wasThere && bench.named("order")?.legs[0].updateToken == nil)
  }

  @Test func whatIsStartedStays() throws {
    let bench = try Bench()
    #expect(try bench.show("order", "{}", alert: nil) == .missing(field: "alert"))
    #expect(try bench.show("order", "{}") == .begun)
    #expect(try bench.show("order", "{}", type: "Other") == .there, "nothing has been started")
    try bench.register(Self.registration(1, .pushToStart))
    try bench.carryOut()
    #expect(try bench.show("order", "{}", type: "Ride") == .fixed(field: "attributesType"))
    #expect(try bench.show("order", "{}", user: "bob", type: "Other") == .fixed(field: "user"))
    try bench.endActivity("order")
    #expect(try bench.show("order", "{}", type: "Other") == .isEnding)
  }

  /// Updates that come faster than the upstream takes them give way to the newest, as any do.
  @Test func onlyTheNewestUpdateWaits() throws {
    let bench = try Bench()
    try bench.register(Self.registration(2, .liveactivity, id: "order"))
    try bench.show("order", #"{"v":0}"#)
    for version in 1...50 { try bench.show("order", "{\"v\":\(version)}", alert: nil) }
    #expect(bench.forwarded.count == 1)
    try bench.complete(.accepted, token: 2)
    #expect(bench.sentEvents.last == #"update {"v":50}"# && bench.forwarded.count == 2)
  }
}
