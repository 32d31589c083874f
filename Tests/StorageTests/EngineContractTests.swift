import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// What every engine must do; each test runs on each.
@Suite("Engine contract") struct EngineContractTests {
  enum Kind: CaseIterable { case memory, sqlite }

  /// An engine, and how to open what it saved once more.
  private func make(_ kind: Kind, _ folder: Folder) throws -> any Engine {
    switch kind {
    case .memory: MemoryEngine()
    case .sqlite: try SQLiteEngine(path: folder.store)
    }
  }

  @Test(arguments: Kind.allCases) func whatIsCommittedComesBack(kind: Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: try make(kind, folder))
    try fill(bench)
    let before = bench.state.durable()
    let endings = bench.state.endings()
    #expect(endings.count == 43)
    try bench.crash()
    #expect(bench.state.durable() == before)
    #expect(bench.state.endings() == endings)
    #expect(bench.record(3)?.disposition == .applied)
    #expect(bench.record(3)?.detail == "two widgets")
    #expect(bench.record(1)?.steps.map(\.disposition) == [.forwarding])
  }

  @Test(arguments: Kind.allCases) func foldingChangesNothing(kind: Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: try make(kind, folder))
    try fill(bench)
    let before = bench.state.durable()
    let records = (0..<46).map { bench.record($0) }
    try bench.fold()
    #expect(bench.engine.oldestJournalRow == nil)
    try bench.crash()
    #expect(bench.state.durable() == before)
    #expect((0..<46).map { bench.record($0)?.steps } == records.map { $0?.steps })
    #expect((0..<46).map { bench.record($0)?.mergedInto } == records.map { $0?.mergedInto })
    // Numbers go on where they were.
    try bench.push(1000, to: 2)
    #expect(bench.record(1000) != nil)
    let after = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == after)
  }

  /// What a push's warnings are about is kept with it, beside what becomes of it: in the journal, and in saved pages.
  @Test(arguments: Kind.allCases) func theDetailsOfWarningsAreKept(kind: Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: try make(kind, folder))
    try bench.register(Bench.registration(1))
    let details = [
      WarningDetail(.unusedAPSKeys, field: "aps.sound", detail: "sound \"chime.aiff\" (put it at aps.alert.sound)"),
      WarningDetail(.customKeys, field: "x", detail: String(repeating: "é", count: 200)),
    ]
    for id in 0...2 {
      let batch = Batch()
      var operation = Bench.operation(batch, id: id, token: Bench.token(id == 2 ? 9 : 1), type: .widgets, at: bench.now)
      operation.warnings = [PushWarnings(.unusedAPSKeys), PushWarnings(.customKeys)]
      operation.warningDetails = batch.append(WarningDetail.text(of: details))
      batch.admits.append(operation)
      try bench.settle(batch)
    }
    func check() {
      for id in 0...1 { #expect(bench.record(id)?.warningDetails == details) }
    }
    check()
    #expect(bench.record(2)?.disposition == .refused && bench.record(2)?.warningDetails == [])
    try bench.crash()
    check()
    #expect(bench.record(0)?.detail == nil)
    try bench.advance(to: bench.now + .seconds(10))
    try bench.complete(.finished(.ignored, .noSuchWidget), detail: "no widget of kind Clock")
    #expect(bench.record(0)?.detail == "no widget of kind Clock")
    check()
    try bench.crash()
    #expect(bench.record(0)?.detail == "no widget of kind Clock")
    check()
    try bench.fold()
    try bench.crash()
    #expect(bench.record(0)?.detail == "no widget of kind Clock")
    check()
  }

  @Test(arguments: Kind.allCases) func registrationsAreListed(kind: Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: try make(kind, folder))
    for number in 0..<20 {
      var registration = Bench.registration(number, number % 2 == 0 ? .widgets : .controls)
      registration.user = "user\(number % 3)"
      registration.device = number < 10 ? "phone" : nil
      if number >= 15 { registration.bundleID = "com.example.other" }
      try bench.register(registration)
    }
    #expect(try bench.unregister(4))
    func numbers(_ query: RegistrationQuery) throws -> [Int] {
      try bench.engine.registrations(query).map { Int($0.0.token[0]) }
    }
    #expect(try numbers(RegistrationQuery()) == (0..<20).filter { $0 != 4 })
    #expect(try numbers(RegistrationQuery(limit: 3)) == [0, 1, 2])
    #expect(try numbers(RegistrationQuery(after: Bench.token(2), limit: 3)) == [3, 5, 6])
    #expect(try numbers(RegistrationQuery(user: "user1", kind: .controls)) == [1, 7, 13, 19])
    #expect(try numbers(RegistrationQuery(device: "phone")) == [0, 1, 2, 3, 5, 6, 7, 8, 9])
    #expect(try numbers(RegistrationQuery(bundleID: "com.example.other")) == Array(15..<20))
    #expect(try numbers(RegistrationQuery(visibleBundleIDs: ["com.example.other", "x"])) == Array(15..<20))
    #expect(try numbers(RegistrationQuery(visibleBundleIDs: [])) == [])
    #expect(try bench.engine.registration(Bench.token(4)) == nil)
  }

  @Test(arguments: Kind.allCases) func aRegistrationComesBackWhole(kind: Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: try make(kind, folder))
    var registration = Registration(token: Bench.token(9, count: 100), kind: .widgets, bundleID: Bench.bundle, environment: .production)
    registration.upstream = "mock"
    registration.device = "phone"
    registration.user = ""
    registration.platform = "iOS"
    registration.widgets = [
      .init(id: "7", kind: "Clock", family: "systemSmall"), .init(kind: "Wetter ☀️", family: "accessoryCircular"),
    ]
    registration.controlKind = "Light"
    registration.activity = .init(id: "A", attributesType: "Ride")
    registration.frequentUpdates = true
    registration.developerMode = true
    registration.minimumInterval = .milliseconds(1500)
    registration.coalesce = .zero
    try bench.register(registration)
    let found = try bench.engine.registration(registration.token)
    #expect(found?.0 == registration)
    #expect(found?.registered == bench.now)
    try bench.crash()
    #expect(bench.state.tokens.find(registration.token) != nil)
  }

  /// Pushes of every kind and fate.
  private func fill(_ bench: Bench) throws {
    try bench.register(Bench.registration(1, widgets: [.init(kind: "a", family: "f"), .init(id: "i", kind: "b", family: "f")]))
    for number in 2..<10 { try bench.register(Bench.registration(number, .controls)) }
    var live = Bench.registration(10, .liveactivity)
    live.minimumInterval = .seconds(1)
    try bench.register(live)
    try bench.register(Registration(token: Bench.token(11, count: 80), kind: .app, bundleID: "com.other", environment: .production))
    for id in 1...2 { try bench.push(id) }
    try bench.push(3, to: 2, .controls)
    try bench.complete(.finished(.applied, .reloaded), token: 2, detail: "two widgets")
    try bench.push(4, to: 3, .controls, expiration: .at(bench.now + .seconds(100)))
    try bench.complete(.notAttempted(.upstreamUnavailable), token: 3)
    try bench.push(5, to: 4, .controls)
    try bench.complete(.unregistered(bench.now + .seconds(1)), token: 4)
    try bench.push(6, to: 5, .controls)
    try bench.complete(.suspect, token: 5)
    try bench.push(7, to: 6, .controls, expiration: .at(bench.now - .seconds(1)))
    let update = PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: 5)
    for id in 10..<15 { try bench.push(id, to: 10, .liveactivity, traits: update, payload: "update \(id)") }
    for id in 15..<20 { try bench.push(id, to: 10, .liveactivity, traits: PushTraits(lane: .keep, activity: .update, hasAlert: true)) }
    for id in 20..<46 { try bench.push(id, to: 7, .controls, expiration: id % 2 == 0 ? .zero : .absent) }
  }
}
