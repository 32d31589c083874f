import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// Forgetting one app's pushes and budgets beside another's.
@Suite("Reset") struct ResetTests {
  private static let apps = [Bench.bundle, "com.example.other"]

  /// Tokens 1 and 2 of the app, 3 of the other.
  private func bench() throws -> Bench {
    let bench = try Bench()
    for token in 1...2 { try bench.register(Bench.registration(token)) }
    try bench.register(Self.registration(3))
    return bench
  }

  private static func registration(_ token: Int) -> Registration {
    var registration = Bench.registration(token)
    registration.bundleID = apps[token / 3]
    return registration
  }

  private func reset(_ bench: Bench, _ bundleID: String? = Bench.bundle) throws -> (tokens: Int, pushes: Int) {
    let tokens = bench.state.resetTokens(of: bundleID, from: 0, count: 1000, at: bench.now)
    let pushes = bench.state.forgetPushes(of: bundleID, below: bench.state.log.next, count: .max)
    try bench.commit()
    return (tokens, pushes)
  }

  private func remaining(_ bench: Bench, _ token: Int) -> Int? { bench.budgets(Self.registration(token))?.first?.remaining }

  private func listed(_ bench: Bench, _ query: PushQuery = PushQuery()) -> [PushID] { bench.state.page(query).pushes.map(\.id) }

  @Test func oneAppIsForgottenAndTheOtherGoesOn() throws {
    let bench = try bench()
    for token in 1...3 { try bench.push(10 + token, to: token, bundleID: Self.apps[token / 3]) }
    for token in 1...3 { try bench.complete(.finished(.applied, .reloaded), token: token) }
    // One more of each waits for its interval.
    for token in 1...3 { try bench.push(20 + token, to: token, bundleID: Self.apps[token / 3]) }
    #expect(bench.state.counters.waiting == 3 && remaining(bench, 1) == 11)

    #expect(try reset(bench) == (2, 4))

    #expect(bench.state.counters.waiting == 1)
    #expect((1...3).map { remaining(bench, $0) } == [12, 12, 11])
    #expect(listed(bench) == [Bench.id(23), Bench.id(13)])
    for id in [11, 12, 21, 22] { #expect(bench.record(id) == nil) }
    for token in 1...2 { #expect(listed(bench, PushQuery(token: Bench.token(token))).isEmpty) }
    #expect(listed(bench, PushQuery(token: Bench.token(3))) == [Bench.id(23), Bench.id(13)])
    // The registrations are there, and a push goes at once as the first one did.
    guard case .forwarded = try bench.push(31) else {
      Issue.record("the budget is full and no interval runs")
      return
    }
    try bench.advance(to: bench.now + .seconds(400))
    #expect(bench.forwarded.suffix(2).map(\.push.id) == [Bench.id(31), Bench.id(23)], "what waited for the other app went")
  }

  /// Those who follow or wait are told, before the log forgets it, what really became of a push that waited.
  @Test func whatWaitedIsToldOfTheReset() throws {
    let bench = try bench()
    try bench.push(1)
    try bench.push(2)
    #expect(bench.record(2)?.disposition == .waiting)
    bench.state.isWatched = true
    #expect(bench.state.resetTokens(of: Bench.bundle, from: 0, count: 1000, at: bench.now) == 1)
    #expect(bench.record(2)?.disposition == .failed && bench.record(2)?.cause == .reset)
    #expect(bench.state.touchedEntries.contains { bench.state.log[$0]?.pointee.id == Bench.id(2) })
    try bench.commit()
    try bench.crash()
    #expect(bench.record(2)?.cause == .reset)
  }

  @Test func everyAppIsForgottenWhereNoneIsNamed() throws {
    let bench = try bench()
    for token in 1...3 { try bench.push(10 + token, to: token, bundleID: Self.apps[token / 3]) }
    #expect(try reset(bench, nil) == (3, 3))
    #expect(listed(bench).isEmpty)
    #expect(try reset(bench, nil) == (3, 0), "what is in flight is still to come")
    for token in 1...3 { try bench.complete(.accepted, token: token) }
    #expect(try reset(bench, nil) == (0, 0))
  }

  /// What is on its way comes to its end, and is not tried again.
  @Test(arguments: [UpstreamOutcome.accepted, .retry(.upstreamUnavailable), .notAttempted(.upstreamBusy)])
  func whatIsInFlightEnds(outcome: UpstreamOutcome) throws {
    let bench = try bench()
    try bench.push(1)
    #expect(try reset(bench) == (1, 1))
    try bench.complete(outcome)
    try bench.advance(to: bench.now + .seconds(3600))
    #expect(bench.forwarded.count == 1)
    let hasLane = bench.state.tokens[0].pointee.hasLane
    #expect(bench.record(1) == nil && !hasLane)
  }

  /// Neither a clock that stands still nor one that is ahead, or goes back, brings a push to its device after the reset: it came at the very
  /// moment, and no attempt at it was made.
  @Test(arguments: [PushType.alert, .widgets], [TimeSpan.zero, .seconds(86_400), .seconds(-86_400)])
  func nothingIsDeliveredWhateverTheClocks(type: PushType, leap: TimeSpan) throws {
    for outcome in [nil, UpstreamOutcome.notAttempted(.upstreamBusy), .retry(.upstreamUnavailable)] {
      let bench = try Bench()
      try bench.register(Bench.registration(1, type == .alert ? .app : .widgets))
      try bench.push(1, type)
      #expect(bench.state.resetTokens(of: Bench.bundle, from: 0, count: 1000, at: bench.now) == 1)
      try bench.commit()
      bench.now = bench.now + leap
      if let outcome { try bench.complete(outcome) } else { try bench.crash() }
      try bench.advance(to: bench.now)
      try bench.advance(to: bench.now + .seconds(3600))
      #expect(bench.forwarded.count == 1, "\(outcome.map { "\($0)" } ?? "a crash")")
      let hasLane = bench.state.tokens[0].pointee.hasLane
      #expect(!hasLane)
    }
  }

  /// The same holds after a crash at any point, before and after everything was folded.
  @Test(arguments: [false, true], [false, true]) func aCrashBringsNothingBack(foldsBefore: Bool, foldsAfter: Bool) throws {
    let bench = try bench()
    for token in 1...2 { try bench.push(10 + token, to: token, bundleID: Self.apps[token / 3]) }
    try bench.push(13, to: 3, bundleID: Self.apps[1])
    try bench.complete(.finished(.applied, .reloaded), token: 1)
    try bench.push(21)
    if foldsBefore { try bench.fold() }
    #expect(try reset(bench) == (2, 3))
    if foldsAfter { try bench.fold() }
    for _ in 0..<2 {
      let before = bench.state.durable()
      try bench.crash()
      let after = bench.state.durable()
      #expect(after == before)
      #expect(listed(bench) == [Bench.id(13)])
      #expect((1...3).map { remaining(bench, $0) } == [12, 12, 11])
      try bench.advance(to: bench.now + .seconds(1))
      #expect(bench.forwarded.allSatisfy { $0.push.id != Bench.id(21) }, "what waited went nowhere")
    }
    try bench.push(41)
    #expect(bench.record(41) != nil)
  }

  /// Ids that were used by several apps, and tokens that changed theirs, leave no gap in any list.
  @Test(arguments: seeds(30)) func whatIsLeftIsFoundInEveryWay(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let bench = try Bench { $0.logEntries = 256 }
    let bundles = ["a", "b", "c"].map { "com.example.\($0)" }
    var owner: [Int: String] = [:]
    var sent: [(id: Int, token: Int, bundleID: String)] = []
    for step in 0..<Int.random(in: 1...400, using: &generator) {
      let token = Int.random(in: 0..<6, using: &generator)
      if owner[token] == nil || Int.random(in: 0..<20, using: &generator) == 0 {
        var registration = Bench.registration(token, .app)
        registration.bundleID = bundles.randomElement(using: &generator)!
        owner[token] = registration.bundleID
        try bench.register(registration)
      }
      let id = Int.random(in: 0..<40, using: &generator)
      try bench.push(id, to: token, .alert, bundleID: owner[token]!)
      try bench.complete(.accepted, token: token)
      sent.append((id, token, owner[token]!))
      guard step % 50 == 49 else { continue }
      let bundleID = bundles.randomElement(using: &generator)!
      _ = try reset(bench, bundleID)
      sent = sent.suffix(256).filter { $0.bundleID != bundleID }
      // The journal alone does not tell of which app a token was when a push came.
      if Bool.random(using: &generator) {
        try bench.fold()
        if Bool.random(using: &generator) { try bench.crash() }
      }
      expect(bench, sent.suffix(256))
    }
    expect(bench, sent.suffix(256))
  }

  private func expect(_ bench: Bench, _ sent: ArraySlice<(id: Int, token: Int, bundleID: String)>) {
    let first = bench.state.log.oldest
    let kept = (first..<bench.state.log.next).compactMap { bench.state.log[$0] }
    let expected = sent.suffix(kept.count)
    #expect(kept.map { "\($0.pointee.id)" } == expected.map { "\(Bench.id($0.id))" })
    for token in 0..<6 {
      var query = PushQuery(token: Bench.token(token))
      query.limit = 1000
      #expect(listed(bench, query) == expected.filter { $0.token == token }.reversed().map { Bench.id($0.id) })
    }
    for id in 0..<40 {
      let records = bench.state.records(of: Bench.id(id), all: true)
      #expect(records.count == expected.count { $0.id == id })
    }
  }

  /// What a reload has made is counted as failed, so that the room it took is free again; it makes no more, and another app's goes on.
  @Test func reloadsStop() throws {
    let bench = try bench()
    let own = try bench.beginReload(ReloadRequest(selector: ReloadSelector(bundleID: Bench.bundle)))
    let other = try bench.beginReload(ReloadRequest(selector: ReloadSelector(bundleID: Self.apps[1])))
    // One push of the two waits behind a push of a backend.
    try bench.push(1)
    for number in [own, own, other] { try bench.goOn(number, tokens: 1) }
    bench.state.stopErrands(of: Bench.bundle, at: bench.now)
    _ = try reset(bench)
    try bench.finish(own)
    try bench.finish(other)
    let (stopped, finished) = (bench.reload(own), bench.reload(other))
    #expect(stopped.state == .stopped && stopped.ended == bench.now && stopped.visited == 1 && stopped.count(.failed) == 1)
    #expect(stopped.open == 0 && finished.state == .finished && finished.open == 1)
    #expect(bench.forwarded.map(\.push.token) == [Bench.token(1), Bench.token(3)])
    try bench.crash()
    let again = bench.reload(own)
    #expect(again.state == .stopped && again.open == 0)
  }

  @Test func refusedPushesAreForgotten() throws {
    let bench = try bench()
    let batch = Batch()
    for (index, app) in Self.apps.enumerated() {
      batch.refusals.append(
        RefusedOperation(
          id: Bench.id(index), token: Bench.token(1), type: .widgets, bundleID: batch.append(app), reason: .badTopic, detail: .empty,
          received: bench.now))
    }
    try bench.settle(batch)
    let forgotten = (0..<2).map { _ in bench.state.forgetRefused(of: Bench.bundle) }
    #expect(forgotten == [1, 0])
    #expect(listed(bench) == [Bench.id(1)])
    #expect(bench.record(0) == nil && bench.record(1) != nil)
    let hasNews = bench.state.hasNews(of: Bench.id(0), refusedSeen: 0)
    #expect(!hasNews)
  }

  @Test func broadcastsAndStoredMessagesAreForgottenAndChannelsStay() async throws {
    let stage = try BroadcastTests.Stage()
    defer { stage.store.stop() }
    let channel = BroadcastTests.channel(1)
    #expect(await stage.ask(.create(channel, .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(60))) == .done)
    #expect(try await stage.store.storedMessage(channel, bundleID: BroadcastTests.owner.bundleID) != nil)
    #expect(try await stage.store.reset("com.example.other").pushes == 0)
    #expect(try await stage.store.broadcasts(BroadcastQuery()).records.count == 1)

    #expect(try await stage.store.reset(BroadcastTests.owner.bundleID).pushes == 1)

    #expect(try await stage.store.broadcasts(BroadcastQuery()).records.isEmpty)
    #expect(try await stage.store.storedMessage(channel, bundleID: BroadcastTests.owner.bundleID) == nil)
    #expect(await stage.ask(.read(channel)) == .policy(.mostRecent))
    #expect(await stage.send(2, to: 1) == .done)
    #expect(try await stage.store.broadcasts(BroadcastQuery()).records.count == 1)
  }
}
