import Glibc
import Push
import SafeFiles

/// A file that cannot be read, written or made.
struct FileError: Error, Hashable, CustomStringConvertible {
  /// What was tried, such as `read`.
  let action: String
  let path: String
  /// The system's clause, such as `No such file or directory`.
  let reason: String
  /// Whether there is nothing at the path.
  let isMissing: Bool

  /// The failure that the last system call left in `errno`.
  init(_ action: String, _ path: String, code: Int32 = errno) {
    self.action = action
    self.path = path
    reason = unsafe String(cString: strerror(code))
    isMissing = code == ENOENT
  }

  /// What stood in the way of opening or making it.
  init(_ action: String, _ path: String, _ refusal: FileRefusal) {
    self.action = action
    self.path = path
    reason = "\(refusal)"
    isMissing = refusal.code == ENOENT
  }

  var description: String { "cannot \(action) \(path): \(reason)" }
}

/// The few file operations that commands need.
enum Files {
  /// The text of a file, with invalid UTF-8 repaired.
  static func read(_ path: String) throws(FileError) -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// The bytes of a file; `-` is standard input.
  static func bytes(_ path: String) throws(FileError) -> [UInt8] {
    if path == "-" { return try readAll(STDIN_FILENO, "standard input") }
    let descriptor = try opened("read", path) { () throws(FileRefusal) in try SafeFile.openToRead(path) }
    defer { close(descriptor) }
    return try readAll(descriptor, path)
  }

  /// All of standard input as text.
  static func readStandardInput() throws(FileError) -> String {
    String(decoding: try readAll(STDIN_FILENO, "standard input"), as: UTF8.self)
  }

  /// Puts a file in place, whole or not at all; `mode` are its permissions.
  static func write(_ text: String, to path: String, mode: mode_t) throws(FileError) {
    let temporary = "\(path).\(getpid())"
    let descriptor = try opened("write", path) { () throws(FileRefusal) in try SafeFile.createTemporary(temporary, mode: mode) }
    let isWritten = writeAll(Array(text.utf8), to: descriptor) && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten, unsafe Glibc.rename(temporary, path) == 0 else {
      let code = isWritten ? errno : code
      unsafe unlink(temporary)
      throw FileError("write", path, code: code)
    }
  }

  /// Waits until a file is on disk.
  static func sync(_ path: String) throws(FileError) {
    let descriptor = try opened("read", path) { () throws(FileRefusal) in try SafeFile.openToRead(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileError("write", path) }
  }

  /// Gives a file another name; one that has that name already goes.
  static func rename(_ path: String, to other: String) throws(FileError) {
    guard unsafe Glibc.rename(path, other) == 0 else { throw FileError("write", other) }
  }

  /// Makes a folder of ours and those around it; one that is there stays as it is, and must be one that nobody else can write to.
  ///
  /// - Parameter mayBeLink: Whether a symbolic link to a folder will do, since somebody has named it on purpose.
  static func makeFolder(_ path: String, mayBeLink: Bool = true) throws(FileError) {
    do throws(FileRefusal) { try SafeFolder.make(path, mayBeLink: mayBeLink) } catch { throw FileError("use", path, error) }
  }

  /// What `body` opens or makes at the path.
  static func opened(_ action: String, _ path: String, _ body: () throws(FileRefusal) -> Int32) throws(FileError) -> Int32 {
    do throws(FileRefusal) { return try body() } catch { throw FileError(action, path, error) }
  }

  /// What tells one content of a file from the next: a file that is put in place by `write` has another of these.
  struct Stamp: Hashable {
    private let inode: UInt64
    private let seconds: Int
    private let nanoseconds: Int
    private let bytes: Int

    fileprivate init(_ status: stat) {
      inode = UInt64(status.st_ino)
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
      bytes = Int(status.st_size)
    }
  }

  /// The stamp of what is at the path; nil when nothing is.
  static func stamp(_ path: String) -> Stamp? { status(path).map { Stamp($0) } }

  /// The permissions of a file such as 0o600; nil when there is none.
  static func mode(_ path: String) -> mode_t? { status(path).map { $0.st_mode & 0o777 } }

  /// Takes all permissions of others from a file; nothing where there is none.
  static func makePrivate(_ path: String) throws(FileError) {
    do throws(FileRefusal) { try SafeFile.makePrivate(path) } catch { throw FileError("change the permissions of", path, error) }
  }

  /// Removes a file.
  static func remove(_ path: String) throws(FileError) {
    guard unsafe unlink(path) == 0 else { throw FileError("remove", path) }
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  /// Whether there is something at the path.
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The names in a folder, sorted.
  static func names(in folder: String) throws(FileError) -> [String] {
    guard let stream = unsafe opendir(folder) else { throw FileError("read", folder) }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The path from the root.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(current) }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    return unsafe String(cString: current) + "/" + rest
  }

  private static func readAll(_ descriptor: Int32, _ path: String) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw FileError("read", path)
      }
      bytes += chunk[..<count]
      guard bytes.count <= Limits.fileBytes else { throw FileError("read", path, code: EFBIG) }
    }
  }

  /// Writes all bytes; false leaves the reason in `errno`.
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(descriptor, buffer.baseAddress! + written, buffer.count - written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }
}
