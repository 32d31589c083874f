import Dispatch
import Primitives
import Synchronization
import Telemetry
import Testing

/// What a log wrote.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func append(_ line: String) { lines.withLock { $0.append(line) } }
}

@Suite("Log") struct LogTests {
  private static let time = "1970-01-01T00:00:01.000Z"

  private func lines(_ format: LogFormat, level: LogLevel = .info, _ write: (Log) -> Void) -> [String] {
    let lines = Lines()
    let log = Log(format: format, level: level, clock: { Instant(unixSeconds: 1) }, sink: { lines.append($0) })
    write(log)
    log.flush()
    return lines.all
  }

  @Test func text() {
    let lines = lines(.text) { log in
      log.write(.warning, "refused a push", [LogField("reason", "BadTopic"), LogField("remedy", "use a suffix"), LogField("n", 3)])
    }
    #expect(lines == ["\(Self.time) warning refused a push reason=BadTopic remedy=\"use a suffix\" n=3\n"])
  }

  @Test func json() {
    let lines = lines(.json) { log in log.write(.error, "say \"no\"", [LogField("path", "C:\\x\n")]) }
    #expect(
      lines == ["{\"time\":\"\(Self.time)\",\"level\":\"error\",\"message\":\"say \\\"no\\\"\",\"path\":\"C:\\\\x\\n\"}\n"])
  }

  @Test(arguments: LogLevel.allCases, LogLevel.allCases) func linesBelowTheLevelAreNotEvenRendered(level: LogLevel, of line: LogLevel) {
    var rendered = false
    func message() -> String {
      rendered = true
      return "m"
    }
    let lines = lines(.text, level: level) { log in log.write(line, message()) }
    #expect(lines.isEmpty == (line < level))
    #expect(rendered == (line >= level))
  }

  /// A peer's text cannot begin a line of its own, nor drive a terminal.
  @Test(arguments: [LogFormat.text, .json]) func controlCharactersAreEscaped(format: LogFormat) throws {
    let hostile = "a\nb\r\u{1b}[2J\u{7f}\u{85}\u{2028}"
    let line = try #require(lines(format) { log in log.write(.info, hostile, [LogField("v", hostile)]) }.first)
    #expect(line.hasSuffix("\n"))
    #expect(!line.dropLast().unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x2028 })
    #expect(line.contains("a\\nb\\r\\u001b[2J\\u007f\\u0085\\u2028"))
  }

  @Test func longTextIsCut() throws {
    let line = try #require(lines(.text) { log in log.write(.info, String(repeating: "x", count: 100_000)) }.first)
    #expect(line.utf8.count < 3000)
    #expect(line.contains("x…"))
  }

  /// A sink that does not move: what waits stays bounded, and once it moves a line tells how many were dropped.
  @Test func aStuckReaderCostsBoundedMemory() throws {
    let lines = Lines()
    let gate = DispatchSemaphore(value: 0)
    let open = Mutex(false)
    let log = Log(
      format: .text, clock: { Instant(unixSeconds: 1) },
      sink: { line in
        if !open.withLock({ $0 }) {
          gate.wait()
          open.withLock { $0 = true }
        }
        lines.append(line)
      })
    let message = String(repeating: "y", count: 1000)
    for _ in 0..<5000 { log.write(.info, message) }
    gate.signal()
    log.flush()
    let kept = lines.all.count
    #expect(kept > 500)
    #expect(lines.all.reduce(0) { $0 + $1.utf8.count } <= Log.pendingBytesMax)
    log.write(.info, "after")
    log.flush()
    let rest = Array(lines.all[kept...])
    #expect(rest.count == 2)
    #expect(try #require(rest.first).contains("lines=\(5000 - kept)"))
    #expect(try #require(rest.last).hasSuffix("after\n"))
  }
}
