import Glibc
import SafeFiles

/// The files of an open store, as they were when it was opened: one that is removed or replaced meanwhile is noticed.
///
/// A process goes on writing to a file that has lost its name, and every write succeeds; with the process all of it is gone. So the
/// files' numbers are compared with those that stand under the names now. A file that is open keeps its number, so that no other can
/// have the same one.
struct StoreFiles {
  /// What tells one file from another.
  private struct Identity: Equatable {
    var device: dev_t
    var number: ino_t
  }

  /// The database.
  let database: String
  private let files: [(path: String, identity: Identity)]

  /// The files of the store at `path`, which SQLite has open and has written to.
  init(_ path: String) throws(StoreError) {
    database = path
    var files: [(path: String, identity: Identity)] = []
    for file in Self.files(of: path) + [FileLock.path(of: path)] {
      guard let identity = Self.identity(of: file) else { throw .engine("\(file): \(String(cString: strerror(errno)))") }
      files.append((file, identity))
    }
    self.files = files
  }

  /// Throws which file is not there any more, or is another one.
  func check() throws(StoreError) {
    for file in files where Self.identity(of: file.path) != file.identity {
      throw .displaced(path: file.path, isReplaced: Self.identity(of: file.path) != nil)
    }
  }

  /// Whether the database itself is where it was.
  var hasDatabase: Bool { files.first.map { Self.identity(of: $0.path) == $0.identity } ?? false }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, number: status.st_ino)
  }

  /// Throws where a store was made at `path`, by what it has left beside it, and its database is gone.
  static func checkBeforeOpening(_ path: String) throws(StoreError) {
    guard identity(of: path) == nil else { return }
    let marks = [FileLock.path(of: path), "\(path)-wal"].filter { mark in
      var status = stat()
      return stat(mark, &status) == 0 && status.st_size > 0
    }
    guard !marks.isEmpty else { return }
    throw .missing(path: path, marks: marks)
  }

  /// Makes the database of a store that is not there yet, empty, and has its files for their owner alone: SQLite would make them for all
  /// that the umask lets in, and its log has the permissions of its database.
  static func makePrivate(_ path: String) throws(StoreError) {
    for file in files(of: path) {
      do throws(FileRefusal) { try SafeFile.makePrivate(file) } catch { throw .engine("\(file): \(error)") }
    }
    guard identity(of: path) == nil else { return }
    do throws(FileRefusal) { close(try SafeFile.create(path)) } catch { throw .engine("\(path): \(error)") }
  }

  /// What SQLite makes of a database at `path`.
  private static func files(of path: String) -> [String] { [path, "\(path)-wal", "\(path)-shm"] }
}
