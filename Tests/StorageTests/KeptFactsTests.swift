import Primitives
import Push
import Testing

@testable import Storage

/// What the log knows of a push beside its steps, through crashes and folding.
@Suite("What the log keeps of a push") struct KeptFactsTests {
  @Test(arguments: [false, true], [false, true]) func theExpirationThatWasSent(sqlite: Bool, isFolded: Bool) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: sqlite ? try SQLiteEngine(path: folder.store) : MemoryEngine())
    defer { bench.engine.close() }
    try bench.register(Bench.registration(1))
    let soon = bench.now + .seconds(3600)
    let sent: [Expiration] = [
      .absent, .at(soon), .at(soon + .seconds(60)), .at(Instant(unixSeconds: 3600)), .zero, .at(.distantFuture),
    ]
    for (id, expiration) in sent.enumerated() { try bench.push(id, expiration: expiration) }
    #expect(sent.indices.map { bench.record($0)?.disposition } == [.forwarding, .waiting, .merged, .expired, .merged, .merged])
    if isFolded { try bench.fold() }
    try bench.complete(.finished(.applied, .reloaded))
    for _ in 0..<2 {
      #expect(sent.indices.map { bench.record($0)?.expiration } == sent, "each its own, whatever it has merged into")
      try bench.crash()
    }
  }

  /// What stands in an entry for no push is an id that nobody can send.
  @Test func anIDOfZerosMayStandForAnother() throws {
    let zeros = try #require(PushID("00000000-0000-0000-0000-000000000000"))
    var entry = LogEntry(
      sequence: 1, received: .distantPast, id: Bench.id(1), token: 0, route: 0, warnings: [], type: .widgets, priority: .immediate,
      step: LogStep(at: .distantPast, disposition: .merged, cause: .none))
    let wasMerged = entry.isMerged
    entry.mergedInto = zeros
    let isMerged = entry.isMerged
    #expect(!wasMerged && isMerged)
  }
}
