import Gateway
import JSON
import Primitives
import Push

/// Reads a recording line by line, and says of what is wrong in which line it stands.
struct RecordingReader: ~Copyable {
  private var lines: LineReader
  private let path: String
  private var next: ArraySlice<UInt8>?
  private var hasBegun = false
  /// The number of the line that was read last, from 1.
  private(set) var number = 0
  /// Whether the last line had no end: whoever wrote it was killed, or its disk was full.
  private(set) var isCutOff = false

  /// A reader of the file at `path`; `-` is standard input.
  init(_ path: String) throws {
    var lines = try LineReader(path)
    next = try lines.next()
    self.lines = lines
    self.path = path
  }

  /// The next line, with empty ones passed over; nil after the last.
  mutating func read() throws -> RecordingLine? {
    while let bytes = next {
      next = try lines.next()
      number += 1
      guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { continue }
      let value: JSONValue
      do throws(JSONError) {
        value = try JSONValue.parse(Array(bytes))
      } catch {
        // The last line of a recorder that was killed ends anywhere.
        if next == nil, hasBegun {
          isCutOff = true
          return nil
        }
        throw CommandError(hasBegun ? "line \(number) of \(path): \(error)" : strange("\(error)"))
      }
      return try line(value)
    }
    guard hasBegun else { throw CommandError("\(path) is empty, and no recording") }
    return nil
  }

  private mutating func line(_ value: JSONValue) throws(CommandError) -> RecordingLine {
    let line: RecordingLine
    do throws(FieldError) {
      line = try RecordingLine(value)
    } catch {
      throw CommandError(hasBegun ? "line \(number) of \(path): \(error)" : strange("\(error)"))
    }
    if case .beginning(let beginning) = line.content {
      guard beginning.version == RecordingLine.version else {
        throw CommandError(
          "line \(number) of \(path): the recording has version \(beginning.version), and this widgetpush reads version \(RecordingLine.version); use the one that recorded it\(beginning.gateway.isEmpty ? "" : ", \(beginning.gateway)")"
        )
      }
      hasBegun = true
    }
    guard hasBegun else { throw CommandError(strange("it begins with no line that has \"recording\"")) }
    return line
  }

  private func strange(_ problem: String) -> String { "\(path) is no recording of `widgetpush record`; line \(number): \(problem)" }
}
