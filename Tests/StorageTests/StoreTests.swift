import Delivery
import Foundation
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Store") struct StoreTests {
  @Test func aPushIsSettledForwardedAndKnown() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    #expect(try await harness.store.register(Bench.registration(1)))
    #expect(try await harness.store.register(Bench.registration(1)) == false)
    let batch = try #require(harness.settle(harness.batch([1, 1, 2], first: 0)))
    #expect(batch.admits.map(\.result) == [.forwarded, .waiting(due: nil, .minimumInterval), .refused(.badDeviceToken, .tokenUnknown)])
    let sent = try #require(batch.forwards.first)
    #expect(sent.id == Bench.id(0) && sent.upstream == 1 && sent.admit == 0)
    _ = harness.complete(sent, .finished(.applied, .reloaded))
    #expect(try await harness.store.push(Bench.id(0)).first?.disposition == .applied)
    #expect(try await harness.store.registration(Bench.token(1))?.waiting == 1)

    harness.advance(.seconds(300))
    let due = try #require(harness.next())
    #expect(due.batch.admits.isEmpty && due.batch.forwards.map(\.id) == [Bench.id(1)])
    harness.store.recycle(due.batch)
    #expect(try await harness.store.budgets(Bench.token(1))?.map(\.remaining) == [10])
    #expect(try await harness.store.resetBudget(Bench.token(1)))
    #expect(try await harness.store.budgets(Bench.token(1))?.map(\.remaining) == [12])
    #expect(try await harness.store.setBudget(Bench.token(1), credits: 3))
    #expect(try await harness.store.budgets(Bench.token(1))?.map(\.remaining) == [3])
    #expect(try await harness.store.budgets(Bench.token(2)) == nil)
    // Who does not see the app, by the time that it is the store's turn, changes nothing.
    let stranger: @Sendable (String) -> Bool = { $0 == "com.other" }
    await #expect(throws: StoreError.foreign) { try await harness.store.register(Bench.registration(1), sees: stranger) }
    await #expect(throws: StoreError.foreign) { try await harness.store.unregister(Bench.token(1), sees: stranger) }
    await #expect(throws: StoreError.foreign) { try await harness.store.setBudget(Bench.token(1), credits: 1, sees: stranger) }
    await #expect(throws: StoreError.foreign) { try await harness.store.resetBudget(Bench.token(1), sees: stranger) }
    #expect(try await harness.store.budgets(Bench.token(1))?.map(\.remaining) == [3])
    #expect(try await harness.store.unregister(Bench.token(1)))
    #expect(try await harness.store.registration(Bench.token(1)) == nil)
    #expect(harness.store.counters.finished(.widgets, .applied) == 1)
    #expect(harness.store.counters.finished(.widgets, .refused) == 1)
  }

  @Test func dueBatchesGoToTheTokensLoop() async throws {
    let harness = try Harness(loops: 3)
    defer { harness.store.stop() }
    for token in 0..<30 {
      var registration = Bench.registration(token)
      registration.coalesce = .seconds(1)
      _ = try await harness.store.register(registration)
    }
    let settled = try #require(harness.settle(harness.batch(Array(0..<30), first: 0)))
    #expect(settled.admits.allSatisfy { $0.result.disposition == .waiting })
    harness.advance(.seconds(1))
    var loops: Set<Int> = []
    var count = 0
    while count < 30, let due = harness.next() {
      loops.insert(due.loop)
      count += due.batch.forwards.count
    }
    #expect(count == 30 && loops == [0, 1, 2])
  }

  @Test func aFullInboxIsToldAtOnce() async throws {
    let gate = GatedEngine(MemoryEngine())
    let harness = try Harness(gate) { $0.inboxPushes = 3 }
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    gate.hold()
    // The first goes to the thread, which stands in its commit; three wait.
    #expect(harness.store.submit(harness.batch([1], first: 0, .alert), from: 0))
    gate.waitUntilHeld()
    for id in 1...3 { #expect(harness.store.submit(harness.batch([1], first: id, .alert), from: 0)) }
    #expect(!harness.store.submit(harness.batch([1], first: 4, .alert), from: 0))
    let outcomes = harness.store.makeBatch()
    #expect(harness.store.submit(outcomes, from: 0), "outcomes make room, so they always have some")
    gate.letGo()
    for _ in 0..<5 { #expect(harness.next() != nil) }
  }

  @Test func listCallsWait() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    let store = harness.store
    let until = harness.now + .seconds(10)
    let waiting = Task {
      try await store.pushes(matching: PushQuery(token: Bench.token(1), disposition: .accepted), wait: PushWait(count: 2, until: until))
    }
    let hopeless = Task {
      try await store.pushes(matching: PushQuery(token: Bench.token(1), type: .widgets), wait: PushWait(count: 1, until: until))
    }
    for id in 0..<2 {
      let batch = try #require(harness.settle(harness.batch([1], first: id, .alert)))
      _ = harness.complete(try #require(batch.forwards.first), .accepted)
    }
    let page = try await waiting.value
    #expect(page.complete && page.matched == 2 && page.pushes.map(\.id) == [1, 0].map(Bench.id))
    #expect(try await store.pushes(matching: PushQuery(token: Bench.token(1)), wait: PushWait(count: 2, until: until)).complete)
    harness.advance(.seconds(10))
    let nothing = try await hopeless.value
    #expect(!nothing.complete && nothing.matched == 0 && nothing.nearMisses.map(\.differs) == ["type", "type"])
  }

  @Test func aRefusalEndsAWaitForIt() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    let store = harness.store
    let until = harness.now + .seconds(10)
    let waiting = Task {
      try await store.pushes(matching: PushQuery(disposition: .refused), wait: PushWait(count: 1, until: until))
    }
    // Until the call waits, and whenever it does.
    let batch = harness.store.makeBatch()
    batch.refusals.append(
      RefusedOperation(
        id: Bench.id(1), token: nil, type: nil, bundleID: batch.append("com.example"), reason: .badPath, detail: batch.append("/4/device"),
        received: harness.now))
    _ = try #require(harness.settle(batch))
    let page = try await waiting.value
    #expect(page.complete && page.pushes.first?.detail == "/4/device" && page.pushes.first?.status == 404)
  }

  @Test func stoppingSavesEverything() async throws {
    let engine = MemoryEngine()
    var harness = try Harness(engine)
    _ = try await harness.store.register(Bench.registration(1, .app))
    let batch = harness.batch([1, 1], first: 0, .alert)
    #expect(harness.store.submit(batch, from: 0))
    harness.store.stop()
    #expect(harness.next()?.batch.admits.map(\.result) == [.forwarded, .waiting(due: nil, .inFlight)])
    #expect(!harness.store.submit(harness.batch([1], first: 2, .alert), from: 0))
    await #expect(throws: StoreError.stopped) { try await harness.store.register(Bench.registration(2)) }
    #expect(engine.oldestJournalRow == nil, "the journal has been folded")
    harness = try Harness(engine)
    defer { harness.store.stop() }
    let again = try #require(harness.next()).batch
    #expect(again.forwards.map(\.id) == [Bench.id(0)])
    #expect(try await harness.store.push(Bench.id(1)).first?.disposition == .waiting)
  }
}

/// An engine whose commits wait at a gate.
final class GatedEngine: WrappedEngine, @unchecked Sendable {
  private let condition = NSCondition()
  private var isClosed = false
  private var isHeld = false

  func hold() { condition.withLock { isClosed = true } }

  func letGo() {
    condition.withLock {
      isClosed = false
      condition.broadcast()
    }
  }

  func waitUntilHeld() { condition.withLock { while !isHeld { condition.wait() } } }

  override func commit(_ commit: borrowing Commit) throws(StoreError) {
    condition.withLock {
      while isClosed {
        isHeld = true
        condition.broadcast()
        condition.wait()
      }
    }
    try inner.commit(commit)
  }
}
