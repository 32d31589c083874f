import Delivery
import Primitives
import Push
import Seeds
import Synchronization
import Testing

@testable import Storage

/// Refused requests come back after a restart, and a flood of them costs the disk no more than is said.
@Suite("Refused requests") struct RefusedLogTests {
  /// A request that was refused before it came to the store.
  private func refusal(
    _ batch: Batch, _ id: Int, bundleID: String = Bench.bundle, token: DeviceToken? = Bench.token(7), type: PushType? = .alert,
    reason: Reason? = .badTopic, cause: Cause = .none, detail: String = "", at now: Instant
  ) -> RefusedOperation {
    RefusedOperation(
      id: Bench.id(id), token: token, type: type, bundleID: batch.append(bundleID), reason: reason, cause: cause,
      detail: batch.append(detail), received: now)
  }

  private func refuse(_ bench: Bench, _ ids: Range<Int>, bundleID: String = Bench.bundle, detail: String = "") throws {
    for id in ids {
      let batch = Batch()
      batch.refusals.append(refusal(batch, id, bundleID: bundleID, detail: detail, at: bench.now))
      try bench.settle(batch)
    }
  }

  private func ids(_ bench: Bench, _ query: PushQuery = PushQuery(limit: 1000)) -> [Int] {
    bench.state.page(query).pushes.map { Int($0.id.low) }
  }

  @Test(arguments: [false, true]) func everythingComesBack(sqlite: Bool) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: sqlite ? try SQLiteEngine(path: folder.store) : MemoryEngine())
    bench.refusedBytes = .max
    let batch = Batch()
    let long = String(repeating: "☀", count: 340)
    batch.refusals = [
      refusal(batch, 1, detail: long, at: bench.now),
      refusal(batch, 2, bundleID: "", token: nil, type: nil, reason: nil, cause: .fault, detail: "1", at: bench.now + .seconds(-1)),
      refusal(batch, 3, token: Bench.token(3, count: 100), type: .widgets, reason: .missingProviderToken, at: bench.now),
      RefusedOperation(
        id: PushID("0123ABCD-ef01-2345-6789-abcdefABCDEF")!, token: nil, type: .voip, reason: .badPath, received: bench.now),
    ]
    try bench.settle(batch)
    try bench.push(4, to: 99)
    try bench.register(Bench.registration(1))
    try bench.push(5)
    let before = bench.state.page(PushQuery()).pushes
    #expect(before.count == 6)
    try bench.crash()
    #expect(bench.state.page(PushQuery()).pushes == before)
    #expect(bench.record(1)?.detail == long && bench.record(4)?.cause == .tokenUnknown)
    #expect(ids(bench, PushQuery(token: Bench.token(3, count: 100))) == [3])
    #expect(ids(bench, PushQuery(type: .alert)) == [1] && ids(bench, PushQuery(disposition: .refused)).count == 5)
    // Numbers go on: a place in a list from before the restart still is that place.
    try refuse(bench, 6..<7)
    #expect(bench.state.page(PushQuery(after: before[0].cursor)).pushes == Array(before.dropFirst()))
    bench.engine.close()
  }

  /// The ring over many rounds, with crashes in between that forget nothing since everything is saved at once.
  @Test(arguments: seeds(6)) func theRingComesBackWhereverItStands(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let capacity = [1, 10, 63, 64, 65, 200][Int(seed % 6)]
    let bench = try Bench { $0.refusedEntries = capacity }
    bench.refusedBytes = .max
    var next = 0
    while next < 1000 {
      let count = Int.random(in: 1..<150, using: &generator)
      try refuse(bench, next..<next + count)
      next += count
      if Bool.random(using: &generator) { try bench.crash() }
      #expect(ids(bench) == (max(0, next - capacity)..<next).reversed())
    }
  }

  /// Only so many bytes go with one commit, the newest first; what a crash then forgets leaves a gap, and nothing else.
  @Test(arguments: seeds(6)) func whatWasNotSavedLeavesAGap(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let bench = try Bench { $0.refusedEntries = 500 }
    try bench.register(Bench.registration(1, .app))
    var next = 0
    for _ in 0..<12 {
      let count = Int.random(in: 1..<900, using: &generator)
      let detail = String(repeating: "x", count: Int.random(in: 0..<200, using: &generator))
      try refuse(bench, next..<next + count, detail: detail)
      next += count
      bench.now = bench.now + .seconds(1)
      try bench.push(100_000 + next, .alert)
      bench.now = bench.now + .seconds(1)
      let limit = Int.random(in: 1..<60_000, using: &generator)
      bench.refusedBytes = limit
      try bench.commit()
      bench.refusedBytes = 0
      let before = ids(bench)
      try bench.crash()
      let after = ids(bench)
      #expect(after.filter { $0 >= 100_000 } == before.filter { $0 >= 100_000 })
      #expect(Set(after).isSubset(of: before) && after == before.filter(Set(after).contains), "in the order that it was")
      // A page is 64 of some 110 bytes and the detail, so that many of the newest are there.
      let pages = max(1, limit / (64 * (150 + detail.utf8.count)))
      #expect(after.filter { $0 < 100_000 }.prefix((pages - 1) * 64) == before.filter { $0 < 100_000 }.prefix((pages - 1) * 64)[...])
    }
  }

  @Test func aResetIsRemembered() throws {
    let bench = try Bench { $0.refusedEntries = 1000 }
    bench.refusedBytes = .max
    for first in stride(from: 0, to: 300, by: 10) {
      try refuse(bench, first..<first + 10, bundleID: first % 20 == 0 ? Bench.bundle : "com.other")
    }
    bench.refusedBytes = 0
    #expect(bench.state.forgetRefused(of: Bench.bundle) == 150)
    try bench.commit()
    let kept = (0..<300).reversed().filter { $0 / 10 % 2 == 1 }
    #expect(ids(bench) == kept)
    try bench.crash()
    #expect(ids(bench) == kept)
    #expect(bench.state.forgetRefused(of: nil) == 150)
    try bench.commit()
    try bench.crash()
    #expect(ids(bench).isEmpty)
    let (forgotten, hasUnsaved) = (bench.state.forgetRefused(of: nil), bench.state.refused.hasUnsaved)
    #expect(forgotten == 0 && !hasUnsaved)
  }

  @Test func whatIsTooOldLeavesTheDiskToo() throws {
    let engine = MemoryEngine()
    let bench = try Bench(engine: engine) { $0.refusedEntries = 1000 }
    bench.refusedBytes = .max
    for id in 0..<500 {
      bench.now = bench.now + .seconds(1)
      try refuse(bench, id..<id + 1)
    }
    bench.state.forget(before: bench.now - .seconds(9))
    try bench.commit()
    let hasUnsaved = bench.state.refused.hasUnsaved
    #expect(!hasUnsaved)
    var pages: [UInt64] = []
    try engine.load { item in if case .refusedPage(let number, _) = item { pages.append(number) } }
    #expect(pages == [7])
    try bench.crash()
    bench.state.forget(before: bench.now - .seconds(9))
    #expect(ids(bench) == (490..<500).reversed())
  }

  /// A file of an earlier build, which has no table for them, is taken over.
  @Test func aStoreWithoutThemIsTakenOver() throws {
    let folder = Folder()
    defer { folder.remove() }
    let first = try Bench(engine: try SQLiteEngine(path: folder.store))
    try first.register(Bench.registration(1))
    try first.push(1)
    first.engine.close()
    try SQLiteConnection(folder.store).run("DROP TABLE refused_page")
    let bench = try Bench(engine: try SQLiteEngine(path: folder.store))
    bench.refusedBytes = .max
    try refuse(bench, 2..<3)
    try bench.crash()
    #expect(Set(ids(bench)) == [1, 2])
    bench.engine.close()
  }

  /// A page of a layout that this build does not know is passed over, and one that ends too early is an error; neither is read past its
  /// end.
  @Test func foreignPages() throws {
    let bench = try Bench()
    try refuse(bench, 0..<3, detail: "why")
    let arena = ByteArena(capacity: 64)
    let page = try #require(bench.state.writeRefused(to: arena, bytesMax: .max).first)
    var bytes = Array(arena.buffer)
    #expect(page.bytes.count == bytes.count)
    func load(_ bytes: ArraySlice<UInt8>) -> Result<Int, any Error> {
      Result {
        var state = StoreState(settings: bench.settings, resolver: Bench.resolver(bench.apps))
        var loader = StateLoader(logCapacity: 256)
        try bytes.withUnsafeBytes { try loader.take(.refusedPage(number: 0, $0), &state, at: .distantPast) }
        return state.page(PushQuery()).pushes.count
      }
    }
    let whole = (1...bytes.count).compactMap { try? load(bytes.prefix($0)).get() }
    #expect(whole == [0, 1, 2, 3])
    bytes[0] = StoreState.refusedLayout + 1
    #expect(try load(bytes[...]).get() == 0)
  }

  // MARK: With its thread

  /// A flood writes no more than so many bytes a second, each accepted push is answered all the same, and a clean stop saves it all.
  @Test func aFloodWritesSoManyBytesASecond() async throws {
    let engine = MeteredEngine(MemoryEngine())
    let harness = try Harness(engine)
    _ = try await harness.store.register(Bench.registration(1, .app))
    let before = engine.commits.withLock { $0.count }
    let detail = String(repeating: "x", count: 500)
    for round in 0..<40 {
      let batch = harness.batch(round % 10 == 0 ? [1] : [], first: 1_000_000 + round, .alert)
      for id in 0..<1000 { batch.refusals.append(refusal(batch, round * 1000 + id, detail: detail, at: harness.now)) }
      #expect(harness.settle(batch) != nil)
      if round % 10 == 9 { harness.advance(.seconds(1)) }
    }
    // The clock has been moved four times, so there were at most five commits with any of it.
    let written = engine.commits.withLock { $0.dropFirst(before).map(\.refused).filter { $0 > 0 } }
    #expect(!written.isEmpty && written.count <= 5)
    #expect(written.allSatisfy { $0 < Limits.refusedSaveBytes + 64 * 700 })
    harness.store.stop()
    let bench = try Bench(engine: engine.inner) { $0.refusedEntries = Limits.refusedLogEntries }
    let refused = bench.state.page(PushQuery(disposition: .refused, limit: 1000)).pushes
    #expect(refused.map { Int($0.id.low) } == (39_000..<40_000).reversed())
    let count = bench.state.refused.next - bench.state.refused.oldest
    #expect(count == UInt64(Limits.refusedLogEntries))
    for round in stride(from: 0, to: 40, by: 10) { #expect(bench.record(1_000_000 + round)?.status == 200) }
  }

  /// The store saves a lone refusal by itself, with nothing else to commit.
  @Test func aLoneRefusalIsSavedByItself() async throws {
    let engine = MeteredEngine(MemoryEngine())
    let harness = try Harness(engine)
    for id in 0..<3 {
      let batch = harness.store.makeBatch()
      batch.refusals.append(refusal(batch, id, at: harness.now))
      #expect(harness.settle(batch) != nil)
    }
    #expect(engine.commits.withLock { $0.count { $0.refused > 0 } } == 1, "the second and third come within the same second")
    #expect(try Bench(engine: engine.inner).record(0)?.reason == .badTopic)
    harness.advance(.seconds(1))
    // The first question is answered before its round is saved, the second after that.
    for _ in 0..<2 { _ = try await harness.store.push(Bench.id(0)) }
    #expect(try Bench(engine: engine.inner).record(2)?.reason == .badTopic)
    harness.store.stop()
  }

  /// When a commit fails, what should have been saved with it is saved later, and so is what comes until commits work again.
  @Test func aFailedCommitForgetsNothing() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    // The first commit, that of the store's own names, is over.
    _ = try await harness.store.register(Bench.registration(1))
    let attempts = engine.attempts
    func refuse(_ ids: Range<Int>) -> Bool {
      let batch = harness.store.makeBatch()
      for id in ids { batch.refusals.append(refusal(batch, id, at: harness.now)) }
      return harness.settle(batch) != nil
    }
    engine.failure = .engine("disk is full")
    #expect(refuse(0..<200) && engine.attempts == attempts + 1)
    #expect(harness.store.readiness != .ready)
    #expect(refuse(200..<300) && engine.attempts == attempts + 1, "not tried again at once")
    engine.failure = nil
    harness.advance(.seconds(2))
    #expect(refuse(300..<301))
    #expect(harness.store.readiness == .ready)
    harness.advance(.seconds(2))
    // The first question is answered before its round is saved, the second after that.
    for _ in 0..<2 { _ = try await harness.store.push(Bench.id(0)) }
    #expect(try await harness.store.push(Bench.id(250)).first?.reason == .badTopic)
    harness.store.stop()
    let bench = try Bench(engine: engine.inner) { $0.refusedEntries = 1000 }
    #expect(ids(bench) == (0..<301).reversed())
  }
}

/// An engine that notes what each commit holds.
private final class MeteredEngine: WrappedEngine, @unchecked Sendable {
  let commits = Mutex<[(refused: Int, journal: Int)]>([])

  override func commit(_ commit: borrowing Commit) throws(StoreError) {
    let size = (refused: commit.refusedPages.reduce(0) { $0 + $1.bytes.count }, journal: commit.journal.count)
    commits.withLock { $0.append(size) }
    try inner.commit(commit)
  }
}
