import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// Memory after a backlog, and what is told of a store before anything has happened.
@Suite("Spare memory") struct SpareMemoryTests {
  @Test func aBacklogThatIsGoneLeavesNoMemory() async throws {
    let harness = try Harness { $0.waitingBytes = 128 << 20 }
    defer { harness.store.stop() }
    for token in 0..<1000 { _ = try await harness.store.register(Bench.registration(token, .app)) }
    let before = try await harness.store.ask { $0.state.heldBytes }
    var sent: [ForwardedPush] = []
    // One of each token is on its way, the others wait behind it.
    for round in 0..<15 {
      let batch = harness.batch(Array(0..<1000), first: round * 1000, .alert)
      for index in batch.admits.indices { batch.admits[index].payload = batch.append(String(repeating: "x", count: 4000)) }
      sent += try #require(harness.settle(batch)).forwards
    }
    let peak = try await harness.store.ask { $0.state.heldBytes }
    #expect(peak > before + 15_000 * 4096)
    while !sent.isEmpty {
      let batch = harness.store.makeBatch()
      for push in sent { batch.completions.append(CompleteOperation(ticket: push.ticket, outcome: .accepted)) }
      sent = try Array(#require(harness.settle(batch)).forwards)
    }
    #expect(try await harness.store.ask { $0.state.counters.waiting + $0.state.counters.inFlight } == 0)
    // It is kept for a while, since a load comes and goes.
    #expect(try await harness.store.ask { $0.state.heldBytes } > before + 15_000 * 4096)
    for _ in 0..<4 {
      harness.advance(.seconds(1))
      _ = harness.settle(harness.batch([], first: 0))
    }
    let deadline = ContinuousClock.now + .seconds(120)
    while try await harness.store.ask({ $0.spare.isReleasing }), ContinuousClock.now < deadline {}
    let after = try await harness.store.ask { $0.state.heldBytes }
    #expect(after < before + (2 << 20), "\(before >> 10) KB before, \(peak >> 10) at the peak, \(after >> 10) after")
    #expect(harness.settle(harness.batch([1], first: 99_000, .alert))?.admits.map(\.result) == [.forwarded])
  }

  /// A load that comes back every second finds its memory as it left it.
  @Test func aLoadThatComesAndGoesKeepsItsMemory() {
    var spare = SpareMemory()
    for _ in 0..<10 {
      spare.note(200 << 20)
      spare.note(0)
      spare.look(kept: 200 << 20, inUse: 0)
      #expect(!spare.isReleasing)
    }
    spare.look(kept: 200 << 20, inUse: 0)
    #expect(!spare.isReleasing, "it may come once more")
    spare.look(kept: 200 << 20, inUse: 0)
    #expect(spare.isReleasing)
    spare.end()
    #expect(!spare.isReleasing)
  }

  /// Pages go from behind, and numbers come back in their order.
  @Test func pagesBehindTheLastValueGo() {
    var slab = PagedSlab<Int>(capacity: 20_000)
    let numbers = (0..<20_000).map { slab.insert($0)! }
    #expect(slab.spareBytes == 0)
    for number in numbers where number != 9000 { slab.remove(number) }
    #expect(slab.spareBytes == 2 * 4096 * 8)
    slab.releaseSpare()
    #expect(slab.spareBytes == 0 && slab.end == 3 * 4096 && slab.count == 1 && slab[9000].pointee == 9000)
    slab.remove(9000)
    slab.releaseSpare()
    #expect(slab.end == 4096 && slab.count == 0)
    let again = Set((0..<20_000).compactMap { slab.insert($0) })
    #expect(again.count == 20_000 && again.max() == 19_999)
  }

  /// What is asked of a store right after it was opened is answered as at any time later.
  @Test func everyCountIsTrueFromTheFirstMoment() async throws {
    let engine = MemoryEngine()
    let first = try Harness(engine) { $0.upstreams = ["device", "apple"] }
    for token in 0..<200 { _ = try await first.store.register(Bench.registration(token, .app)) }
    for id in 0..<3 { _ = first.settle(first.batch(Array(0..<100), first: 100 * id, .alert)) }
    // A round after the last one, whose counts are told when it is over.
    _ = try await first.store.registration(Bench.token(1))
    let before = first.store.counters
    first.store.stop()
    #expect(before.registrations == 200 && before.waiting == 200 && before.inFlight == 100)

    let store = try Store(
      engine: engine, apps: AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: AppPolicy())), loops: 1,
      settings: {
        var settings = StoreSettings()
        settings.upstreams = ["device", "apple"]
        return settings
      }(),
      clock: { Moment(Instant(unixSeconds: 1_800_000_000)) }, resolveUpstream: { _, _, _ in 1 }, deliver: { _, _ in })
    let counters = store.counters
    let held = store.bytesByUpstream
    store.stop()
    #expect(counters.registrations == 200 && counters.logEntries == 300)
    #expect(counters.waiting + counters.inFlight == 300)
    #expect(counters.waitingBytes == 300 * 256)
    #expect(held == [0, 300 * 256])
  }
}

extension StoreState {
  /// Bytes that are held for pushes, in use or not.
  fileprivate var heldBytes: Int { pool.bytes + Int(pushes.end) * MemoryLayout<LivePush>.stride }
}
