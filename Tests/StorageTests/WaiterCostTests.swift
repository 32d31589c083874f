import Delivery
import Primitives
import Push
import Synchronization
import Testing

@testable import Storage

/// Many who wait, seen from the store thread: each round has a bound for all of them together.
@Suite("The cost of waiting calls") struct WaiterCostTests {
  private final class Answers: Sendable {
    let pages = Mutex<[PushPage]>([])
    var count: Int { pages.withLock { $0.count } }
  }

  private static let start = Instant(unixSeconds: 1_800_000_000)

  private func core(entries: Int) throws -> StoreCore {
    var settings = StoreSettings()
    settings.triesPastExpirations = false
    settings.registrations = 10_000
    settings.logEntries = entries
    let apps = AppDirectory([], anyApp: AppDirectory.App(bundleID: ""))
    return try StoreCore(
      engine: MemoryEngine(), settings: settings, loops: 1, resolver: RouteResolver(apps: apps) { _, _, _ in 1 },
      clock: { Moment(Self.start) }, deliver: { _, _ in }, deliverBroadcast: { _, _ in }, pool: BatchPool(),
      shared: StoreShared(changed: nil))
  }

  private func round(_ core: inout StoreCore, _ batch: Batch? = nil, _ work: Inbox.Work? = nil) {
    var batches: ContiguousArray<(batch: Batch, loop: Int)> = []
    if let batch { batches.append((batch, 0)) }
    var all: ContiguousArray<Inbox.Work> = []
    if let work { all.append(work) }
    core.round(&batches, &all)
  }

  private func pushes(_ ids: Range<Int>) -> Batch {
    let batch = Batch()
    for id in ids {
      batch.admits.append(Bench.operation(batch, id: id, token: Bench.token(id % 100 + 1), type: .alert, at: Self.start))
    }
    return batch
  }

  @Test func eachRoundHasABoundForAll() throws {
    var core = try core(entries: 40_000)
    for token in 1...100 { _ = try core.state.register(Bench.registration(token, .app), previous: nil, at: Self.start) }
    for first in stride(from: 0, to: 1000, by: 500) { round(&core, pushes(first..<first + 500)) }
    let length = Int(core.state.log.next - 1)
    #expect(length == 1000)

    let answers = Answers()
    let query = PushQuery(disposition: .expired, limit: 1000)
    round(&core, nil) { core in
      for _ in 0..<200 {
        core.wait(query, PushWait(count: 1, until: .distantFuture), Abandonment()) { result in
          answers.pages.withLock { if let page = try? result.get() { $0.append(page) } }
        }
      }
    }
    #expect(core.waiters.count == 200 && core.hasMoreToFind && core.pause == 0)
    var (rounds, visits) = (1, Limits.waitVisits - core.waitVisits)
    while core.hasMoreToFind {
      round(&core)
      rounds += 1
      #expect(core.waitVisits >= 0)
      visits += Limits.waitVisits - core.waitVisits
    }
    // Each walks over the log once, and no round has more than its share of that.
    #expect(visits <= 200 * (length + 1) && rounds >= visits / Limits.waitVisits && rounds <= visits / Limits.waitVisits + 2)
    #expect(answers.count == 0)

    // From then on a push costs them none of it.
    for id in 3000..<3020 {
      round(&core, pushes(id..<id + 1))
      #expect(core.waitVisits == Limits.waitVisits && !core.hasMoreToFind)
    }
    let late = pushes(4000..<4001)
    late.admits[0].expiration = .at(Self.start - .seconds(1))
    round(&core, late)
    #expect(core.waitVisits == Limits.waitVisits)
    #expect(answers.count == 200 && core.waiters.isEmpty)
    answers.pages.withLock { pages in
      #expect(pages.allSatisfy { $0.complete && $0.matched == 1 && $0.pushes.map(\.id) == [Bench.id(4000)] })
    }
    core.close()
  }

  /// Those whose time is up look for near misses out of the same share, and are all answered.
  @Test func whoseTimeIsUpSharesIt() throws {
    var core = try core(entries: 40_000)
    for token in 1...100 { _ = try core.state.register(Bench.registration(token, .app), previous: nil, at: Self.start) }
    for first in stride(from: 0, to: 2000, by: 500) { round(&core, pushes(first..<first + 500)) }
    let answers = Answers()
    // Nothing is near this one.
    let query = PushQuery(type: .voip, disposition: .expired, limit: 1000)
    round(&core, nil) { core in
      for _ in 0..<100 {
        core.wait(query, PushWait(count: 1, until: Self.start), Abandonment()) { result in
          answers.pages.withLock { if let page = try? result.get() { $0.append(page) } }
        }
      }
    }
    var rounds = 1
    while !core.waiters.isEmpty, rounds < 10_000 {
      #expect(core.pause == 0 && core.waitVisits >= 0)
      round(&core)
      rounds += 1
    }
    #expect(answers.count == 100 && rounds > 2)
    answers.pages.withLock { #expect($0.allSatisfy { !$0.complete && $0.matched == 0 && $0.nearMisses.isEmpty }) }
    core.close()
  }
}
