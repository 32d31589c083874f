import Glibc
import Primitives

/// Standard output and standard error, written at once: nothing waits in a buffer when a reader wants the line.
///
/// Whatever is in a text, it steers no terminal: only its line feeds and tabs are written as they are. That no name begins a line is up to
/// who puts it into the text; see `JSONValue.printable`.
enum Console {
  /// A line on standard output; false when its reader has gone, which for most is no reason to stop: the status still tells what happened.
  @discardableResult static func print(_ text: String) -> Bool { write(safe(text), to: STDOUT_FILENO) }

  /// A line with colours of our own on standard output, of which all else has been made printable.
  @discardableResult static func printColored(_ text: String) -> Bool { write(text, to: STDOUT_FILENO) }

  /// A line on standard error.
  @discardableResult static func complain(_ text: String) -> Bool { write(safe(text), to: STDERR_FILENO) }

  /// The text as it may be written to a terminal; JSON stays the JSON that it was.
  static func safe(_ text: String) -> String { text.escapingSteering(except: "\n\t".unicodeScalars) }

  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    Files.writeAll(Array((text + "\n").utf8), to: descriptor)
  }
}
