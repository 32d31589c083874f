/// Server-sent events out of the bytes of a stream, however these are cut (WHATWG HTML section 9.2.6).
struct EventStreamReader {
  /// One event.
  struct Event: Hashable {
    var id: String?
    var type = "message"
    var data = ""
  }

  private var unread: [UInt8] = []
  private var event = Event()
  private var hasData = false

  /// Takes what has come, and returns the events that are whole by now.
  mutating func read(_ bytes: [UInt8]) -> [Event] {
    unread += bytes
    var events: [Event] = []
    var start = 0
    while let end = unread[start...].firstIndex(of: UInt8(ascii: "\n")) {
      var line = unread[start..<end]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      start = end + 1
      if let event = take(String(decoding: line, as: UTF8.self)) { events.append(event) }
    }
    unread.removeFirst(start)
    return events
  }

  /// Takes a line; an empty one ends the event.
  private mutating func take(_ line: String) -> Event? {
    guard !line.isEmpty else {
      defer { (event, hasData) = (Event(), false) }
      return hasData ? event : nil
    }
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
    switch parts[0] {
    case "id": event.id = value
    case "event": event.type = value
    case "data":
      event.data += (hasData ? "\n" : "") + value
      hasData = true
    default: break
    }
    return nil
  }
}
