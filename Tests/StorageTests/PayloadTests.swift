import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// Payloads that are kept with the log, on each engine.
@Suite("Kept payloads") struct PayloadTests {
  private static let full = StoreError.engine("disk is full")

  private func bench(_ kind: EngineContractTests.Kind, _ folder: Folder, bytesMax: Int = 1 << 20, entries: Int = 4096) throws -> Bench {
    let engine: any Engine = kind == .sqlite ? try SQLiteEngine(path: folder.store) : MemoryEngine()
    let bench = try Bench(engine: engine) {
      $0.keepsPayloads = true
      $0.payloadBytes = bytesMax
      $0.logEntries = entries
    }
    try bench.register(Bench.registration(1, .app))
    return bench
  }

  /// The payload that is kept of the newest push of that id.
  private func payload(_ bench: Bench, _ id: Int) throws -> String? {
    guard let record = bench.record(id) else { return nil }
    return try bench.engine.payload(of: record.cursor.accepted).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: EngineContractTests.Kind.allCases) func ofEveryFate(kind: EngineContractTests.Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try bench(kind, folder)
    try bench.register(Bench.registration(2))
    try bench.push(1, .alert, payload: "forwarded")
    try bench.push(2, .alert, payload: "waits")
    try bench.push(3, .alert, expiration: .at(bench.now - .seconds(1)), payload: "too late")
    for id in 4...6 { try bench.push(id, to: 2, payload: "reload \(id)") }
    try bench.push(7, to: 99, payload: "refused")
    try bench.push(8, .alert, payload: "")
    func check() throws {
      #expect(try payload(bench, 1) == "forwarded" && payload(bench, 2) == "waits" && payload(bench, 3) == "too late")
      for id in 4...6 { #expect(try payload(bench, id) == "reload \(id)") }
      #expect(try payload(bench, 8) == "")
    }
    try check()
    #expect(bench.record(6)?.disposition == .merged && bench.record(7)?.disposition == .refused)
    try bench.complete(.finished(.applied, .alertShown))
    try bench.fold()
    try check()
    try bench.crash()
    try check()
    bench.engine.close()
  }

  /// The oldest go when there is no room, also when the file is opened anew and nobody knows how much there is.
  @Test(arguments: EngineContractTests.Kind.allCases) func theOldestGo(kind: EngineContractTests.Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bytesMax = 100 * (36 + PayloadChange.overheadBytes)
    var bench = try bench(kind, folder, bytesMax: bytesMax)
    for id in 0..<400 {
      try bench.push(id, .alert, payload: String(repeating: "x", count: 36))
      try bench.complete(.accepted)
      guard id % 90 == 89, kind == .sqlite else { continue }
      bench.engine.close()
      bench = try self.bench(kind, folder, bytesMax: bytesMax)
    }
    let kept = try (0..<400).filter { try payload(bench, $0) != nil }
    // SQLite takes several at a time.
    #expect(kept.last == 399 && (36...100).contains(kept.count) && kept == Array((400 - kept.count)..<400))
    bench.engine.close()
  }

  @Test(arguments: EngineContractTests.Kind.allCases) func theyGoWithTheirPushes(kind: EngineContractTests.Kind) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try bench(kind, folder, entries: 256)
    func numbers() throws -> [UInt64] { try (1...bench.state.log.next).filter { try bench.engine.payload(of: $0) != nil } }
    for id in 0..<300 {
      bench.now = bench.now + .seconds(1)
      try bench.push(id, .alert, payload: "{}")
      try bench.complete(.accepted)
    }
    #expect(try numbers() == Array(45...300), "the ring has 256, of which the last commit knew")
    bench.state.forget(before: bench.now - .seconds(99))
    try bench.commit()
    #expect(try numbers() == Array(201...300))
    _ = bench.state.forgetPushes(of: Bench.bundle, below: bench.state.log.next, count: 40)
    try bench.commit()
    #expect(try numbers() == Array(201...260))
    try bench.crash()
    #expect(try numbers() == Array(201...260))
    bench.engine.close()
  }

  /// A store that keeps none forgets those of an earlier run, and writes none of its own.
  @Test(arguments: EngineContractTests.Kind.allCases) func noneAreKeptUnlessAskedFor(kind: EngineContractTests.Kind) async throws {
    let folder = Folder()
    defer { folder.remove() }
    let first = try bench(kind, folder)
    try first.push(1, .alert, payload: "secret")
    #expect(try first.engine.payload(of: 1) == Array("secret".utf8))
    let harness = try Harness(first.engine)
    #expect(try await harness.store.push(Bench.id(1)).first?.status == 200)
    let batch = try #require(harness.settle(harness.batch([1], first: 2, .alert)))
    #expect(batch.admits[0].result.disposition != .refused)
    for id in 1...2 { #expect(try await harness.store.push(Bench.id(id)).first?.payload == nil) }
    for number in UInt64(0)...3 { #expect(try first.engine.payload(of: number) == nil) }
    harness.store.stop()
  }

  @Test func theStoreTellsThemOfOnePush() async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine) { $0.keepsPayloads = true }
    _ = try await harness.store.register(Bench.registration(1, .app))
    #expect(harness.settle(harness.batch([1, 9], first: 1, .alert)) != nil)
    let sent = #"{"aps":{"content-changed":true}}"#
    #expect(try await harness.store.push(Bench.id(1)).first?.payload == Array(sent.utf8))
    #expect(try await harness.store.push(Bench.id(2)).first?.payload == nil, "it was refused")
    #expect(try await harness.store.pushes(matching: PushQuery()).pushes.allSatisfy { $0.payload == nil })
    // A commit that fails keeps none.
    engine.failure = Self.full
    #expect(harness.settle(harness.batch([1], first: 3, .alert)) != nil)
    engine.failure = nil
    harness.advance(.seconds(2))
    #expect(harness.settle(harness.batch([1], first: 4, .alert)) != nil)
    #expect(try await harness.store.push(Bench.id(3)).first?.payload == nil)
    #expect(try await harness.store.push(Bench.id(4)).first?.payload == Array(sent.utf8))
    harness.store.stop()
  }
}
