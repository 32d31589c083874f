import Glibc

/// Standard output and standard error, written at once: nothing waits in a buffer when a reader wants the line.
enum Console {
  /// A line on standard output.
  static func print(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// A line on standard error.
  static func complain(_ text: String) { write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    // A reader that went away is no reason to stop: the status still tells what happened.
    _ = Files.writeAll(Array((text + "\n").utf8), to: descriptor)
  }
}
