import Dispatch
import Glibc
public import Primitives
import Synchronization

/// Log lines on their way to a sink that may be slow.
///
/// A line is handed to a queue of its own and the caller goes on: an event loop never waits for a terminal or a full
/// pipe. What waits is bounded in bytes; beyond that lines are dropped, and counted by a later line once there is room.
public final class Log: Sendable {
  /// Bytes of lines that may wait for the sink.
  public static let pendingBytesMax = 1 << 20

  private let format: LogFormat
  private let level: LogLevel
  private let clock: @Sendable () -> Instant
  private let sink: @Sendable (String) -> Void
  private let queue = DispatchQueue(label: "widgetpush.log")
  private let backlog = Mutex(Backlog())

  private struct Backlog {
    var bytes = 0
    var dropped = 0
  }

  /// A log of lines at `level` and above; `sink` is called on one thread at a time and may block.
  public init(
    format: LogFormat, level: LogLevel = .info, clock: @escaping @Sendable () -> Instant,
    sink: @escaping @Sendable (String) -> Void = Log.standardError
  ) {
    self.format = format
    self.level = level
    self.clock = clock
    self.sink = sink
  }

  /// Writes a line, or drops it when too much waits already.
  public func write(_ level: LogLevel, _ message: @autoclosure () -> String, _ fields: @autoclosure () -> [LogField] = []) {
    guard level >= self.level else { return }
    let time = clock().description
    let line = LogLine.render(format, at: time, level, message(), fields())
    let bytes = line.utf8.count
    let dropped = backlog.withLock { backlog -> Int? in
      guard backlog.bytes + bytes <= Self.pendingBytesMax else {
        backlog.dropped += 1
        return nil
      }
      backlog.bytes += bytes
      defer { backlog.dropped = 0 }
      return backlog.dropped
    }
    guard let dropped else { return }
    queue.async { [self] in
      if dropped > 0 {
        let fields = [LogField("lines", dropped)]
        sink(LogLine.render(format, at: time, .warning, "log lines were dropped because their reader is too slow", fields))
      }
      sink(line)
      backlog.withLock { $0.bytes -= bytes }
    }
  }

  /// Returns when every line accepted so far has reached the sink.
  public func flush() { queue.sync {} }

  /// Writes all of `text` to standard error; gives up on it when the descriptor is closed.
  public static func standardError(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress! + written, bytes.count - written)
        if count < 0 && errno != EINTR { return }
        written += max(0, count)
      }
    }
  }
}
