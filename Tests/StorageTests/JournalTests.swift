import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// What the journal says of single pushes, and what comes back of it.
@Suite("Journal") struct JournalTests {
  /// The fixed parts are saved as they lie in memory: a gap would put bytes of chance into the file, and a change of layout would make
  /// older files unreadable.
  @Test func theFixedPartsHaveNoGaps() {
    #expect(MemoryLayout<SavedPushHead>.size == 48)
    #expect(MemoryLayout<SavedPushMore>.size == 24)
    #expect(MemoryLayout<SavedEntryHead>.size == 48)
    #expect(MemoryLayout<SavedEnd>.size == 16)
    #expect(MemoryLayout<SavedStep>.size == 4)
    #expect(MemoryLayout<SavedRefusedHead>.size == 52)
    #expect(MemoryLayout<BudgetState>.size == 16)
  }

  /// A push that is charged, forwarded and applied costs some hundred bytes of journal, not its token's state twice over.
  @Test func anOrdinaryPushIsShort() throws {
    let bench = try Bench()
    for token in 0..<100 { try bench.register(Bench.registration(token)) }
    let batch = Batch()
    for token in 0..<100 {
      batch.admits.append(Bench.operation(batch, id: token, token: Bench.token(token), type: .widgets, at: bench.now))
    }
    bench.state.settle(batch, at: bench.now)
    let admitted = bench.state.journal.count
    try bench.commit()
    let outcomes = Batch()
    for push in batch.forwards {
      outcomes.completions.append(CompleteOperation(ticket: push.ticket, outcome: .finished(.applied, .reloaded)))
    }
    bench.state.settle(outcomes, at: bench.now)
    #expect(bench.state.changed.isEmpty)
    #expect(admitted < 100 * 80)
    #expect(bench.state.journal.count < 100 * 20)
  }

  /// Topic, collapse id and payload are left out where they are those of the push before; each push must get its own back.
  @Test(arguments: seeds(20)) func everyPushGetsItsOwnBytesBack(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let bench = try Bench()
    for token in 0..<50 { try bench.register(Bench.registration(token, .app)) }
    let texts = ["", "a", "b", "ab", String(repeating: "x", count: 300)]
    let batch = Batch()
    for token in 0..<50 {
      var operation = Bench.operation(
        batch, id: token, token: Bench.token(token), type: .alert, at: bench.now, payload: texts.randomElement(using: &generator)!)
      operation.collapseID = batch.append(texts.randomElement(using: &generator)!)
      operation.warnings = Bool.random(using: &generator) ? PushWarnings(.priorityMissing) : []
      operation.prioritySent = Bool.random(using: &generator)
      operation.traits.timestamp = Int64.random(in: 0...1, using: &generator)
      operation.expiration = [.absent, .zero, .at(bench.now + .seconds(9))].randomElement(using: &generator)!
      batch.admits.append(operation)
    }
    try bench.settle(batch)
    let before = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == before)
  }

  /// Whatever commit is the last, what comes back is the state as it was then; pages that were folded meanwhile are ahead of the journal's
  /// first rows and must do no harm.
  @Test(arguments: seeds(12)) func everyCommitCanBeTheLast(seed: UInt64) throws {
    var run = try SimulationTests.Run(seed: seed, MemoryEngine())
    for _ in 0..<40 {
      if let fault = try run.play(steps: 10) ?? run.compareWithSaved() {
        Issue.record("\(fault)")
        return
      }
    }
  }

  /// A delivery that is tried again counts for the minimum interval from then on, after a crash as well.
  @Test func aFurtherAttemptIsRemembered() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(1)
    let charged = bench.now
    try bench.complete(.retry(.upstreamUnavailable))
    try bench.advance(to: bench.now + .seconds(30))
    try bench.complete(.accepted)
    let before = bench.state.durable()
    let number = bench.state.tokens.find(Bench.token(1))!
    let lastCharge = bench.state.tokens[number].pointee.budget.lastCharge
    #expect(lastCharge > charged)
    try bench.crash()
    #expect(bench.state.durable() == before)
  }

  /// What an outcome says of the token itself is saved as well.
  @Test(arguments: [
    UpstreamOutcome.suspect, .unregistered(Instant(unixSeconds: 1_800_000_100)), .expired(Instant(unixSeconds: 1_800_000_100)),
  ])
  func aTokensFateIsRemembered(outcome: UpstreamOutcome) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(1, .alert)
    try bench.complete(outcome)
    let spoiled = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == spoiled)
    guard outcome == .suspect else { return }
    try bench.push(2, .alert)
    try bench.complete(.accepted)
    let healed = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == healed)
    #expect(healed != spoiled)
  }

  /// The log may have forgotten a push that is still alive; its end must come back all the same.
  @Test func aPushThatTheLogHasForgottenEnds() throws {
    let bench = try Bench { $0.logEntries = 256 }
    for token in 1...2 { try bench.register(Bench.registration(token, .app)) }
    try bench.push(0, to: 1, .alert)
    for id in 1...300 {
      try bench.push(id, to: 2, .alert)
      try bench.complete(.accepted, token: 2)
    }
    #expect(bench.record(0) == nil)
    try bench.complete(.accepted, token: 1)
    try bench.crash()
    #expect(bench.state.counters.waiting == 0)
  }

  /// Bytes that end too early are an error or fewer records, and are never read past their end.
  @Test func aCutRowIsRefused() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.register(Bench.registration(2, .app))
    let batch = Batch()
    for (id, token, type) in [(1, 1, PushType.widgets), (2, 1, .widgets), (3, 2, .alert)] {
      batch.admits.append(Bench.operation(batch, id: id, token: Bench.token(token), type: type, at: bench.now))
    }
    bench.state.settle(batch, at: bench.now)
    let outcomes = Batch()
    for push in batch.forwards {
      outcomes.completions.append(CompleteOperation(ticket: push.ticket, outcome: .refused(status: 400, .badTopic)))
    }
    bench.state.settle(outcomes, at: bench.now)
    let row = Array(bench.state.journal.buffer)
    var whole = 0
    for length in 1...row.count {
      var state = try StoreState.load(bench.engine, settings: bench.settings, resolver: Bench.resolver(bench.apps), at: bench.now)
      var loader = StateLoader(logCapacity: 256)
      let outcome = row.prefix(length).withUnsafeBytes { part in
        Result { try loader.take(.journal(number: 9, part), &state, at: .distantPast) }
      }
      if case .success = outcome { whole += 1 }
    }
    // Time; two pushes; one waits or merges; two ends.
    #expect(whole == 6)
  }
}
