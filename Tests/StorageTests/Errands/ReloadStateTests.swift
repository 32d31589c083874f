import Delivery
import Primitives
import Push
import Testing

@testable import Storage

extension Bench {
  /// Begins a reload; its number.
  func beginReload(_ request: ReloadRequest) throws -> UInt32 {
    let (answer, number) = state.errands.begin(request, at: now)
    guard case .begun = answer, let number else { throw StoreError.notReady("\(answer)") }
    try commit()
    return number
  }

  /// Makes one slice of a reload, as the store thread does once it may go on; what it did.
  @discardableResult
  func goOn(_ number: UInt32, tokens: Int? = nil) throws -> ReloadStep {
    let step = state.nextStep(number, at: now)
    switch step {
    case .done: break
    case .count(let selector):
      var position: ReloadPosition? = .start
      var count = 0
      while let from = position {
        let page = try engine.reloadPage(selector, from: from, rows: 64, tokens: 64)
        (count, position) = (count + page.tokens.count, page.next)
      }
      state.errands.change(number) { $0.matches = count }
    case .walk(let selector, let from, let limit):
      let page = try engine.reloadPage(selector, from: from, rows: 64, tokens: min(limit, tokens ?? limit))
      let batch = Batch()
      state.admit(page, of: number, loops: 1, at: now) { _ in batch }
      collect(batch)
    }
    try commit()
    return step
  }

  /// Goes on to the end.
  func finish(_ number: UInt32) throws {
    while true { if case .done = try goOn(number) { return } }
  }

  func reload(_ number: UInt32) -> Reload { state.errands.reloads[number]! }
}

@Suite("Reloads in the state") struct ReloadStateTests {
  private static let all = ReloadRequest(selector: ReloadSelector(bundleID: Bench.bundle))

  private func bench(_ count: Int, engine: any Engine = MemoryEngine()) throws -> Bench {
    let bench = try Bench(engine: engine)
    for number in 0..<count { try bench.register(Bench.registration(number, number % 5 == 4 ? .controls : .widgets)) }
    return bench
  }

  /// What is nearly asked for says in what it differs: in the reload, too.
  @Test func nearMissesNameTheReload() throws {
    let bench = try bench(3)
    let numbers = try (0..<2).map { _ in try bench.beginReload(Self.all) }
    for number in numbers { try bench.finish(number) }
    let (first, second) = (bench.reload(numbers[0]).id, bench.reload(numbers[1]).id)
    func near(_ query: PushQuery) -> [String] { bench.state.page(query, wanted: 9, isLast: true).nearMisses.map(\.differs) }
    #expect(near(PushQuery(token: Bench.token(77), reload: first)) == ["token", "token", "token"])
    #expect(Set(near(PushQuery(disposition: .forwarding, reload: second))) == ["reload", "disposition"])
    #expect(near(PushQuery(disposition: .forwarding, reload: Bench.id(1))) == ["reload", "reload", "reload"])
  }

  /// Each match gets one push, with an id of the reload's, of its type, that pays.
  @Test func everyMatchGetsItsPush() throws {
    let bench = try bench(200)
    try bench.register(Bench.registration(900, .app))
    let number = try bench.beginReload(Self.all)
    try bench.finish(number)
    let reload = bench.reload(number)
    #expect(reload.state == .finished && reload.matches == 200 && reload.visited == 200 && reload.skipped == 0)
    #expect(reload.count(.forwarding) == 200 && reload.count(.waiting) == 0 && reload.ended == bench.now)
    #expect(Set(bench.forwarded.map(\.push.token)) == Set((0..<200).map { Bench.token($0) }))
    for sent in bench.forwarded {
      #expect(sent.push.id.high == reload.id.high && sent.payload == #"{"aps":{"content-changed":true}}"#)
      let record = try #require(bench.state.records(of: sent.push.id, all: false).first)
      #expect(record.errand == .reload(reload.id) && record.steps[0].budgetAfter == 11)
      #expect(record.type == (record.token == Bench.token(4) || sent.push.type == .controls ? .controls : .widgets))
    }
    #expect(Set(bench.forwarded.map(\.push.id.low)).count == 200)
    #expect(bench.forwarded.count { $0.push.type == .controls } == 40)
  }

  /// What becomes of its pushes is counted, whichever way it goes.
  @Test func dispositionsAreCounted() throws {
    let bench = try bench(8)
    // One waits for its interval, one merges into a push that waits, one is dead, one asleep.
    try bench.push(1, to: 0)
    try bench.push(2, to: 1)
    try bench.push(3, to: 1)
    try bench.push(4, to: 2)
    try bench.complete(.unregistered(bench.now + .seconds(1)), token: 2)
    try bench.complete(.finished(.applied, .reloaded), token: 0)
    let number = try bench.beginReload(Self.all)
    try bench.finish(number)
    var reload = bench.reload(number)
    #expect(reload.skipped == 1 && reload.count(.merged) == 1 && reload.count(.waiting) == 1 && reload.count(.forwarding) == 5)
    try bench.complete(.finished(.applied, .reloaded), token: 3)
    try bench.complete(.finished(.ignored, .noSuchWidget), token: 5)
    try bench.complete(.accepted, token: 6)
    try bench.complete(.retry(.upstreamUnavailable), token: 7)
    reload = bench.reload(number)
    #expect(reload.count(.applied) == 1 && reload.count(.ignored) == 1 && reload.count(.accepted) == 1)
    #expect(reload.count(.forwarding) == 1 && reload.count(.waiting) == 2)
    // The device reports later; the interval passes.
    let accepted = try #require(bench.forwarded.last { $0.push.token == Bench.token(6) }).push.id
    let isTaken = bench.state.recordOutcome(accepted, .applied, .reloaded, detail: RawSpan(), at: bench.now)
    #expect(isTaken)
    try bench.advance(to: bench.now + .seconds(301))
    reload = bench.reload(number)
    #expect(reload.count(.applied) == 2 && reload.count(.accepted) == 0 && reload.count(.forwarding) == 3 && reload.count(.waiting) == 0)
    for token in [0, 4, 7] { try bench.complete(.finished(.applied, .reloaded), token: token) }
    reload = bench.reload(number)
    #expect(reload.count(.applied) == 5 && reload.open == 0 && reload.forwarding == 0)
    #expect(Disposition.allCases.reduce(reload.skipped) { $0 + reload.count($1) } == 8)
  }

  /// Two reloads at once, and one after the other: no widget is reloaded beyond its budget, and the last change is never lost.
  @Test func budgetsHold() throws {
    let bench = try bench(3)
    for round in 0..<60 {
      let number = try bench.beginReload(Self.all)
      try bench.finish(number)
      #expect(bench.reload(number).visited == 3)
      for token in 0..<3 where bench.state.tokens[bench.state.tokens.find(Bench.token(token))!].pointee.inFlight != none {
        try bench.complete(.accepted, token: token)
      }
      bench.now = bench.now + .seconds(60)
      try bench.releaseDue()
      _ = round
    }
    for token in 0..<3 {
      let sent = bench.forwarded.filter { $0.push.token == Bench.token(token) }
      #expect(sent.count == 13, "12 at once, five minutes apart, and one more credit within the hour")
      for (a, b) in zip(sent, sent.dropFirst()) { #expect(b.at - a.at >= .seconds(300)) }
    }
  }

  /// A crash after every commit: the walk goes on where it was, and no token is sent a second push of the reload.
  @Test func itOutlivesCrashes() throws {
    let bench = try bench(100)
    let number = try bench.beginReload(Self.all)
    for _ in 0..<200 {
      if case .done = try bench.goOn(number, tokens: 7) { break }
      try bench.crash()
    }
    let reload = bench.reload(number)
    #expect(reload.state == .finished && reload.visited == 100 && reload.open == 100)
    let ids = Dictionary(grouping: bench.forwarded, by: \.push.token).mapValues { Set($0.map(\.push.id)) }
    #expect(ids.count == 100 && ids.values.allSatisfy { $0.count == 1 })
    // What was in flight is sent again, and ends as the reload's.
    try bench.releaseDue()
    #expect(bench.reload(number).count(.forwarding) == 100)
    for token in 0..<100 { try bench.complete(.accepted, token: token) }
    try bench.crash()
    #expect(bench.reload(number).count(.accepted) == 100 && bench.reload(number).open == 0)
    #expect(bench.state.errands.openCount == 0 && bench.state.errands.forwardingCount == 0)
    for token in 0..<100 {
      let id = try #require(ids[Bench.token(token)]?.first)
      let record = try #require(bench.state.records(of: id, all: false).first)
      #expect(record.steps[0].budgetAfter == 11 && record.errand == .reload(reload.id), "charged once")
    }
  }

  /// Restarts send nothing early, however many there are, and nothing is made up for.
  @Test func restartsDoNotHurryASpreadReload() throws {
    let bench = try bench(30)
    var request = Self.all
    request.spread = .seconds(3600)
    let number = try bench.beginReload(request)
    for _ in 0..<2 { try bench.goOn(number) }
    let start = bench.now
    for visited in 1..<5 {
      for _ in 0..<3 {
        try bench.crash()
        _ = bench.state.nextStep(number, at: bench.now)
        let due = start + .seconds(Int64(120 * visited))
        #expect(bench.state.mayGoOn(bench.reload(number), at: bench.now) == (false, due))
      }
      bench.now = bench.now + .seconds(120)
      #expect(bench.state.mayGoOn(bench.reload(number), at: bench.now).0)
      try bench.goOn(number)
      #expect(bench.reload(number).visited == visited + 1)
    }
    bench.now = bench.now + .seconds(1000)
    try bench.crash()
    try bench.goOn(number)
    #expect(bench.state.mayGoOn(bench.reload(number), at: bench.now) == (false, bench.now + .seconds(120)))
  }

  @Test func aKeyStandsForOneRequest() throws {
    let bench = try bench(1)
    var request = Self.all
    (request.key, request.caller) = ("k", "ci")
    let (first, _) = bench.state.errands.begin(request, at: bench.now)
    try bench.commit()
    try bench.crash()
    guard case .begun(let begun) = first else { return #expect(Bool(false), "\(first)") }
    let second = bench.state.errands.begin(request, at: bench.now + .seconds(5)).0
    #expect(second == .repeated(begun))
    var other = request
    other.spread = .seconds(1)
    let third = bench.state.errands.begin(other, at: bench.now).0
    #expect(third == .keyInUse(begun.id))
    other.caller = "somebody else"
    guard case .begun = bench.state.errands.begin(other, at: bench.now).0 else { return #expect(Bool(false), "keys are the caller's own") }
  }

  @Test func thereIsABoundOfRunningAndOfRemembered() throws {
    let bench = try bench(1)
    var numbers: [UInt32] = []
    let share = Limits.reloadsRunning / Limits.shareOfApp
    for _ in 0..<share { numbers.append(try bench.beginReload(Self.all)) }
    let further = bench.state.errands.begin(Self.all, at: bench.now).0
    #expect(further == .tooMany(.app(Self.all.selector.bundleID, share: share)))
    // Another app has its own, and a token that asks for many has half of all.
    for app in 0..<3 {
      for _ in 0..<share {
        let request = ReloadRequest(selector: ReloadSelector(bundleID: "com.example.\(app)"), caller: "operator")
        let answer = bench.state.errands.begin(request, at: bench.now)
        if let number = answer.number {
          numbers.append(number)
        } else {
          #expect(app == 2 && answer.0 == .tooMany(.token("operator", share: 2 * share)))
        }
      }
    }
    #expect(numbers.count == 3 * share)
    try bench.commit()
    for number in numbers { try bench.finish(number) }
    for _ in 0..<Limits.reloadsRemembered + 5 {
      let number = try bench.beginReload(Self.all)
      bench.state.errands.change(number) { $0.state = .stopped }
    }
    try bench.commit()
    try bench.crash()
    #expect(bench.state.errands.reloads.count == Limits.reloadsRemembered)
    #expect(bench.state.errands.reloads[numbers[0]] == nil)
    #expect(bench.state.errands.running.isEmpty)
  }

  /// What reloads list is bounded in bytes, too: the oldest that do not run are forgotten sooner.
  @Test func reloadsAreBoundedInBytes() throws {
    let bench = try bench(1)
    let users = (0..<Limits.reloadNames).map { "\($0) " + String(repeating: "u", count: 250) }
    let request = ReloadRequest(selector: ReloadSelector(bundleID: Self.all.selector.bundleID, users: users, devices: users))
    for _ in 0..<150 {
      let number = try bench.beginReload(request)
      bench.state.errands.change(number) { $0.state = .stopped }
    }
    let bytes = bench.state.errands.reloads.values.reduce(0) { $0 + $1.request.selector.nameBytes }
    #expect(bytes <= Limits.reloadNameBytes && bench.state.errands.reloads.count > 100, "\(bytes)")
    let page = bench.state.errands.page(before: .max, limit: 1000) { _ in true }
    #expect(page.hasMore && page.reloads.count < 8)
  }

  /// Room for provider pushes: a reload waits while as many of its pushes are out as may be.
  @Test func itWaitsForRoom() throws {
    let bench = try bench(3)
    let number = try bench.beginReload(Self.all)
    try bench.goOn(number)
    func mayGoOn() -> Bool { bench.state.mayGoOn(bench.reload(number), at: bench.now).0 }
    let atFirst = mayGoOn()
    for _ in 0..<Limits.reloadPushesForwarding { bench.state.errands.moved(number, forwarding: 1) }
    let whenFull = mayGoOn()
    bench.state.errands.moved(number, forwarding: -1)
    let again = mayGoOn()
    #expect(atFirst && !whenFull && again)
  }
}
