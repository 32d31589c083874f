import Glibc

/// A lock file, so that two processes that start at once do not make the same keys twice.
enum FileLock {
  /// Waits for the lock at `path`, which is made when missing, and runs `body` while this process holds it.
  static func holding<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError("lock", path) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw FileError("lock", path) }
    }
    return try body()
  }
}
