import Delivery
import Foundation
import Primitives
import Push
import Recorder
import Synchronization
import Testing

@testable import Storage

/// Reloads by the store's own thread and tasks, with an engine that fails meanwhile.
@Suite("Reloads by the store", .timeLimit(.minutes(10))) struct ReloadStoreTests {
  /// What a commit that failed had decided has not happened, and the walk goes on behind the last one that worked.
  @Test(arguments: [0, 1, 3]) func commitsThatFailLoseAndRepeatNothing(grace: Int) async throws {
    let engine = FailingEngine(MemoryEngine())
    let sink = Recorder<DeviceToken>()
    var settings = StoreSettings()
    (settings.registrations, settings.logEntries) = (5000, 4096)
    let store = try Store(
      engine: engine, apps: AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: AppPolicy())), loops: 1, settings: settings,
      clock: { Moment(Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))) }, resolveUpstream: { _, _, _ in 1 }
    ) { _, batch in
      let sent = batch.forwards.map(\.token)
      sink.append(contentsOf: sent)
    }
    defer { store.stop() }
    let count = 1200
    let results = try await store.register(all: (0..<count).map { Bench.registration($0) }) { _ in true }
    #expect(results.count == count)
    // The first commit is that of the request.
    engine.grace = 1 + grace
    engine.failure = .engine("no room")
    let answer = try await store.beginReload(ReloadRequest(selector: ReloadSelector(bundleID: Bench.bundle)))
    guard case .begun(let begun) = answer else { return #expect(Bool(false), "\(answer)") }
    try await engine.failed.until { !$0.isEmpty }
    engine.failure = nil
    var reload: Reload?
    let deadline = ContinuousClock.now + .seconds(120)
    repeat {
      reload = try await store.reload(begun.id)
    } while reload?.state != .finished && ContinuousClock.now < deadline
    #expect(reload?.state == .finished && reload?.visited == count && reload?.count(.forwarding) == count, "\(String(describing: reload))")
    let sent = sink.all
    #expect(sent.count == count && Set(sent).count == count)
  }

  /// Nothing holds a store that is stopped in the middle of a reload, and the next one goes on with it.
  @Test func aStoreStopsInTheMiddle() async throws {
    let engine = MemoryEngine()
    let time = Mutex(Instant(unixSeconds: 1_800_000_000))
    func open(_ sink: Recorder<DeviceToken>) throws -> Store {
      var settings = StoreSettings()
      (settings.registrations, settings.logEntries) = (5000, 4096)
      return try Store(
        engine: engine, apps: AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: AppPolicy())), loops: 1, settings: settings,
        clock: { Moment(time.withLock { $0 }) }, resolveUpstream: { _, _, _ in 1 }
      ) { _, batch in
        let sent = batch.forwards.map(\.token)
        sink.append(contentsOf: sent)
      }
    }
    let (first, second) = (Recorder<DeviceToken>(), Recorder<DeviceToken>())
    let store = try open(first)
    _ = try await store.register(all: (0..<10).map { Bench.registration($0) }) { _ in true }
    let request = ReloadRequest(selector: ReloadSelector(bundleID: Bench.bundle), spread: .seconds(1000))
    guard case .begun(let begun) = try await store.beginReload(request) else { return #expect(Bool(false), "not begun") }
    try await first.until { !$0.isEmpty }
    store.stop()
    let again = try open(second)
    defer { again.stop() }
    // The next goes when it would have gone, and the rest keeps its pace.
    try await second.until { !$0.isEmpty }
    #expect(second.all == first.all)
    time.withLock { $0 = $0 + .seconds(100) }
    again.clockChanged()
    try await second.until { $0.count >= 2 }
    let reload = try await again.reload(begun.id)
    #expect(reload?.state == .running && reload?.visited == 2 && reload?.matches == 10)
    #expect(Set(second.all).isSuperset(of: first.all), "what was in flight is sent again")
  }
}
