import Primitives
import Push
import Testing

@testable import Storage

/// What the log knows of a push beside its steps, through crashes and folding.
@Suite("What the log keeps of a push") struct KeptFactsTests {
  @Test(arguments: [false, true], [false, true]) func theExpirationThatWasSent(sqlite: Bool, isFolded: Bool) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: sqlite ? try SQLiteEngine(path: folder.store) : MemoryEngine()) { $0.triesPastExpirations = false }
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

  @Test(arguments: [false, true]) func aRegistrationThatWasRemoved(isFolded: Bool) throws {
    let bench = try Bench()
    bench.refusedBytes = .max
    for token in 1...3 { try bench.register(Bench.registration(token)) }
    for token in [1, 3] { try bench.push(token, to: token) }
    let removed = bench.now + .seconds(60)
    bench.now = removed
    for token in [2, 1] { #expect(try bench.unregister(token)) }
    try bench.complete(.finished(.applied, .reloaded), token: 3)
    try bench.register(Bench.registration(4), replacing: Bench.token(3))
    if isFolded { try bench.fold() }
    bench.now = bench.now + .seconds(60)
    for round in 0..<2 {
      for token in [1, 2, 3, 9] {
        let refusal = try bench.push(100 * round + 10 + token, to: token)
        #expect(refusal == .refused(.badDeviceToken, .tokenUnknown))
      }
      let details = [1, 2, 3, 9].map { bench.record(100 * round + 10 + $0)?.detail }
      #expect(details[0]?.hasPrefix("this token was registered until \(removed), and its registration was removed") == true, "\(details)")
      #expect(details[2]?.hasPrefix("this token was registered until \(removed), and another has taken its place") == true, "\(details)")
      #expect(details[1] == nil && details[3] == nil, "of the one no push is known, and the other was none")
      try bench.push(100 * round + 20, to: 1, bundleID: "com.other")
      #expect(bench.record(100 * round + 20)?.detail == nil, "what is known of an app's token is not told to another")
      try bench.crash()
    }
    try bench.register(Bench.registration(1))
    #expect(try bench.push(200).disposition != .refused, "a token that comes back lives")
  }

  /// What was in flight fails for the removal, not for a 410 that nobody has sent.
  @Test func whatIsInFlightWhileItIsRemoved() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(1)
    #expect(try bench.unregister(1))
    try bench.complete(.retry(.upstreamFailed))
    #expect(bench.record(1)?.disposition == .failed && bench.record(1)?.cause == .registrationRemoved)
  }
}
