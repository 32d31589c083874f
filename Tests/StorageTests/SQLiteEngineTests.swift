import Delivery
import Foundation
import Primitives
import Push
import Testing

@testable import Storage

@Suite("SQLite engine") struct SQLiteEngineTests {
  private func run(_ sql: String, _ path: String) throws {
    try SQLiteConnection(path).run(sql)
  }

  @Test func aLaterSchemaIsRefused() throws {
    let folder = Folder()
    defer { folder.remove() }
    try SQLiteEngine(path: folder.store).close()
    try run("PRAGMA user_version=\(SQLiteSchema.version + 1)", folder.store)
    let error = StoreError.laterSchema(path: folder.store, found: SQLiteSchema.version + 1, supported: SQLiteSchema.version)
    #expect(throws: error) { try SQLiteEngine(path: folder.store) }
    #expect("\(error)".contains("run the version that wrote it"))
  }

  @Test func anEarlierSchemaIsRefused() throws {
    let folder = Folder()
    defer { folder.remove() }
    try SQLiteEngine(path: folder.store).close()
    try run("PRAGMA user_version=\(SQLiteSchema.oldestVersion - 1)", folder.store)
    let error = StoreError.earlierSchema(path: folder.store, found: SQLiteSchema.oldestVersion - 1, supported: SQLiteSchema.version)
    #expect(throws: error) { try SQLiteEngine(path: folder.store) }
    #expect("\(error)".contains("move it away"))
  }

  @Test func anotherProgramsFileIsRefused() throws {
    let folder = Folder()
    defer { folder.remove() }
    try run("CREATE TABLE notes(text TEXT)", folder.store)
    #expect(throws: StoreError.corrupt(path: folder.store, "it is a database of some other program")) {
      try SQLiteEngine(path: folder.store)
    }
    let other = Folder()
    defer { other.remove() }
    try Data("not a database, but long enough to be looked at as if it were one".utf8).write(to: URL(fileURLWithPath: other.store))
    #expect {
      try SQLiteEngine(path: other.store)
    } throws: { error in
      if case .corrupt(let path, _) = error as? StoreError { path == other.store } else { false }
    }
  }

  @Test func aSecondGatewayIsRefused() throws {
    let folder = Folder()
    defer { folder.remove() }
    let first = try SQLiteEngine(path: folder.store)
    let holder = "another gateway (process \(getpid())), which holds \(folder.store).lock"
    #expect(throws: StoreError.locked(path: folder.store, holder: holder)) { try SQLiteEngine(path: folder.store) }
    first.close()
  }

  @Test func aFolderThatIsMissingIsNamed() throws {
    let folder = Folder()
    defer { folder.remove() }
    #expect {
      try SQLiteEngine(path: folder.path + "/missing/store.db")
    } throws: { error in
      "\(error)".contains("missing/store.db")
    }
  }

  /// A new file has the pages that the bounds of the write-ahead log are reckoned in.
  @Test func pagesHaveTheSizeThatWasChosen() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    #expect(try engine.connection.number("PRAGMA page_size") == SQLiteSchema.pageBytes)
    engine.close()
  }

  @Test func commitsAreSynced() throws {
    let folder = Folder()
    defer { folder.remove() }
    _ = try SQLiteEngine(path: folder.store)
    let connection = try SQLiteConnection(folder.store)
    try SQLiteSchema.prepare(connection, path: folder.store)
    #expect(try connection.number("PRAGMA synchronous") == 2)
    let mode = try connection.prepare("PRAGMA journal_mode")
    #expect(try mode.step())
    #expect(mode.text(0) == "wal")
  }

  /// The write-ahead log cut anywhere, as a power cut may leave it: the store opens, and has the commits up to some point,
  /// whole, and no other.
  @Test func aTornLogGivesAPrefix() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    let bench = try Bench(engine: engine)
    var states: [String] = [bench.state.durable()]
    for number in 0..<6 {
      try bench.register(Bench.registration(number, .app))
      states.append(bench.state.durable())
      try bench.push(number, to: number, .alert, payload: String(repeating: "x", count: 700))
      states.append(bench.state.durable())
    }
    let size = try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as! Int
    var generator = SplitMix64(seed: 5)
    var seen: Set<Int> = []
    for _ in 0..<60 {
      let torn = try folder.copy()
      defer { torn.remove() }
      let log = try FileHandle(forWritingTo: URL(fileURLWithPath: torn.store + "-wal"))
      let cut = UInt64.random(in: 0...UInt64(size), using: &generator)
      try log.truncate(atOffset: cut)
      if Bool.random(using: &generator), cut > 64 {
        try log.seek(toOffset: UInt64.random(in: 32..<cut, using: &generator))
        log.write(Data([0xFF, 0x00, 0xFF, 0x17]))
      }
      try log.close()
      guard let opened = try? SQLiteEngine(path: torn.store) else {
        // Not even the tables were there yet.
        #expect(cut < 40_000)
        continue
      }
      let state = try Bench(engine: opened).state.durable()
      let place = try #require(states.firstIndex(of: state), "a state that never was, cut at \(cut)")
      seen.insert(place)
    }
    #expect(seen.count > 5)
    // What was not cut is all there.
    let whole = try folder.copy()
    defer { whole.remove() }
    #expect(try Bench(engine: SQLiteEngine(path: whole.store)).state.durable() == states.last)
  }

  @Test func aDiskThatIsFullFailsTheCommitAlone() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    let bench = try Bench(engine: engine)
    try bench.register(Bench.registration(1, .app))
    let before = bench.state.durable()
    // SQLite's own bound on pages stands for the disk's.
    engine.limitPages(to: 1)
    #expect {
      for id in 0..<100 { try bench.push(id, .alert, payload: String(repeating: "x", count: 4000)) }
    } throws: { error in
      "\(error)".contains("SQLITE_FULL")
    }
    engine.limitPages(to: 1 << 30)
    try bench.crash()
    let recovered = bench.state.durable()
    #expect(recovered.hasPrefix(String(before.prefix(20))))
    try bench.push(1000, .alert)
    try bench.crash()
    #expect(bench.record(1000) != nil)
  }

  @Test func theLogOnDiskStaysShort() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    let bench = try Bench(engine: engine) {
      $0.waitingBytes = 256 << 20
      $0.journalFoldBytes = 4 << 20
    }
    for number in 0..<16 { try bench.register(Bench.registration(number, .app)) }
    var largest = 0
    for round in 0..<2000 {
      let batch = Batch()
      for number in 0..<16 {
        batch.admits.append(
          Bench.operation(
            batch, id: 16 * round + number, token: Bench.token(number), type: .alert, at: bench.now,
            payload: String(repeating: "x", count: 4000)))
      }
      bench.state.settle(batch, at: bench.now)
      for push in batch.forwards { batch.completions.append(CompleteOperation(ticket: push.ticket, outcome: .accepted)) }
      let outcomes = Batch()
      outcomes.completions = batch.completions
      bench.state.settle(outcomes, at: bench.now)
      try bench.commit()
      try engine.maintain()
      if round % 100 == 0 {
        largest = max(largest, try FileManager.default.attributesOfItem(atPath: folder.store + "-wal")[.size] as! Int)
        #expect(engine.journalBytes < 16 << 20)
      }
    }
    #expect(largest < 80 << 20, "2000 commits of 64 KB")
  }

  @Test func manyRowsOpen() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    let bench = try Bench(engine: engine)
    for number in 0..<10 { try bench.register(Bench.registration(number, .app)) }
    for id in 0..<2000 {
      try bench.push(id, to: id % 10, .alert)
      try bench.complete(.accepted, token: id % 10)
    }
    let before = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == before)
    #expect(bench.state.log.count == 2000)
  }
}

extension SQLiteEngine {
  /// Makes the file count as full beyond so many pages, or as it is.
  func limitPages(to pages: Int) { try? connection.run("PRAGMA max_page_count=\(pages)") }
}
