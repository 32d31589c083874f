import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

@Suite("Power cuts") struct PowerCutTests {
  @Test(arguments: seeds(8)) func nothingAcknowledgedIsTakenBack(seed: UInt64) throws {
    let faults = try run(seed: seed) { _ in }
    #expect(faults == [])
  }

  /// Without the sync at each commit, answers of 200 would be taken back; a test that does not see that proves nothing.
  @Test func aMissingSyncIsSeen() throws {
    let faults = try (UInt64(1)...3).flatMap { seed in
      try run(seed: seed) { engine in try engine.connection.run("PRAGMA synchronous=NORMAL") }
    }
    #expect(faults.count >= 3)
  }

  /// A store that works, with some power cuts in the midst of its writes.
  ///
  /// - Returns: What was wrong with what the cuts left.
  private func run(seed: UInt64, _ adjust: (SQLiteEngine) throws -> Void) throws -> [String] {
    let disk = PowerCutDisk.shared
    let folder = Folder()
    defer {
      disk.forget(folder)
      folder.remove()
    }
    var generator = SplitMix64(seed: seed)
    let engine = try SQLiteEngine(path: folder.store, fileSystem: PowerCutDisk.name)
    try adjust(engine)
    let bench = try Bench(engine: engine) {
      $0.foldSliceBytes = 2000
      $0.seed = seed
    }
    for number in 0..<80 { try bench.register(Bench.registration(number, .app)) }
    // What was durable after each commit, the last one first acknowledged when the next begins.
    var states = [bench.state.durable(exact: false)]
    var faults: [String] = []
    var id = 0
    for round in 0..<6 {
      disk.cut(folder, after: Int.random(in: 1...60, using: &generator), seed: seed * 100 + UInt64(round))
      if round % 2 == 1 { bench.startFolding() }
      while !disk.isCut(folder) {
        id += 1
        let token = Int.random(in: 0..<80, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: if bench.isInFlight(token) { try bench.complete(.accepted, token: token) } else { try bench.commit() }
        default: try bench.push(id, to: token, .alert, payload: String(repeating: "x", count: id % 3000))
        }
        states.append(bench.state.durable(exact: false))
      }
      let left = try disk.leavings(folder)
      defer { left.remove() }
      // The last state had not been acknowledged when the power went; the one before had.
      let acknowledged = states.count - 2
      do {
        let opened = try SQLiteEngine(path: left.store)
        let state = try Bench(engine: opened).state.durable(exact: false)
        opened.close()
        switch states.lastIndex(of: state) {
        case nil: faults.append("a state that never was, in round \(round)")
        case let place? where place < acknowledged: faults.append("taken back \(acknowledged - place) commits in round \(round)")
        default: break
        }
      } catch {
        faults.append("\(error)")
      }
    }
    engine.close()
    return faults
  }
}

extension Bench {
  fileprivate func isInFlight(_ token: Int) -> Bool {
    state.tokens.find(Bench.token(token)).map { state.tokens[$0].pointee.inFlight != none } ?? false
  }
}
