import Gateway
import JSON
import Primitives
import Push

/// Moves the dates that a recorded push has in it to the time at which it is sent again.
///
/// Each keeps its distance to the push's arrival: what was to expire in ten minutes does so in ten minutes. The timestamps of one token's
/// updates keep their order, besides, since a device compares them: played fast, hours lie within a second.
struct SenderDates {
  /// What is moved in a payload's `aps`.
  private static let dates = ["timestamp", "stale-date", "dismissal-date"]
  /// From here on a number is no Unix time in seconds: a date in milliseconds, say, which is the mistake that it was.
  private static let secondsEnd: Int64 = 100_000_000_000

  /// The last timestamp of each token, as it was and as it was sent.
  private var timestamps: [String: (recorded: Int64, sent: Int64)] = [:]

  /// `push`, sent at `now` by the clock that the server takes for its sender's.
  mutating func moved(_ push: RecordedPush, to now: Instant) -> RecordedPush {
    let seconds = now.unixSeconds - push.sent.unixSeconds
    var push = push
    for index in push.fields.indices where push.fields[index].name == "apns-expiration" {
      // 0 is no date.
      if let date = Int64(push.fields[index].value), date > 0 { push.fields[index].value = String(date.saturatingAdd(seconds)) }
    }
    for (range, name, value) in Self.numbers(in: push.payload).reversed() where value > 0 && value < Self.secondsEnd {
      let moved = name == "timestamp" ? timestamp(value, of: push.path, by: seconds) : value + seconds
      push.payload.replaceSubrange(range, with: String(moved).utf8)
    }
    return push
  }

  private mutating func timestamp(_ recorded: Int64, of token: String, by seconds: Int64) -> Int64 {
    var sent = recorded + seconds
    if let last = timestamps[token] {
      if recorded > last.recorded { sent = max(sent, last.sent + 1) }
      if recorded == last.recorded { sent = last.sent }
      if recorded < last.recorded { return min(sent, last.sent - 1) }
    }
    timestamps[token] = (recorded, sent)
    return sent
  }

  /// The whole numbers of `aps` that are dates: where each stands, in order. None in a payload that is not JSON.
  private static func numbers(in payload: [UInt8]) -> [(range: Range<Int>, name: String, value: Int64)] {
    var found: [(Range<Int>, String, Int64)] = []
    var scanner = unsafe JSONScanner(payload.span.bytes, depthMax: JSONValue.depthMax, refusesDuplicates: false)
    do throws(JSONError) {
      guard try scanner.kind() == .object else { return [] }
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        guard scanner.matches(key, "aps"), try scanner.kind() == .object else {
          try scanner.skipValue()
          continue
        }
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
          let name = scanner.string(of: key)
          guard dates.contains(name), try scanner.kind() == .number else {
            try scanner.skipValue()
            continue
          }
          let number = try scanner.readNumber()
          guard let value = scanner.integer(of: number) else { continue }
          found.append((Int(number.range.offset)..<Int(number.range.offset) + Int(number.range.count), name, value))
        }
      }
      try scanner.finish()
      return found
    } catch {
      return []
    }
  }
}
