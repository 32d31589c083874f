import Glibc
import SafeFiles

/// Keeps a second process off a store: an advisory lock (`flock`) on a file beside it, which goes with the process, however that ends.
///
/// The file stays when the process has ended. It is not empty once a store was made, which tells a store that is gone from one that
/// never was.
final class FileLock {
  private let descriptor: Int32
  private let lockPath: String

  /// The path of the lock of the store at `path`.
  static func path(of path: String) -> String { path + ".lock" }

  /// Takes the lock of the store at `path`.
  init(_ path: String) throws(StoreError) {
    lockPath = Self.path(of: path)
    do throws(FileRefusal) { descriptor = try SafeFile.openOwn(lockPath, O_RDWR) } catch { throw .engine("\(lockPath): \(error)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.holder(descriptor)
      Glibc.close(descriptor)
      throw .locked(path: path, holder: "another gateway\(holder), which holds \(lockPath)")
    }
  }

  deinit { Glibc.close(descriptor) }

  /// Writes into the file who has the lock. Over what it says, so that a full disk does not matter.
  func sign() throws(StoreError) {
    let text = Array("\(getpid())\n".utf8)
    guard pwrite(descriptor, text, text.count, 0) == text.count, ftruncate(descriptor, off_t(text.count)) == 0 else {
      throw Self.failure(lockPath)
    }
  }

  private static func failure(_ path: String) -> StoreError { .engine("\(path): \(String(cString: strerror(errno)))") }

  private static func holder(_ descriptor: Int32) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { buffer in
      let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      let digits = buffer.prefix(max(0, count)).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
    }
  }
}
