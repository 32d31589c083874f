import JSON
import Primitives
import Push

/// Lines on their way to the control API, gathered so that each call carries many.
struct RegistrationImport {
  private let client: ControlClient
  private var lines: [UInt8] = []
  private var count = 0
  /// The number of the first gathered line, from 1.
  private var first = 1
  private var progress = Progress("registrations")
  private(set) var created: Int64 = 0
  private(set) var replaced: Int64 = 0
  private(set) var refused: Int64 = 0

  /// An import through this client.
  init(client: ControlClient) { self.client = client }

  /// Takes a line; sends what was gathered before when it would be too much.
  mutating func add(_ line: ArraySlice<UInt8>) throws(CommandError) {
    if count == Limits.importRows || !lines.isEmpty && lines.count + line.count + 1 > Limits.importBytes { try send() }
    lines += line
    lines.append(UInt8(ascii: "\n"))
    count += 1
  }

  /// Sends the rest.
  mutating func finish() throws(CommandError) {
    if count > 0 { try send() }
    progress.end()
  }

  private mutating func send() throws(CommandError) {
    let answer = try client.post("/v1/registrations", lines, type: "application/x-ndjson")
    for line in answer.split(separator: "\n") {
      guard let value = try? JSONValue.parse(String(line)) else { continue }
      if let number = value["line"]?.intValue {
        progress.end()
        Console.complain("line \(number + Int64(first) - 1): \((value["error"]?["message"]?.stringValue ?? "refused").escapingSteering())")
      } else {
        created += value["created"]?.intValue ?? 0
        replaced += value["replaced"]?.intValue ?? 0
        refused += value["refused"]?.intValue ?? 0
      }
    }
    first += count
    count = 0
    lines.removeAll(keepingCapacity: true)
    progress.show(first - 1)
  }
}

/// Registrations on their way from the control API to a file.
struct RegistrationExport {
  let client: ControlClient
  /// Parameters of the list, each with its `&`.
  let criteria: String

  /// What an import does not take: what became of a registration.
  private static let states: Set<String> = ["registered", "retiredSince", "suspect", "waiting", "inFlight"]

  /// Writes all that match to a file, or to standard output; how many there were.
  func write(to path: String?) throws -> Int {
    let output = try OutputFile(path)
    var progress = Progress("registrations")
    var count = 0
    var after = ""
    repeat {
      let page = try client.get("/v1/registrations?limit=\(Limits.pageRows)\(criteria)\(after)")
      let rows = page["registrations"]?.arrayValue ?? []
      try output.write(rows.map { Self.line(of: $0) + "\n" }.joined())
      count += rows.count
      progress.show(count)
      after = page["next"]?.stringValue.map { "&after=\($0)" } ?? ""
    } while !after.isEmpty
    progress.end()
    try output.finish()
    return count
  }

  private static func line(of row: JSONValue) -> String {
    var object: JSONObject = [:]
    for key in row.objectValue?.keys ?? [] where !states.contains(key) { object[key] = row[key] }
    return JSONValue.object(object).serialized()
  }
}
