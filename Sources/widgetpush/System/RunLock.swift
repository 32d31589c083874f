import Glibc
import SafeFiles

/// Keeps a second server off a state folder: an advisory lock on a file in it, which goes with the process, however that ends.
final class RunLock {
  private let descriptor: Int32

  /// Takes the lock at `path`, and writes into the file which process has it.
  ///
  /// - Parameter holder: Told the process that has it already, where it does; makes the error that is thrown then.
  init(_ path: String, otherwise holder: (String) -> CommandError) throws {
    descriptor = try Files.opened("lock", path) { () throws(FileRefusal) in try SafeFile.openOwn(path, O_RDWR) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let text = (try? Files.read(path)) ?? ""
      close(descriptor)
      throw holder(String(text.prefix { $0.isASCII && $0.isNumber }))
    }
    ftruncate(descriptor, 0)
    _ = Files.writeAll(Array("\(getpid())\n".utf8), to: descriptor)
  }

  deinit { close(descriptor) }
}
