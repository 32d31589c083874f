import Dispatch
import Push
import Synchronization

/// Prints lines for event loops, which must not wait for a terminal: they queue up to a bound, and beyond it only their number is told.
final class LinePrinter: Sendable {
  private struct Backlog {
    var pending = 0
    var dropped = 0
  }

  private let queue = DispatchQueue(label: "widgetpush.lines")
  private let backlog = Mutex(Backlog())
  private let sink: @Sendable (String) -> Void

  /// A printer whose lines go to `sink`, one at a time.
  init(sink: @escaping @Sendable (String) -> Void) { self.sink = sink }

  /// Prints a line, perhaps of several rows, or counts it when too many wait.
  func print(_ line: String) {
    let isTaken = backlog.withLock { backlog in
      guard backlog.pending < Limits.eventLines else {
        backlog.dropped += 1
        return false
      }
      backlog.pending += 1
      return true
    }
    guard isTaken else { return }
    queue.async { [self] in
      sink(line)
      let dropped = backlog.withLock { backlog -> Int in
        backlog.pending -= 1
        defer { if backlog.pending == 0 { backlog.dropped = 0 } }
        return backlog.pending == 0 ? backlog.dropped : 0
      }
      if dropped > 0 { sink("… and \(dropped) more, which came faster than they could be printed") }
    }
  }

  /// Returns when every line has been printed.
  func flush() { queue.sync {} }
}
