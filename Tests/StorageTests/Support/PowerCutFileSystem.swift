import CSQLite
import Foundation

// SQLite's side of `PowerCutDisk`: a file of ours is a header with our methods, the path, and the real file behind it.
// All of it stands outside of types, since C functions can capture nothing, not even a type.

private struct Header {
  var base: sqlite3_file
  var path: Unmanaged<NSString>?
}

private typealias File = UnsafeMutablePointer<sqlite3_file>

private let headerBytes = 64
nonisolated(unsafe) private let system = sqlite3_vfs_find(nil)!  // SQLite's own, there for ever
// Both are written once, before SQLite sees them.
nonisolated(unsafe) private let fileSystem = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
nonisolated(unsafe) private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)

private func real(_ file: File?) -> File {
  (UnsafeMutableRawPointer(file!) + headerBytes).assumingMemoryBound(to: sqlite3_file.self)
}

private func header(_ file: File?) -> UnsafeMutablePointer<Header> {
  UnsafeMutableRawPointer(file!).assumingMemoryBound(to: Header.self)
}

private func path(_ file: File?) -> String? { header(file).pointee.path.map { String(describing: $0.takeUnretainedValue()) } }

/// Makes the disk known to SQLite; once is enough.
func registerPowerCutFileSystem() {
  methods.initialize(to: makeMethods())
  fileSystem.initialize(to: system.pointee)
  fileSystem.pointee.szOsFile = Int32(headerBytes) + system.pointee.szOsFile
  fileSystem.pointee.pNext = nil
  fileSystem.pointee.zName = UnsafePointer(strdup(PowerCutDisk.name))
  fileSystem.pointee.xOpen = { _, name, file, flags, outFlags in
    header(file).initialize(to: Header(base: sqlite3_file(pMethods: nil), path: nil))
    let code = system.pointee.xOpen(system, name, real(file), flags, outFlags)
    guard code == SQLITE_OK else { return code }
    header(file).pointee.base.pMethods = UnsafePointer(methods)
    if let name, flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) != 0 {
      let path = String(cString: name)
      header(file).pointee.path = Unmanaged.passRetained(NSString(string: path))
      PowerCutDisk.shared.opened(path)
    }
    return code
  }
  fileSystem.pointee.xDelete = { _, name, syncsFolder in
    if let name { PowerCutDisk.shared.deleted(String(cString: name)) }
    return system.pointee.xDelete(system, name, syncsFolder)
  }
  sqlite3_vfs_register(fileSystem, 0)
}

private func makeMethods() -> sqlite3_io_methods {
  sqlite3_io_methods(
    iVersion: 3,
    xClose: { file in
      header(file).pointee.path?.release()
      return real(file).pointee.pMethods.pointee.xClose(real(file))
    },
    xRead: { file, bytes, count, offset in real(file).pointee.pMethods.pointee.xRead(real(file), bytes, count, offset) },
    xWrite: { file, bytes, count, offset in
      if let path = path(file) { PowerCutDisk.shared.wrote(path, UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: Int(offset)) }
      return real(file).pointee.pMethods.pointee.xWrite(real(file), bytes, count, offset)
    },
    xTruncate: { file, size in
      if let path = path(file) { PowerCutDisk.shared.truncated(path, to: Int(size)) }
      return real(file).pointee.pMethods.pointee.xTruncate(real(file), size)
    },
    xSync: { file, flags in
      // The real sync is left out: this test is about which are asked for.
      if let path = path(file) { PowerCutDisk.shared.synced(path) }
      return SQLITE_OK
    },
    xFileSize: { file, size in real(file).pointee.pMethods.pointee.xFileSize(real(file), size) },
    xLock: { file, level in real(file).pointee.pMethods.pointee.xLock(real(file), level) },
    xUnlock: { file, level in real(file).pointee.pMethods.pointee.xUnlock(real(file), level) },
    xCheckReservedLock: { file, result in real(file).pointee.pMethods.pointee.xCheckReservedLock(real(file), result) },
    xFileControl: { file, operation, argument in
      real(file).pointee.pMethods.pointee.xFileControl(real(file), operation, argument)
    },
    xSectorSize: { file in real(file).pointee.pMethods.pointee.xSectorSize(real(file)) },
    xDeviceCharacteristics: { file in real(file).pointee.pMethods.pointee.xDeviceCharacteristics(real(file)) },
    xShmMap: { file, page, size, extends, memory in
      real(file).pointee.pMethods.pointee.xShmMap(real(file), page, size, extends, memory)
    },
    xShmLock: { file, offset, count, flags in real(file).pointee.pMethods.pointee.xShmLock(real(file), offset, count, flags) },
    xShmBarrier: { file in real(file).pointee.pMethods.pointee.xShmBarrier(real(file)) },
    xShmUnmap: { file, deletes in real(file).pointee.pMethods.pointee.xShmUnmap(real(file), deletes) },
    xFetch: { file, offset, count, page in real(file).pointee.pMethods.pointee.xFetch(real(file), offset, count, page) },
    xUnfetch: { file, offset, page in real(file).pointee.pMethods.pointee.xUnfetch(real(file), offset, page) })
}
