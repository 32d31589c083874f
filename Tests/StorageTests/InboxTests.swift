import Delivery
import Foundation
import Primitives
import Push
import Testing

@testable import Storage

/// What waits while the store is behind: bounded by what it costs, whatever number of batches it comes in.
@Suite("Inbox") struct InboxTests {
  /// A store whose thread stands in a commit.
  private func held(_ adjust: (inout StoreSettings) -> Void = { _ in }) async throws -> (Harness, GatedEngine) {
    let gate = GatedEngine(MemoryEngine())
    let harness = try Harness(gate, adjust)
    _ = try await harness.store.register(Bench.registration(1, .app))
    gate.hold()
    #expect(harness.store.submit(harness.batch([1], first: 0, .alert), from: 0))
    gate.waitUntilHeld()
    return (harness, gate)
  }

  /// Far more batches than were ever a bound, of a push each: all are taken.
  @Test func batchesOfOnePushAreNoBound() async throws {
    let (harness, gate) = try await held { $0.lanePushes = 250 }
    defer { harness.store.stop() }
    for id in 1...2000 { #expect(harness.store.submit(harness.batch([1], first: id, .alert), from: 0)) }
    #expect(harness.store.pushesInInbox == 2000)
    gate.letGo()
    for _ in 0...2000 { harness.store.recycle(try #require(harness.next()).batch) }
    #expect(harness.store.pushesInInbox == 0)
  }

  /// The bound in bytes: a batch over it is taken, the next is not.
  @Test func bytesAreBounded() async throws {
    let (harness, gate) = try await held { $0.inboxBytes = 10_000 }
    defer { harness.store.stop() }
    let large = harness.batch([1], first: 1, .alert)
    large.admits[0].payload = large.append(String(repeating: "x", count: 10_000))
    #expect(harness.store.submit(large, from: 0))
    #expect(!harness.store.submit(harness.batch([1], first: 2, .alert), from: 0))
    gate.letGo()
    for _ in 0..<2 { _ = try #require(harness.next()) }
    #expect(harness.store.submit(harness.batch([1], first: 3, .alert), from: 0))
    _ = try #require(harness.next())
  }

  /// Refused requests are for the log alone: a flood of them beside a slow disk is not kept.
  @Test func refusalsWaitOnlyWhereThereIsRoom() async throws {
    let (harness, gate) = try await held { $0.inboxBytes = 2000 }
    defer { harness.store.stop() }
    func refusals() -> Batch {
      let batch = harness.store.makeBatch()
      batch.refusals.append(
        RefusedOperation(
          id: Bench.id(9), token: nil, type: nil, bundleID: batch.append(String(repeating: "a", count: 255)), reason: .badPath,
          received: harness.now))
      return batch
    }
    let taken = (0..<100).prefix { _ in harness.store.submit(refusals(), from: 0) }.count
    #expect((1...8).contains(taken))
    // What became of pushes is not lost for that.
    let outcomes = refusals()
    outcomes.completions.append(CompleteOperation(ticket: PushTicket(sequence: 0, slot: 0), outcome: .accepted))
    #expect(harness.store.submit(outcomes, from: 0))
    gate.letGo()
    for _ in 0..<taken + 2 { _ = try #require(harness.next()) }
  }

  /// Once some batches wait, a loop gets its last one back to add to: so a slow disk meets few large ones.
  @Test func theLastBatchIsTakenBack() async throws {
    let (harness, gate) = try await held()
    defer { harness.store.stop() }
    let store = harness.store
    for id in 1..<Limits.batchesUngathered {
      #expect(store.takeBack(from: 0) == nil)
      #expect(store.submit(harness.batch([1], first: id, .alert), from: 0))
    }
    let last = harness.batch([1], first: 100, .alert)
    #expect(store.submit(last, from: 0) && store.takeBack(from: 1) == nil)
    let back = try #require(store.takeBack(from: 0))
    #expect(back === last && store.pushesInInbox == Limits.batchesUngathered - 1)
    back.admits.append(Bench.operation(back, id: 101, token: Bench.token(1), type: .alert, at: harness.now))
    #expect(store.submit(back, from: 0, isReturned: true) && store.pushesInInbox == Limits.batchesUngathered + 1)
    // A full one stays where it is.
    let again = try #require(store.takeBack(from: 0))
    for id in 0..<Limits.batchOperations - 2 {
      again.admits.append(Bench.operation(again, id: 200 + id, token: Bench.token(2), type: .alert, at: harness.now))
    }
    #expect(store.submit(again, from: 0, isReturned: true) && store.takeBack(from: 0) == nil)
    gate.letGo()
    var settled: [Batch] = []
    while settled.last !== last { settled.append(try #require(harness.next()).batch) }
    #expect(last.admits.count == Limits.batchOperations && last.admits.allSatisfy { $0.result != .unsettled })
  }

  /// One commit saves a bounded number of pushes, in the order in which they came; the rest has the next one.
  @Test func aRoundIsBounded() throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    let inbox = Inbox(pushes: 100_000, bytes: 1 << 30) { harness.steady }
    let tokens = [Int](repeating: 1, count: Limits.batchOperations)
    let batches = (0..<10).map { harness.batch(tokens, first: 1000 * $0, .alert) }
    for batch in batches { #expect(inbox.add(batch, from: 0)) }
    var (rounds, work): ([[Batch]], ContiguousArray<Inbox.Work>) = ([], [])
    while rounds.flatMap(\.self).count < batches.count {
      var taken: ContiguousArray<(batch: Batch, loop: Int)> = []
      #expect(!inbox.take(&taken, &work, nanoseconds: 0))
      rounds.append(taken.map(\.batch))
      #expect(inbox.backlog.pushes == (batches.count - rounds.flatMap(\.self).count) * Limits.batchOperations)
    }
    #expect(rounds.map(\.count) == [4, 4, 2] && rounds.flatMap(\.self).elementsEqual(batches, by: ===))
  }

  /// What was taken in has its place, even where there is no room for more by now.
  @Test func whatIsReturnedHasItsPlace() async throws {
    let (harness, gate) = try await held { $0.inboxPushes = Limits.batchesUngathered }
    defer { harness.store.stop() }
    for id in 1...Limits.batchesUngathered { #expect(harness.store.submit(harness.batch([1], first: id, .alert), from: 0)) }
    let back = try #require(harness.store.takeBack(from: 0))
    back.admits.append(Bench.operation(back, id: 101, token: Bench.token(1), type: .alert, at: harness.now))
    #expect(harness.store.submit(back, from: 0, isReturned: true))
    #expect(!harness.store.submit(harness.batch([1], first: 102, .alert), from: 0))
    gate.letGo()
    for _ in 0...Limits.batchesUngathered { _ = try #require(harness.next()) }
  }

  /// `/readyz` asks while the thread stands still, so the thread need not say it.
  @Test func aStoreThatIsBehindWarns() async throws {
    let (harness, gate) = try await held()
    defer { harness.store.stop() }
    #expect(harness.store.submit(harness.batch([1], first: 1, .alert), from: 0))
    #expect(harness.store.warnings.isEmpty)
    harness.advance(.milliseconds(Limits.storeBehindMilliseconds), quietly: true)
    guard case .isBehind(pushes: 1, milliseconds: Limits.storeBehindMilliseconds)? = harness.store.warnings.first else {
      Issue.record("\(harness.store.warnings)")
      return gate.letGo()
    }
    #expect("\(harness.store.warnings[0])".contains("1 pushes wait for it"))
    gate.letGo()
    for _ in 0..<2 { _ = try #require(harness.next()) }
    // Answered in a round that began after that time.
    #expect(try await harness.store.push(Bench.id(1)).count == 1)
    #expect(harness.store.warnings.isEmpty)
  }

  /// Emptied batches are kept by the memory that they take.
  @Test func thePoolIsBoundedInBytes() {
    let pool = BatchPool()
    let batches = (0..<100).map { _ in pool.take() }
    for batch in batches {
      _ = batch.append(String(repeating: "x", count: 1 << 20))
      pool.give(batch)
    }
    #expect(pool.spareBytes >= Limits.batchBytesKept && pool.spareBytes < Limits.batchBytesKept + 2 << 20)
    _ = pool.take()
    #expect(pool.spareBytes < Limits.batchBytesKept)
    pool.releaseSpare()
    #expect(pool.spareBytes == 0)
  }
}
