import Delivery
import Foundation
import Primitives
import Push
import Testing

@testable import Storage

/// A process that is killed while it works, in the midst of commits, folds and checkpoints.
@Suite("Crashes", .serialized) struct CrashTests {
  /// What the killed process had been told, one line each: `accepted ID` and `done ID`.
  private func acknowledgements(_ folder: Folder) throws -> [(word: String, id: Int)] {
    guard let text = try? String(contentsOfFile: folder.path + "/log", encoding: .utf8) else { return [] }
    return text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 2, line.hasSuffix("."), let id = Int(words[1].dropLast()) else { return nil }
      return (String(words[0]), id)
    }
  }

  @Test func nothingAcknowledgedIsLost() async throws {
    let folder = Folder()
    defer { folder.remove() }
    for round in 1...6 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, round = round as Int] in
        try await CrashTests.work(path, round: round)
      }
      let lines = try acknowledgements(folder)
      let engine = try SQLiteEngine(path: folder.store)
      let bench = try Bench(engine: engine) { $0.logEntries = 200_000 }
      var lost = 0
      var again = 0
      for line in lines {
        let record = bench.record(line.id)
        if record == nil { lost += 1 }
        if line.word == "done", record?.disposition != .applied { again += 1 }
      }
      #expect(lost == 0, "of \(lines.count) in round \(round)")
      #expect(again == 0, "pushes that were applied and would be sent again, in round \(round)")
      #expect(lines.count > 100 * round, "the process did too little to prove anything")
      engine.close()
    }
  }

  /// With the device down, 1,000 pushes to 1,000 tokens are accepted; after a kill, every one is delivered, and known.
  @Test func whatWaitsForADeviceIsDeliveredAfterwards() async throws {
    let folder = Folder()
    defer { folder.remove() }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      let harness = try Harness(try SQLiteEngine(path: path + "/store.db"))
      for token in 0..<1000 { _ = try await harness.store.register(Bench.registration(token)) }
      for first in stride(from: 0, to: 1000, by: 100) {
        let batch = try #require(harness.settle(harness.batch(Array(first..<first + 100), first: first)))
        guard batch.admits.allSatisfy({ $0.result == .forwarded }) else { exit(1) }
        let outcomes = harness.store.makeBatch()
        for push in batch.forwards {
          outcomes.completions.append(CompleteOperation(ticket: push.ticket, outcome: .notAttempted(.upstreamUnavailable)))
        }
        _ = harness.settle(outcomes)
      }
      kill(getpid(), SIGKILL)
    }
    let engine = try SQLiteEngine(path: folder.store)
    let bench = try Bench(engine: engine)
    #expect(bench.state.counters.waiting == 1000)
    try bench.releaseDue()
    #expect(Set(bench.forwarded.map(\.push.id)) == Set((0..<1000).map(Bench.id)))
    for id in 0..<1000 { #expect(bench.record(id)?.status == 200) }
    // Each was paid for once, before the crash.
    for token in 0..<1000 { #expect(bench.budgets(Bench.registration(token))?.map(\.remaining) == [11]) }
    engine.close()
  }

  /// The life of the process that is killed: registers, pushes and completes as fast as it can until the axe falls.
  static func work(_ path: String, round: Int) async throws {
    let log = open(path + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    let harness = try Harness(try SQLiteEngine(path: path + "/store.db")) {
      $0.logEntries = 200_000
      $0.journalFoldBytes = 200_000
      $0.foldSliceBytes = 10_000
    }
    for token in 0..<300 { _ = try await harness.store.register(Bench.registration(token, .app)) }
    var generator = SystemRandomNumberGenerator()
    // After some folds; then wherever the store's thread is while the axe's begins.
    var batchesLeft = Int.random(in: 40...400, using: &generator)
    var id = round * 1_000_000
    var outcomes: [CompleteOperation] = []
    var completing: [Int] = []
    while true {
      batchesLeft -= 1
      if batchesLeft == 0 { Thread.detachNewThread { kill(getpid(), SIGKILL) } }
      let batch = harness.batch((0..<20).map { _ in Int.random(in: 0..<300, using: &generator) }, first: id, .alert)
      id += 20
      batch.completions.append(contentsOf: outcomes)
      let done = completing
      guard let settled = harness.settle(batch) else { exit(1) }
      var text = done.map { "done \($0).\n" }.joined()
      for operation in settled.admits where operation.result.disposition != .refused { text += "accepted \(operation.id.low).\n" }
      _ = text.withCString { write(log, $0, strlen($0)) }
      outcomes = settled.forwards.map { CompleteOperation(ticket: $0.ticket, outcome: .finished(.applied, .alertShown)) }
      completing = settled.forwards.map { Int($0.id.low) }
    }
  }
}
