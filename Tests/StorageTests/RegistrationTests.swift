import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Registrations") struct RegistrationTests {
  private func widget(_ kind: String, _ family: String = "small", id: String? = nil) -> Registration.Widget {
    Registration.Widget(id: id, kind: kind, family: family)
  }

  /// Registers token 1 with some widgets that have spent 0, 1, 2 and so on, then with others.
  private func carried(_ old: [Registration.Widget], _ new: [Registration.Widget]) throws -> [Int] {
    let bench = try Bench()
    try bench.register(Bench.registration(1, widgets: old))
    for index in 0..<max(1, old.count) { #expect(bench.setBudget(1, index: index, credits: Int64(12 - index))) }
    let registration = Bench.registration(1, widgets: new)
    #expect(try bench.register(registration) == false)
    let left = try #require(bench.budgets(registration)).map { 12 - $0.remaining }
    try bench.crash()
    #expect(try #require(bench.budgets(registration)).map { 12 - $0.remaining } == left)
    return left
  }

  @Test func budgetsStayWithTheirWidgets() throws {
    let (a, b, c) = (widget("a"), widget("b"), widget("c"))
    #expect(try carried([a, b, c], [c, a, b]) == [2, 0, 1])
    #expect(try carried([a, b, c], [b]) == [1])
    #expect(try carried([a, b], [a, b, c]) == [0, 1, 0])
    // Widgets of one kind and family are told apart by their place.
    #expect(try carried([a, a, a], [a, a]) == [0, 1])
    #expect(try carried([a, widget("a", "large"), a], [widget("a", "large"), a, a]) == [1, 0, 2])
    // An id goes before everything else.
    #expect(try carried([widget("a", id: "1"), widget("a", id: "2")], [widget("z", id: "2"), widget("a", id: "1")]) == [1, 0])
    #expect(try carried([widget("a", id: "1"), a], [a, a]) == [1, 0])
  }

  @Test func oneBudgetForAllGoesOn() throws {
    #expect(try carried([], []) == [0])
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    #expect(bench.setBudget(1, index: 0, credits: 3))
    let registration = Bench.registration(1, widgets: [widget("a"), widget("b")])
    try bench.register(registration)
    #expect(bench.budgets(registration)?.map(\.remaining) == [3, 3])
    try bench.register(Bench.registration(1))
    #expect(bench.budgets(Bench.registration(1))?.map(\.remaining) == [3])
  }

  @Test func registeringAgainKeepsWhatWaits() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.push(1)
    var registration = Bench.registration(1)
    registration.minimumInterval = .seconds(5)
    registration.environment = .production
    try bench.register(registration)
    try bench.complete(.accepted)
    try bench.advance(to: bench.now + .seconds(5))
    #expect(bench.forwarded.map(\.push.id) == [0, 1].map(Bench.id), "the new minimum interval holds")
  }

  @Test func anotherKindEndsWhatWaits() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.push(1)
    try bench.register(Bench.registration(1, .voip))
    #expect(bench.record(1)?.disposition == .failed)
    #expect(bench.record(1)?.cause == .registrationRemoved)
    #expect(bench.budgets(Bench.registration(1, .voip)) == [])
    try bench.complete(.accepted)
    #expect(bench.record(0)?.disposition == .accepted)
  }

  /// Whose a push was does not change with its token's registration, however often the journal is read.
  @Test(arguments: [false, true]) func aTokenThatGoesOverLeavesItsPastBehind(isRemovedFirst: Bool) throws {
    let bench = try Bench()
    func register(_ bundleID: String) throws {
      var registration = Bench.registration(1, .app)
      registration.bundleID = bundleID
      if isRemovedFirst { _ = try bench.unregister(1) }
      try bench.register(registration)
    }
    for (id, bundleID) in ["com.a", "com.b", "com.a", "com.c"].enumerated() {
      try register(bundleID)
      try bench.push(id, .alert, bundleID: bundleID)
      try bench.complete(.finished(.applied, .alertShown), detail: "secret of \(bundleID)")
    }
    func owners() -> [String?] { (0..<4).map { bench.record($0)?.bundleID } }
    #expect(owners() == ["com.a", "com.b", "com.a", "com.c"])
    for _ in 0..<2 {
      try bench.crash()
      #expect(owners() == ["com.a", "com.b", "com.a", "com.c"])
    }
    #expect(bench.state.page(PushQuery(visibleBundleIDs: ["com.a"])).pushes.map(\.id) == [2, 0].map(Bench.id))
    try bench.fold()
    try bench.crash()
    #expect(owners() == ["com.a", "com.b", "com.a", "com.c"])
  }

  /// What is in flight when its token goes over to another app is not tried again in that app's name.
  @Test(arguments: [false, true]) func whatIsInFlightDoesNotGoOver(crashes: Bool) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    var other = Bench.registration(1, .app)
    other.bundleID = "com.other"
    try bench.register(other)
    if crashes {
      try bench.crash()
      try bench.releaseDue()
    } else {
      try bench.complete(.retry(.upstreamFailed))
    }
    try bench.advance(to: bench.now + .seconds(60))
    #expect(bench.record(0)?.disposition == .failed && bench.record(0)?.cause == .registrationRemoved)
    #expect(bench.record(0)?.bundleID == Bench.bundle)
    #expect(bench.forwarded.count == 1)
    try bench.push(1, .alert, bundleID: "com.other")
    #expect(bench.forwarded.last?.push.id == Bench.id(1))
  }

  /// A token in whose place another is stays for what waits for it, and no longer.
  @Test(arguments: [false, true]) func aRotatedTokenGoesWithItsLastPush(crashes: Bool) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.complete(.accepted)
    try bench.push(1)
    try bench.register(Bench.registration(2), replacing: Bench.token(1))
    #expect(bench.budgets(Bench.registration(2))?.map(\.remaining) == [10], "it pays for what waits for the other, too")
    #expect(bench.state.tokens.activeCount == 2)
    if crashes { try bench.crash() }
    try bench.advance(to: bench.now + .seconds(300))
    #expect(bench.forwarded.last?.push.id == Bench.id(1))
    #expect(bench.state.tokens.activeCount == 2, "it is in flight")
    if crashes {
      try bench.fold()
      try bench.crash()
      try bench.releaseDue()
    }
    try bench.complete(.accepted)
    #expect(bench.record(1)?.disposition == .accepted)
    #expect(bench.state.tokens.activeCount == 1)
    #expect(try bench.engine.registration(Bench.token(1)) == nil)
    #expect(try bench.register(Bench.registration(1)), "registered again, it is a new one")
    try bench.push(2)
    try bench.complete(.accepted)
    #expect(bench.state.tokens.activeCount == 2)
  }

  @Test func removingEndsWhatWaitsAndKeepsThePast() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.push(1)
    #expect(try bench.unregister(1))
    #expect(try bench.unregister(1) == false)
    #expect(try bench.push(2) == .refused(.badDeviceToken, .tokenUnknown))
    #expect(bench.record(1)?.cause == .registrationRemoved)
    try bench.complete(.retry(.upstreamBusy))
    #expect(bench.record(0)?.disposition == .failed)
    try bench.crash()
    #expect(bench.record(0)?.token == Bench.token(1))
    #expect(bench.state.tokens.activeCount == 0)
    // The same token again is the same slot, and its past is still its own.
    #expect(try bench.register(Bench.registration(1)))
    try bench.push(3)
    #expect(bench.state.page(PushQuery(token: Bench.token(1))).pushes.filter { $0.disposition != .refused }.count == 3)
  }

  @Test func aRemovedTokenIsForgottenWithItsLastPush() throws {
    let bench = try Bench { $0.logEntries = 256 }
    try bench.register(Bench.registration(1))
    try bench.register(Bench.registration(2, .app))
    try bench.push(0)
    try bench.complete(.accepted)
    #expect(try bench.unregister(1))
    for id in 1...300 {
      try bench.push(id, to: 2, .alert)
      try bench.complete(.accepted, token: 2)
    }
    #expect(bench.state.tokens.find(Bench.token(1)) == nil)
    #expect(bench.record(0) == nil)
    let before = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == before)
    try bench.register(Bench.registration(3))
    #expect(bench.state.tokens.find(Bench.token(3)) == 0, "its number is given out again")
  }

  @Test func aDeadTokenLivesAgain() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.push(1)
    bench.now = bench.now + .seconds(10)
    try bench.complete(.unregistered(bench.now - .seconds(5)))
    #expect(bench.record(0)?.upstreamStatus == 410)
    #expect(bench.record(1)?.disposition == .failed)
    #expect(bench.record(1)?.cause == .unregistered)
    try bench.crash()
    #expect(try bench.push(2) == .refused(.unregistered, .unregistered, since: bench.now - .seconds(5), retryAt: nil))
    try bench.register(Bench.registration(1))
    #expect(try bench.push(3) != .refused(.unregistered, .unregistered, since: bench.now - .seconds(5), retryAt: nil))
  }

  /// What an upstream calls expired is told apart from what is unregistered, also after a crash; a new registration ends both.
  @Test func aTokenThatHasExpiredSaysSo() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    bench.now = bench.now + .seconds(10)
    let since = bench.now - .seconds(5)
    try bench.complete(.expired(since))
    #expect(bench.record(0)?.upstreamStatus == 410 && bench.record(0)?.reason == .expiredToken)
    #expect(bench.record(0)?.cause == .unregistered)
    #expect(try bench.push(1, .alert) == .refused(.expiredToken, .unregistered, since: since, retryAt: nil))
    try bench.crash()
    #expect(try bench.push(2, .alert) == .refused(.expiredToken, .unregistered, since: since, retryAt: nil))
    try bench.register(Bench.registration(1, .app))
    try bench.push(3, .alert)
    bench.now = bench.now + .seconds(10)
    try bench.complete(.unregistered(bench.now))
    #expect(try bench.push(4, .alert) == .refused(.unregistered, .unregistered, since: bench.now, retryAt: nil))
  }

  /// APNs says since when a token has been dead; a registration after that time is a sign of life.
  @Test func anOlder410DoesNotRetire() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.complete(.unregistered(bench.now - .seconds(60)))
    #expect(bench.record(0)?.disposition == .failed)
    #expect(bench.state.describe(Bench.registration(1), registered: bench.now)?.retiredSince == nil)
  }

  @Test func suspicionGoesWithTheNextSuccess() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    try bench.complete(.suspect)
    #expect(bench.record(0)?.cause == .upstreamSuspectsToken)
    #expect(bench.record(0)?.reason == .badDeviceToken)
    #expect(bench.state.describe(Bench.registration(1, .app), registered: bench.now)?.isSuspect == true)
    try bench.push(1, .alert)
    try bench.complete(.accepted)
    #expect(bench.state.describe(Bench.registration(1, .app), registered: bench.now)?.isSuspect == false)
  }

  @Test func longTokensAreTokens() throws {
    let bench = try Bench()
    for count in [1, 31, 32, 33, 54, 80, 100] {
      var bytes = [UInt8](repeating: 7, count: count)
      bytes[count - 1] = 9
      let token = DeviceToken(bytes: bytes.span.bytes)!
      #expect(try bench.register(Registration(token: token, kind: .app, bundleID: Bench.bundle, environment: .development)))
      #expect(bench.state.tokens.find(token).map { bench.state.tokens.token($0) } == token)
    }
    let before = bench.state.durable()
    try bench.fold()
    try bench.crash()
    #expect(bench.state.durable() == before)
    #expect(bench.state.tokens.activeCount == 7)
  }
}
