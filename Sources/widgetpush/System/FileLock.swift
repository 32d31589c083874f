import Glibc
import SafeFiles

/// A lock file, so that two processes that start at once do not make the same keys twice.
enum FileLock {
  /// Waits for the lock at `path`, which is made when missing, and runs `body` while this process holds it.
  static func holding<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    let descriptor = try Files.opened("lock", path) { () throws(FileRefusal) in try SafeFile.openOwn(path, O_RDWR) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw FileError("lock", path) }
    }
    return try body()
  }
}
