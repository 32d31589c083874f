import CSQLite
import Foundation
import Primitives
import Push
import Testing

@testable import Storage

/// Copies from the write-ahead log into the database that fail, and everything else that SQLite says and that was not listened to.
@Suite("Checkpoints that fail") struct CheckpointTests {
  /// Bounds that a test reaches in a moment: 4 MB.
  private static var bounds: Checkpointer.Bounds {
    var bounds = Checkpointer.Bounds()
    (bounds.start, bounds.rest, bounds.wait, bounds.most, bounds.spare) = (16, 8, 64, 512, 128)
    return bounds
  }

  private func walBytes(_ folder: Folder) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as? Int ?? 0
  }

  /// Noticed, told and counted at once; pushes are taken for as long as there is room, and not a moment longer; once the disk works, all
  /// goes on by itself, and nothing is lost.
  @Test(arguments: FailingDisk.Fault.allCases) func theyAreNoticedAndTheLogStaysBounded(fault: FailingDisk.Fault) async throws {
    let folder = Folder()
    defer { folder.remove() }
    _ = FailingDisk.shared
    let harness = try Harness(try SQLiteEngine(path: folder.store, fileSystem: FailingDisk.name, bounds: Self.bounds))
    for token in 0..<16 { _ = try await harness.store.register(Bench.registration(token, .app)) }
    FailingDisk.shared.fail(folder.store, fault)
    defer { FailingDisk.shared.fail(folder.store, nil) }

    var accepted: [Int] = []
    var taken = 0
    func push() throws -> Disposition {
      let batch = harness.batch([taken % 16], first: taken, .alert)
      batch.admits[0].payload = batch.append(String(repeating: "x", count: 4000))
      let settled = try #require(harness.settle(batch))
      let result = settled.admits[0].result
      if result.disposition != .refused { accepted.append(taken) }
      for push in settled.forwards { _ = harness.complete(push, .accepted) }
      taken += 1
      return result.disposition
    }
    while harness.store.warnings.isEmpty, taken < 2000 { #expect(try push() != .refused) }
    guard case .checkpointsFail(let why)? = harness.store.warnings.first else {
      Issue.record("no warning after \(taken) pushes")
      return
    }
    #expect(why.contains("SQLITE_IOERR"))
    #expect("\(harness.store.warnings[0])".contains("cannot be copied into its database"))
    #expect(harness.store.counters.failedCheckpoints > 0)
    #expect(harness.store.readiness == .ready, "there is room yet")

    while try push() != .refused, taken < 2000 {}
    guard case .notReady(let reason) = harness.store.readiness else {
      Issue.record("ready after \(taken) pushes")
      return
    }
    #expect(reason.contains("store.db-wal is as large as it may be") && reason.contains("SQLITE_IOERR"))
    for _ in 0..<3 {
      harness.advance(.seconds(1))
      #expect(try push() == .refused, "no commit is tried that would make the log larger")
    }
    #expect(try walBytes(folder) <= Self.bounds.most * (SQLiteSchema.pageBytes + SQLiteSchema.frameHeaderBytes) + 32)

    FailingDisk.shared.fail(folder.store, nil)
    // The pass is made beside the store, which looks once a second by its clock.
    let deadline = ContinuousClock.now + .seconds(120)
    while try push() == .refused, ContinuousClock.now < deadline {
      harness.advance(.seconds(1))
      await Task.yield()
    }
    #expect(harness.store.readiness == .ready)
    harness.advance(.seconds(1))
    _ = try push()
    // A round after it, when what it has found is told.
    _ = try await harness.store.registration(Bench.token(1))
    #expect(harness.store.warnings.isEmpty)
    #expect(harness.warningsTold.map(\.holds) == [true, false])
    harness.store.stop()
    let bench = try Bench(engine: SQLiteEngine(path: folder.store))
    for id in accepted { #expect(bench.record(id) != nil, "push \(id)") }
  }

  /// A parameter that SQLite does not take is no NULL in the table.
  @Test func aParameterThatCannotBeBoundFailsTheStatement() throws {
    let connection = try SQLiteConnection(":memory:")
    try connection.run("CREATE TABLE note(text TEXT, data BLOB)")
    sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 100)
    let statement = try connection.prepare("INSERT INTO note(text, data) VALUES(?, ?)")
    let long = String(repeating: "x", count: 200)
    for bind in [{ statement.bind(1, long) }, { statement.bind(2, Array(long.utf8)) }, { statement.bind(3, 1) }] {
      bind()
      #expect(throws: SQLiteConnection.Failure.self) { try statement.run() }
    }
    #expect(try connection.number("SELECT count(*) FROM note") == 0)
    statement.bind(1, "short")
    statement.bind(2, [1])
    try statement.run()
    #expect(try connection.number("SELECT count(*) FROM note") == 1, "the failures are forgotten once they were told")
  }

  /// Without a write-ahead log, none of what is said of durability and of checkpoints holds.
  @Test func aPlaceWithoutAWriteAheadLogIsRefused() throws {
    let connection = try SQLiteConnection(":memory:")
    #expect {
      try SQLiteSchema.prepare(connection, path: "/nowhere/store.db")
    } throws: { "\($0)".contains("write-ahead log") && "\($0)".contains("journal_mode memory") }
  }
}
