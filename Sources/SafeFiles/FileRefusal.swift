import Glibc

/// Why a file is not opened, made or used.
public struct FileRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system's number, such as `ENOENT`; 0 where the system would have gone along.
  public let code: Int32
  /// A clause that says what is wrong, and what would be right where that is not plain.
  public let description: String

  /// A refusal of our own.
  init(_ description: String) {
    code = 0
    self.description = description
  }

  /// What the last system call left in `errno`.
  static func system(_ code: Int32 = errno) -> FileRefusal { FileRefusal(code: code) }

  private init(code: Int32) {
    self.code = code
    description = unsafe String(cString: strerror(code))
  }
}
