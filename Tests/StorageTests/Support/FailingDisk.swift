import CSQLite
import Foundation

/// A disk that can be made to fail: one of SQLite's file systems (`sqlite3_vfs`), which is the system's own but for the database of a store.
final class FailingDisk: Sendable {
  /// Under which SQLite knows it.
  static let name = "failing"
  static let shared = FailingDisk()

  /// What fails.
  enum Fault: CaseIterable {
    case syncs, writes
  }

  private struct State {
    var faults: [String: Fault] = [:]
    var paths: [UnsafeMutableRawPointer: String] = [:]
  }

  // Touched while the lock is held, alone.
  private nonisolated(unsafe) var state = State()
  private let lock = NSLock()

  private init() { registerFailingFileSystem() }

  /// Makes the database at `path` fail from now on, or work again.
  func fail(_ path: String, _ fault: Fault?) { lock.withLock { state.faults[path] = fault } }

  fileprivate func opened(_ file: UnsafeMutableRawPointer, _ path: String) { lock.withLock { state.paths[file] = path } }
  fileprivate func closed(_ file: UnsafeMutableRawPointer) { lock.withLock { state.paths[file] = nil } }

  fileprivate func fault(_ file: UnsafeMutableRawPointer?) -> Fault? {
    lock.withLock { file.flatMap { state.paths[$0] }.flatMap { state.faults[$0] } }
  }
}

// Outside of types, since C functions can capture nothing. All are written once, before SQLite sees them.
nonisolated(unsafe) private let system = sqlite3_vfs_find(nil)!
nonisolated(unsafe) private let fileSystem = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
/// The system's methods of a database, and those with ours among them.
nonisolated(unsafe) private var theirs: sqlite3_io_methods?
nonisolated(unsafe) private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
private let patching = NSLock()

private func registerFailingFileSystem() {
  fileSystem.initialize(to: system.pointee)
  fileSystem.pointee.pNext = nil
  fileSystem.pointee.zName = UnsafePointer(strdup(FailingDisk.name))
  fileSystem.pointee.xOpen = { _, name, file, flags, outFlags in
    let code = system.pointee.xOpen(system, name, file, flags, outFlags)
    guard code == SQLITE_OK, let name, let file, flags & SQLITE_OPEN_MAIN_DB != 0 else { return code }
    patching.withLock {
      if theirs == nil {
        theirs = file.pointee.pMethods.pointee
        methods.initialize(to: patched(file.pointee.pMethods.pointee))
      }
    }
    file.pointee.pMethods = UnsafePointer(methods)
    FailingDisk.shared.opened(file, String(cString: name))
    return code
  }
  sqlite3_vfs_register(fileSystem, 0)
}

// SQLITE_IOERR_FSYNC and SQLITE_IOERR_WRITE, which Swift does not import.
private func patched(_ original: sqlite3_io_methods) -> sqlite3_io_methods {
  var patched = original
  patched.xClose = { file in
    if let file { FailingDisk.shared.closed(file) }
    return theirs!.xClose(file)
  }
  patched.xSync = { file, flags in
    FailingDisk.shared.fault(file) == .syncs ? SQLITE_IOERR | 4 << 8 : theirs!.xSync(file, flags)
  }
  patched.xWrite = { file, bytes, count, offset in
    FailingDisk.shared.fault(file) == .writes ? SQLITE_IOERR | 3 << 8 : theirs!.xWrite(file, bytes, count, offset)
  }
  return patched
}
