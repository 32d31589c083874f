import Glibc
import SafeFiles

/// Where a command writes much: standard output, or a file that is in place only once it is whole.
final class OutputFile {
  private let path: String?
  private let temporary: String
  private let descriptor: Int32
  private var isFinished = false

  /// A file at `path`, or standard output where that is nil.
  init(_ path: String?) throws(FileError) {
    self.path = path
    let temporary = "\(path ?? "").\(getpid())"
    self.temporary = temporary
    guard let path else {
      descriptor = dup(STDOUT_FILENO)
      guard descriptor >= 0 else { throw FileError("write", "standard output") }
      return
    }
    descriptor = try Files.opened("write", path) { () throws(FileRefusal) in try SafeFile.createTemporary(temporary) }
  }

  deinit {
    close(descriptor)
    if path != nil, !isFinished { unsafe unlink(temporary) }
  }

  /// Appends text: lines of JSON.
  func write(_ text: String) throws(FileError) {
    let text = path == nil ? Console.safe(text) : text
    guard Files.writeAll(Array(text.utf8), to: descriptor) else { throw FileError("write", path ?? "standard output") }
  }

  /// Puts the file in place.
  func finish() throws(FileError) {
    guard let path else { return }
    guard fsync(descriptor) == 0, unsafe rename(temporary, path) == 0 else { throw FileError("write", path) }
    isFinished = true
  }
}
