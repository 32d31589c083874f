import Glibc

/// Keeps a second process off a store: an advisory lock (`flock`) on a file beside it, which goes with the process, however that ends.
final class FileLock {
  private let descriptor: Int32

  /// Takes the lock of the store at `path`, and writes into its file who has it.
  init(_ path: String) throws(StoreError) {
    let lockPath = path + ".lock"
    descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .engine("\(lockPath): \(String(cString: strerror(errno)))") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.holder(descriptor)
      Glibc.close(descriptor)
      throw .locked(path: path, holder: "another gateway\(holder), which holds \(lockPath)")
    }
    ftruncate(descriptor, 0)
    let text = "\(getpid())\n"
    _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
  }

  deinit { Glibc.close(descriptor) }

  private static func holder(_ descriptor: Int32) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { buffer in
      let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      let digits = buffer.prefix(max(0, count)).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
    }
  }
}
