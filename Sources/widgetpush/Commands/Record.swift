import Glibc
import HTTPClient
import JSON
import Primitives
import Push
import Reactor
import Synchronization

extension Command {
  /// `widgetpush record`.
  static let record = Command(
    "record", "writes the pushes that come to a file, to be played again",
    discussion: """
      Writes each push that backends send to the gateway, with its payload, the registration of its token and what became of it, until
      Ctrl-C, one JSON object a line; `widgetpush replay` sends them again. Provider tokens and certificates are not recorded. The file
      has push tokens and payloads in it: only its owner may read it. A line tells where something is missing: when pushes came faster
      than they could be written, or the gateway was away.
      """,
    options: [
      Option("--out", "FILE", "where to write (standard output)"), Option("--bundle-id", "ID", "of this app only (all)"),
      Option("--count", "N", "end after so many pushes, once it is known what became of them, or 5 s later"),
      Option("--for", "TIME", "end after so long, such as 10m or 24h"), .json, .stateFolder,
    ],
    examples: ["widgetpush record --out day.ndjson --for 24h", "widgetpush record --bundle-id com.example.app | gzip > app.gz"]
  ) { arguments in
    let folder = StateFolder(arguments)
    var client = try ControlClient(folder)
    let count = try arguments.integer("--count", in: 1...Int64.max)
    let span = try arguments.span("--for")
    let path = arguments.value("--out").flatMap { $0 == "-" ? nil : $0 }
    let file = try RecordingFile(path, limit: count)
    let recorder = Recorder(file, folder, wantsJSON: arguments.wantsJSON)
    try Interruption.endProcess { _exit(recorder.end()) }
    if let span { try recorder.end(after: span) }
    let query = arguments.value("--bundle-id").map { "?bundleID=\(BlockingHTTPClient.percentEncoded($0))" } ?? ""
    var delay = FollowedLog.delays.first
    while true {
      let parts = file.summary.parts
      do throws(CommandError) {
        try client.follow("/v1/recording" + query) { recorder.take($0) }
        if recorder.isDone { return recorder.end() }
      } catch {
        guard error.isPassing, file.summary.parts > 0 else { throw error }
        recorder.tellAway()
      }
      file.forgetPart()
      delay = file.summary.parts > parts ? FollowedLog.delays.first : min(delay * 2, FollowedLog.delays.longest)
      Machine.sleep(delay)
      // It may be another by now, with other ports.
      client = (try? ControlClient(folder)) ?? client
    }
  }
}

/// A recording that goes on until it is ended: by Ctrl-C, by its time, or by its number of pushes.
final class Recorder: Sendable {
  private let file: RecordingFile
  private let folder: StateFolder
  private let wantsJSON: Bool
  private let isAway = Atomic<Bool>(false)
  private let isEnding = Atomic<Bool>(false)
  private let status = Mutex<Int32?>(nil)

  init(_ file: RecordingFile, _ folder: StateFolder, wantsJSON: Bool) {
    self.file = file
    self.folder = folder
    self.wantsJSON = wantsJSON
  }

  /// Whether nothing more is wanted.
  var isDone: Bool { file.isFull || file.error != nil }

  /// Takes bytes of the stream; false once no more are wanted.
  func take(_ bytes: [UInt8]) -> Bool {
    if isAway.exchange(false, ordering: .relaxed) { Console.complain("widgetpush record: the gateway is back") }
    let goesOn = file.take(bytes)
    if goesOn, file.isFull, !isEnding.exchange(true, ordering: .relaxed) {
      // What becomes of the last ones may take longer than anybody wants to wait.
      try? end(after: .seconds(Limits.recordedOutcomeSeconds))
    }
    return goesOn
  }

  /// Tells, once, that the gateway is gone.
  func tellAway() {
    guard !isAway.exchange(true, ordering: .relaxed) else { return }
    Console.complain("widgetpush record: the gateway is away; trying again")
  }

  /// Ends the process when the time is up, with the file as it is by then.
  func end(after span: TimeSpan) throws {
    try Thread.start(name: "end") { [self] in
      Machine.sleep(span)
      _exit(end())
    }
  }

  /// Closes the file in good order and says what is in it, once; returns the status.
  func end() -> Int32 {
    status.withLock { status in
      let result = status ?? finish()
      status = result
      return result
    }
  }

  private func finish() -> Int32 {
    // Another connection: the stream has the other one for itself.
    let clock = try? ControlClient(folder).get("/v1/clock", timeout: .seconds(2))
    file.finish(at: clock?["now"]?.stringValue.flatMap { Instant(rfc3339: $0) })
    if let error = file.error {
      Console.complain("widgetpush record: \(error)")
      return 1
    }
    // Standard output may be the recording.
    Console.complain(wantsJSON ? file.summary.json.serialized() : file.summary.text)
    return 0
  }
}
