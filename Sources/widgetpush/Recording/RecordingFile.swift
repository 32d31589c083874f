import Gateway
import Glibc
import JSON
import Primitives
import Push
import SafeFiles
import Synchronization

/// Where a recording goes, line by line, each written at once: whatever becomes of the process, what was recorded is there.
///
/// Safe to use from any thread: the stream is taken in on one, and a signal or the end of the time comes on another.
final class RecordingFile: Sendable {
  /// What was written so far.
  struct Summary: Hashable, Sendable {
    /// Pushes.
    var pushes: Int64 = 0
    /// Registrations, each as often as it was told.
    var registrations: Int64 = 0
    /// Parts: one, and one more for each time that the gateway was away.
    var parts: Int64 = 0
    /// What could not be told.
    var lost = RecordingLine.Lost()
  }

  private struct State {
    var unread: [UInt8] = []
    var summary = Summary()
    /// Pushes of which the end is not known.
    var open: Set<PushID> = []
    var lastTime: Instant?
    var isOver = false
    var error: FileError?
  }

  private let path: String?
  private let descriptor: Int32
  private let limit: Int64?
  private let state = Mutex(State())

  /// A new file at `path`, which may be an empty one that is there already; nil is standard output.
  ///
  /// - Parameter limit: The most pushes to record.
  init(_ path: String?, limit: Int64? = nil) throws {
    self.path = path
    self.limit = limit
    guard let path else {
      descriptor = dup(STDOUT_FILENO)
      guard descriptor >= 0 else { throw FileError("write", "standard output") }
      return
    }
    // It has push tokens and payloads in it.
    descriptor = try Files.opened("write", path) { () throws(FileRefusal) in try SafeFile.openOwn(path, O_WRONLY | O_APPEND) }
    guard lseek(descriptor, 0, SEEK_END) == 0 else { throw CommandError("\(path) is there already and not empty; name another file") }
  }

  deinit { close(descriptor) }

  /// What was written.
  var summary: Summary { state.withLock { $0.summary } }
  /// When something was last told, by the product's clock.
  var lastTime: Instant? { state.withLock { $0.lastTime } }
  /// Why nothing more could be written; nil where it could.
  var error: FileError? { state.withLock { $0.error } }
  /// Whether as many pushes are there as are wanted.
  var isFull: Bool { state.withLock { isFull($0) } }

  /// Takes bytes of the stream; false once no more are wanted.
  func take(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      state.unread += bytes
      var start = 0
      while !state.isOver, let end = state.unread[start...].firstIndex(of: UInt8(ascii: "\n")) {
        take(line: Array(state.unread[start..<end]), &state)
        start = end + 1
      }
      state.unread.removeFirst(start)
      return !state.isOver && !(isFull(state) && state.open.isEmpty)
    }
  }

  /// The gateway is gone; what it had told in part is forgotten.
  func forgetPart() { state.withLock { $0.unread.removeAll() } }

  /// Says in the file that it ends here, in good order, and that nothing happened until `time`; nothing more is taken.
  func finish(at time: Instant?) {
    state.withLock { state in
      guard !state.isOver, let last = state.lastTime else { return }
      let end = RecordingLine(at: max(last, time ?? last), .end(pushes: state.summary.pushes))
      write(Array(end.text.utf8), &state)
      state.isOver = true
      _ = fsync(descriptor)
    }
  }

  private func isFull(_ state: borrowing State) -> Bool { limit.map { state.summary.pushes >= $0 } ?? false }

  private func take(line: [UInt8], _ state: inout State) {
    guard let value = try? JSONValue.parse(line), let parsed = try? RecordingLine(value) else { return }
    switch parsed.content {
    case .push(let push):
      guard !isFull(state) else { return }
      state.summary.pushes += 1
      state.open.insert(push.id)
    case .outcome(let id, let outcome):
      // What becomes of pushes that came before, or that are too many, is of no use.
      guard state.open.contains(id) else { return }
      if Disposition(name: outcome.disposition)?.isFinal ?? true { state.open.remove(id) }
    case .registration: state.summary.registrations += 1
    case .beginning: state.summary.parts += 1
    case .lost(let lost):
      state.summary.lost.pushes += lost.pushes
      state.summary.lost.changes += lost.changes
      state.summary.lost.outcomes += lost.outcomes
    case .app, .unregistered, .end, .nothing: break
    }
    state.lastTime = max(parsed.at, state.lastTime ?? parsed.at)
    write(line, &state)
  }

  private func write(_ line: [UInt8], _ state: inout State) {
    // It may be a terminal that standard output is.
    let line = path == nil ? Array(Console.safe(String(decoding: line, as: UTF8.self)).utf8) : line
    guard !Files.writeAll(line + [UInt8(ascii: "\n")], to: descriptor) else { return }
    state.error = FileError("write", path ?? "standard output")
    state.isOver = true
  }
}

extension RecordingFile.Summary {
  /// For people.
  var text: String {
    var text = "\(pushes) \(pushes == 1 ? "push" : "pushes") recorded"
    if parts > 1 { text += "; it was interrupted \(parts == 2 ? "once" : "\(parts - 1) times"), and what came meanwhile is missing" }
    if lost != RecordingLine.Lost() {
      text += "; at least \(lost.pushes) more came faster than they could be told, and \(lost.changes + lost.outcomes) other things"
    }
    return text
  }

  /// For scripts.
  var json: JSONValue {
    [
      "pushes": .integer(pushes), "registrations": .integer(registrations), "parts": .integer(parts),
      "lost": ["pushes": .integer(lost.pushes), "changes": .integer(lost.changes), "outcomes": .integer(lost.outcomes)],
    ]
  }
}
