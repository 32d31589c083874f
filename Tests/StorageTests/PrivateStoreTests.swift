import Foundation
import Testing

@testable import Storage

/// Push tokens and payloads stand in a store: its files are for their owner alone, and where they lie nobody else decides.
@Suite("Private store") struct PrivateStoreTests {
  private static let names = ["store.db", "store.db-wal", "store.db-shm", "store.db.lock"]

  private func mode(_ folder: Folder, _ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")[.posixPermissions] as? Int
  }

  @Test func itsFilesAreForTheirOwnerAlone() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    for name in Self.names { #expect(try mode(folder, name) == 0o600, "\(name)") }
    engine.close()
  }

  /// Earlier builds made them for all that the umask let in.
  @Test func thoseOfAnEarlierBuildBecomePrivate() throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    let left = try folder.copy()
    defer { left.remove() }
    engine.close()
    for name in Self.names { chmod("\(left.path)/\(name)", 0o644) }
    let again = try SQLiteEngine(path: left.store)
    for name in Self.names.dropLast() { #expect(try mode(left, name) == 0o600, "\(name)") }
    again.close()
  }

  @Test(arguments: names) func aLinkInTheirPlaceIsNotFollowed(name: String) throws {
    let folder = Folder()
    defer { folder.remove() }
    let target = "\(folder.path)/precious"
    try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
    // A database without a log, which is what a store is that was closed.
    if name != "store.db" { try SQLiteEngine(path: folder.store).close() }
    unlink("\(folder.path)/\(name)")
    symlink(target, "\(folder.path)/\(name)")
    let error = try #require(#expect(throws: StoreError.self) { try SQLiteEngine(path: folder.store) })
    #expect("\(error)".contains("\(folder.path)/\(name): it is a symbolic link"), "\(error)")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  /// A folder that is reached through a link was named by somebody; SQLite itself would refuse any link on the way.
  @Test func aFolderBehindALinkWillDo() throws {
    let (folder, other) = (Folder(), Folder())
    defer {
      folder.remove()
      other.remove()
    }
    symlink(folder.path, "\(other.path)/link")
    let path = "\(other.path)/link/store.db"
    try SQLiteEngine(path: path).close()
    let copy = "\(other.path)/link/copy.db"
    try StoreBackup.copy(path, to: copy)
    #expect(FileManager.default.fileExists(atPath: "\(folder.path)/copy.db"))
    #expect(try mode(folder, "store.db") == 0o600)
  }
}
