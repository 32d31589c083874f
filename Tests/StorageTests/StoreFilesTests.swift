import Foundation
import Primitives
import Push
import Recorder
import Testing

@testable import Storage

/// Files of a store that are removed, moved or replaced while it runs, and stores that should be there at a start and are not.
@Suite("Files of a store", .timeLimit(.minutes(5))) struct StoreFilesTests {
  /// What becomes of a file.
  enum Loss: CaseIterable {
    case removed, replaced
  }

  private func lose(_ path: String, _ loss: Loss) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try FileManager.default.removeItem(atPath: path)
    // The same content is another file all the same: what is written goes to the one before.
    if loss == .replaced { try bytes.write(to: URL(fileURLWithPath: path)) }
  }

  @Test(arguments: ["", "-wal", "-shm", ".lock"], Loss.allCases)
  func withinASecondNothingIsAccepted(suffix: String, loss: Loss) async throws {
    let folder = Folder()
    defer { folder.remove() }
    let harness = try Harness(try SQLiteEngine(path: folder.store))
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    #expect(harness.settle(harness.batch([1], first: 0, .alert))?.admits.map(\.result) == [.forwarded])

    try lose(folder.store + suffix, loss)
    harness.advance(.seconds(1), quietly: true)
    #expect(harness.settle(harness.batch([1], first: 1, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    let error = StoreError.displaced(path: folder.store + suffix, isReplaced: loss == .replaced)
    #expect(harness.store.readiness == .notReady("\(error)"))
    #expect("\(error)".contains(loss == .removed ? "was removed or moved away" : "was replaced"))
    for id in 2..<5 {
      harness.advance(.seconds(1))
      #expect(harness.settle(harness.batch([1], first: id, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    }
    #expect(harness.readinessTold.all == [.notReady("\(error)")], "told once")
  }

  /// Nobody sends anything: it is noticed all the same.
  @Test func itIsNoticedWithoutPushes() async throws {
    let folder = Folder()
    defer { folder.remove() }
    let harness = try Harness(try SQLiteEngine(path: folder.store))
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    try lose(folder.store, .removed)
    harness.advance(.seconds(1), quietly: true)
    try await harness.readinessTold.until { !$0.isEmpty }
    #expect(harness.store.readiness != .ready)
  }

  /// A folder that is moved away and back is the same one.
  @Test func whatComesBackIsUsedAgain() async throws {
    let folder = Folder()
    defer { folder.remove() }
    let harness = try Harness(try SQLiteEngine(path: folder.store))
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    let away = folder.path + "-away"
    try FileManager.default.moveItem(atPath: folder.path, toPath: away)
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 0, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    try FileManager.default.moveItem(atPath: away, toPath: folder.path)
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 1, .alert))?.admits.map(\.result) == [.forwarded])
    #expect(harness.readinessTold.all.count == 2 && harness.readinessTold.all.last == .ready)
  }

  /// What was accepted is in the log, which has no name any more: it is copied into the database before the process can end.
  @Test func aLogThatIsRemovedIsSaved() async throws {
    let folder = Folder()
    defer { folder.remove() }
    let harness = try Harness(try SQLiteEngine(path: folder.store))
    for token in 0..<10 { _ = try await harness.store.register(Bench.registration(token, .app)) }
    for id in 0..<100 { #expect(harness.settle(harness.batch([id % 10], first: id, .alert)) != nil) }
    let before = try folder.copy()
    defer { before.remove() }
    try lose(before.store + "-wal", .removed)
    let empty = try Bench(engine: SQLiteEngine(path: before.store))
    #expect(empty.record(99) == nil, "else this test would show nothing")

    try lose(folder.store + "-wal", .removed)
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 100, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    // What a kill -9 leaves at this moment.
    let left = try folder.copy()
    defer { left.remove() }
    harness.store.stop()
    let bench = try Bench(engine: SQLiteEngine(path: left.store))
    for id in 0..<100 { #expect(bench.record(id) != nil, "push \(id)") }
  }

  /// The database is gone, and its lock or its log shows that there was one.
  @Test(arguments: [["gateway.lock"], ["gateway-wal"], ["gateway.lock", "gateway-wal"]])
  func aStoreThatShouldBeThereIsMissed(left: [String]) throws {
    let folder = Folder()
    defer { folder.remove() }
    let path = folder.path + "/gateway"
    try SQLiteEngine(path: path).close()
    try FileManager.default.removeItem(atPath: path)
    if !left.contains("gateway.lock") { try FileManager.default.removeItem(atPath: path + ".lock") }
    if left.contains("gateway-wal") { try Data("pages".utf8).write(to: URL(fileURLWithPath: path + "-wal")) }
    let error = StoreError.missing(path: path, marks: left.map { folder.path + "/" + $0 })
    #expect(throws: error) { try SQLiteEngine(path: path) }
    #expect("\(error)".contains("begin anew with rm -f \(folder.path)/\(left[0])"))
    for name in left { try FileManager.default.removeItem(atPath: folder.path + "/" + name) }
    try SQLiteEngine(path: path).close()
  }

  /// A first start that ended before there was a store is no store that is missing.
  @Test func aStartThatCameToNothingIsNoStore() throws {
    let folder = Folder()
    defer { folder.remove() }
    try Data().write(to: URL(fileURLWithPath: folder.store + ".lock"))
    try SQLiteEngine(path: folder.store).close()
    let text = try String(contentsOfFile: folder.store + ".lock", encoding: .utf8)
    #expect(text == "\(getpid())\n")
  }
}
