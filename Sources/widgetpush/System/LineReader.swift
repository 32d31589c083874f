import Glibc
import Primitives
import Push
import SafeFiles

/// Reads a file, or standard input, line by line, however long it is.
struct LineReader: ~Copyable {
  private let descriptor: Int32
  private let name: String
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// A reader of the file at `path`; `-` is standard input.
  init(_ path: String) throws(FileError) {
    (descriptor, name) = try Self.opened(path)
  }

  deinit { close(descriptor) }

  private static func opened(_ path: String) throws(FileError) -> (Int32, name: String) {
    guard path == "-" else { return (try Files.opened("read", path) { () throws(FileRefusal) in try SafeFile.openToRead(path) }, path) }
    let descriptor = dup(STDIN_FILENO)
    guard descriptor >= 0 else { throw FileError("read", "standard input") }
    return (descriptor, "standard input")
  }

  /// The next line without its end; nil after the last. Throws for a line longer than a file may be.
  mutating func next() throws(FileError) -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return buffer[start..<end]
      }
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return buffer[start...]
      }
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      try fill()
    }
  }

  private mutating func fill() throws(FileError) {
    guard buffer.count <= Limits.fileBytes else { throw FileError("read", name, code: EFBIG) }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError("read", name) }
      isAtEnd = count == 0
      buffer += chunk[..<count]
      return
    }
  }
}
