import Glibc

/// Standard output and standard error, written at once: nothing waits in a buffer when a reader wants the line.
enum Console {
  /// A line on standard output; false when its reader has gone, which for most is no reason to stop: the status still tells what happened.
  @discardableResult static func print(_ text: String) -> Bool { write(text, to: STDOUT_FILENO) }

  /// A line on standard error.
  @discardableResult static func complain(_ text: String) -> Bool { write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    Files.writeAll(Array((text + "\n").utf8), to: descriptor)
  }
}
