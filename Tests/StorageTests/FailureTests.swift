import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// A commit that fails: nothing is answered 200 that is not durable, and nothing that was is lost.
@Suite("Failing commits") struct FailureTests {
  private static let full = StoreError.engine("store.db: database or disk is full (SQLITE_FULL)")

  @Test func nothingIsAcceptedWhileCommitsFail() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    defer { harness.store.stop() }
    for token in 1...3 { _ = try await harness.store.register(Bench.registration(token, .app)) }
    let before = try #require(harness.settle(harness.batch([1, 1, 2], first: 0, .alert)))
    let (first, second) = (before.forwards[0], before.forwards[1])

    engine.failure = Self.full
    // Outcomes and admissions in one batch: the outcomes are kept, the admissions refused.
    let batch = harness.batch([1, 3], first: 10, .alert)
    batch.completions.append(
      CompleteOperation(ticket: first.ticket, outcome: .finished(.applied, .alertShown), detail: batch.append("seen")))
    let failed = try #require(harness.settle(batch))
    #expect(failed.admits.map(\.result) == [.refused(.serviceUnavailable), .refused(.serviceUnavailable)])
    #expect(failed.forwards.isEmpty)
    #expect(harness.store.readiness == .notReady("\(Self.full)"))
    // At once from now on, without asking the engine.
    let attempts = engine.attempts
    #expect(harness.settle(harness.batch([3], first: 12, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    #expect(engine.attempts == attempts)
    await #expect(throws: StoreError.notReady("\(Self.full)")) { try await harness.store.register(Bench.registration(4)) }
    // Reading goes on, and knows only what is durable.
    #expect(try await harness.store.push(Bench.id(0)).first?.disposition == .forwarding)
    #expect(try await harness.store.push(Bench.id(10)).first?.disposition == .refused)
    #expect(try await harness.store.registration(Bench.token(1))?.isInFlight == true)

    engine.failure = nil
    harness.advance(.seconds(1))
    // The outcome that was kept lets the next push of its token go.
    let released = try #require(harness.next()).batch
    #expect(released.forwards.map(\.id) == [Bench.id(1)])
    #expect(harness.store.readiness == .ready)
    #expect(try await harness.store.push(Bench.id(0)).first?.disposition == .applied)
    #expect(try await harness.store.push(Bench.id(0)).first?.detail == "seen")
    // A push that was in flight all the time is still the one that its ticket names.
    _ = harness.complete(second, .accepted)
    #expect(try await harness.store.push(Bench.id(2)).first?.disposition == .accepted)
    #expect(harness.settle(harness.batch([3], first: 20, .alert))?.admits.map(\.result) == [.forwarded])
    #expect(harness.pending == 0, "nothing was sent twice")
  }

  /// A broadcast is on its way when a commit fails: it is not sent again, and what becomes of it meanwhile is kept.
  @Test(arguments: [false, true]) func aBroadcastOnItsWayIsNotSentTwice(endsMeanwhile: Bool) async throws {
    let engine = FailingEngine(MemoryEngine())
    let stage = try BroadcastTests.Stage(engine)
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(BroadcastTests.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(3600))) == .done)
    let sent = try #require(try await stage.sent().first)
    engine.failure = Self.full
    #expect(await stage.send(2, to: 1) == .refused(.serviceUnavailable))
    #expect(await stage.ask(.list) == .refused(.serviceUnavailable))
    if endsMeanwhile { stage.store.complete(sent.ticket, .accepted, detail: "") }
    engine.failure = nil
    stage.advance(.seconds(1))
    #expect(await stage.send(3, to: 1) == .done)
    #expect(try await stage.sent().map(\.id) == [Bench.id(3)], "nothing was sent twice")
    if !endsMeanwhile {
      #expect(try await stage.record(1)?.deliveries.map(\.disposition) == [.forwarding])
      stage.store.complete(sent.ticket, .accepted, detail: "")
    }
    let record = try #require(try await stage.record(1))
    #expect(record.deliveries.map(\.disposition) == [.accepted] && record.deliveries.map(\.attempts) == [1])
    #expect(record.steps.map(\.disposition) == [.forwarding, .accepted])
  }

  @Test func whoWatchesIsToldOnceOfEachChange() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    _ = try await harness.store.register(Bench.registration(1, .app))
    #expect(harness.readinessTold.all.isEmpty)
    engine.failure = Self.full
    for id in 0..<3 {
      _ = harness.settle(harness.batch([1], first: id, .alert))
      harness.advance(.seconds(1))
    }
    #expect(harness.readinessTold.all == [.notReady("\(Self.full)")])
    engine.failure = nil
    harness.advance(.seconds(1))
    _ = harness.settle(harness.batch([1], first: 9, .alert))
    harness.store.stop()
    #expect(harness.readinessTold.all == [.notReady("\(Self.full)"), .ready], "a stop that was asked for is no failure")
  }

  /// Writing works for one commit, in which a kept outcome releases the next push, and fails again in the same round.
  @Test func whatARecoveryReleasesIsSentBeforeTheNextFailure() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    let sent = try #require(harness.settle(harness.batch([1, 1], first: 0, .alert))?.forwards.first)
    engine.failure = Self.full
    #expect(harness.complete(sent, .accepted) != nil)
    harness.advance(.seconds(1), quietly: true)
    engine.grace = 1
    #expect(harness.settle(harness.batch([1], first: 2, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    let released = try #require(harness.next()?.batch.forwards.first)
    #expect(released.id == Bench.id(1))
    engine.failure = nil
    harness.advance(.seconds(1))
    #expect(harness.complete(released, .accepted) != nil)
    #expect(try await harness.store.push(Bench.id(1)).first?.disposition == .accepted)
    #expect(try await harness.store.registration(Bench.token(1))?.isInFlight == false)
  }

  @Test func aRegistrationThatIsNotDurableIsNoRegistration() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    defer { harness.store.stop() }
    engine.failure = Self.full
    await #expect(throws: StoreError.notReady("\(Self.full)")) { try await harness.store.register(Bench.registration(1)) }
    engine.failure = nil
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 0))?.admits.map(\.result) == [.refused(.badDeviceToken, .tokenUnknown)])
    #expect(try await harness.store.register(Bench.registration(1)))
  }

  @Test func anEngineThatCannotReadEitherIsTriedAgain() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    let sent = try #require(harness.settle(harness.batch([1], first: 0, .alert))?.forwards.first)
    engine.failure = Self.full
    engine.failsToLoad = true
    #expect(harness.settle(harness.batch([1], first: 1, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    for _ in 0..<3 {
      harness.advance(.seconds(1))
      #expect(harness.settle(harness.batch([1], first: 2, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    }
    engine.failsToLoad = false
    engine.failure = nil
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 3, .alert))?.admits.map(\.result) == [.waiting(due: nil, .inFlight)])
    #expect(harness.complete(sent, .accepted)?.forwards.map(\.id) == [Bench.id(3)])
    #expect(try await harness.store.push(Bench.id(0)).first?.disposition == .accepted)
  }

  /// The push in flight need not be the first of its lane: what it has passed still waits for its budget.
  @Test func whatPassedOthersIsNotSentTwice() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    for id in 0..<2 {
      let sent = try #require(harness.settle(harness.batch([1], first: id, .background))?.forwards.first)
      _ = harness.complete(sent, .accepted)
    }
    let waits = try #require(harness.settle(harness.batch([1], first: 2, .background))?.admits.first?.result)
    #expect(waits.disposition == .waiting)
    let alert = try #require(harness.settle(harness.batch([1], first: 3, .alert))?.forwards.first)
    #expect(alert.id == Bench.id(3))

    engine.failure = Self.full
    #expect(harness.settle(harness.batch([1], first: 4, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    engine.failure = nil
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 5, .alert))?.admits.map(\.result) == [.waiting(due: nil, .inFlight)])
    #expect(harness.complete(alert, .accepted)?.forwards.map(\.id) == [Bench.id(5)])
    #expect(try await harness.store.push(Bench.id(3)).first?.disposition == .accepted)
    #expect(try await harness.store.push(Bench.id(2)).first?.disposition == .waiting)
    #expect(harness.pending == 0, "nothing was sent twice")
  }

  /// Failures at random while a store works: every answer of 200 is known afterwards, in memory and on disk, and nothing that is in
  /// flight is sent again.
  @Test(arguments: seeds(5)) func failuresAtRandom(seed: UInt64) async throws {
    var generator = SplitMix64(seed: seed)
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    for token in 0..<10 { _ = try await harness.store.register(Bench.registration(token, .app)) }
    var accepted: [Int] = []
    var inFlight: [ForwardedPush] = []
    for round in 0..<200 {
      engine.failure = Int.random(in: 0..<4, using: &generator) == 0 ? Self.full : nil
      if Int.random(in: 0..<3, using: &generator) == 0 { harness.advance(.seconds(2)) }
      // Some wait for their budget, and are passed by others.
      let type: PushType = Int.random(in: 0..<3, using: &generator) == 0 ? .background : .alert
      let batch = harness.batch((0..<3).map { _ in Int.random(in: 0..<10, using: &generator) }, first: round * 3, type)
      while !inFlight.isEmpty, Bool.random(using: &generator) {
        let push = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &generator))
        let outcome: UpstreamOutcome = Bool.random(using: &generator) ? .accepted : .retry(.upstreamBusy)
        batch.completions.append(CompleteOperation(ticket: push.ticket, outcome: outcome))
      }
      #expect(harness.store.submit(batch, from: 0))
      while let next = harness.next()?.batch {
        for push in next.forwards { #expect(!inFlight.contains { $0.id == push.id }, "\(push.id) is in flight") }
        inFlight += next.forwards
        for (index, operation) in next.admits.enumerated() where operation.result.disposition != .refused {
          accepted.append(round * 3 + index)
        }
        if next === batch { break }
      }
    }
    engine.failure = nil
    harness.advance(.seconds(2))
    _ = harness.settle(harness.batch([0], first: 10_000, .alert))
    for id in accepted { #expect(try await harness.store.push(Bench.id(id)).first?.status == 200, "push \(id)") }
    harness.store.stop()
    let bench = try Bench(engine: engine.inner)
    for id in accepted { #expect(bench.record(id) != nil) }
  }
}
