import JSON
import Primitives
import Push
import Synchronization

extension Command {
  /// `widgetpush tail`.
  static let tail = Command(
    "tail", "shows pushes as things happen to them, until Ctrl-C",
    discussion: """
      Prints a line whenever a push is accepted, refused, delivered or given up: when, what became of it, its type, token and id, and why.
      It connects again after the gateway was away, and goes on where it was; a line tells when something was missed.
      """,
    options: [
      Option("--token", "TOKEN", "the push token, or its first digits (any)"), Option("--bundle-id", "ID", "the app (any)"),
      Option("--type", "TYPE", "the push type (any)"), Option("--disposition", "NAME", "what became of it, such as ignored (any)"),
      Option("--cause", "NAME", "why, of what became of it or of one of its steps, such as priorityLowered (any)"),
      Option("--reload", "ID", "the reload that it was made for (any)"),
      Option(switch: "--json", "print each push as JSON, one a line"), .stateFolder,
    ],
    examples: ["widgetpush tail", "widgetpush tail --disposition ignored --json | jq .remedy"]
  ) { arguments in
    let folder = StateFolder(arguments)
    var client = try ControlClient(folder)
    let criteria = try PushCriteria(arguments, client)
    try Interruption.endProcess()
    let log = FollowedLog(wantsJSON: arguments.wantsJSON)
    var delay = FollowedLog.delays.first
    while true {
      let before = log.count
      do throws(CommandError) {
        try client.follow("/v1/events" + criteria.query(), after: log.lastID) { log.take($0) }
        guard !log.isReaderGone else { return 0 }
      } catch {
        // What the gateway has against the call, it will have again; and where none ran, none is waited for.
        guard error.isPassing, log.hasBegun else { throw error }
        log.tellAway()
      }
      delay = log.count > before ? FollowedLog.delays.first : min(delay * 2, FollowedLog.delays.longest)
      Machine.sleep(delay)
      // It may be another by now, with other ports.
      client = (try? ControlClient(folder)) ?? client
    }
  }
}

/// What `tail` has been told so far, and prints.
final class FollowedLog: Sendable {
  /// Between two attempts to connect again.
  static let delays = (first: TimeSpan.milliseconds(250), longest: TimeSpan.seconds(5))
  /// Events of which is remembered that they were printed: those of one instant may come again.
  private static let rememberedIDs = 1024

  private struct State {
    var reader = EventStreamReader()
    var lastID: String?
    var printed: [String] = []
    var count = 0
    var hasBegun = false
    var isAway = false
    var isReaderGone = false
  }

  private let state = Mutex(State())
  private let wantsJSON: Bool
  private let isColored = Machine.showsColours

  init(wantsJSON: Bool) { self.wantsJSON = wantsJSON }

  /// The id of the last event; nil before the first.
  var lastID: String? { state.withLock { $0.lastID } }
  /// How often anything came.
  var count: Int { state.withLock { $0.count } }
  /// Whether a gateway has answered.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }
  /// Whether nobody reads standard output any more.
  var isReaderGone: Bool { state.withLock { $0.isReaderGone } }

  /// Takes bytes of the stream; false once nobody reads what is printed.
  func take(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      state.count += 1
      if state.isAway { Console.complain("widgetpush tail: the gateway is back") }
      (state.hasBegun, state.isAway) = (true, false)
      for event in state.reader.read(bytes) {
        guard let value = try? JSONValue.parse(event.data) else { continue }
        if event.type == "lost" {
          Console.complain("widgetpush tail: at least \(value["lost"]?.intValue ?? 0) more happened here, faster than they could be told")
        }
        guard event.type == "push", let id = event.id, !state.printed.contains(id) else { continue }
        state.lastID = id
        state.printed.append(id)
        if state.printed.count > Self.rememberedIDs { state.printed.removeFirst(Self.rememberedIDs / 2) }
        let isPrinted =
          wantsJSON
          ? Console.print(value.serialized()) : Console.printColored(EventLine.text(of: value.printable, isColored: isColored))
        if !isPrinted { state.isReaderGone = true }
      }
      return !state.isReaderGone
    }
  }

  /// Tells, once, that the gateway is gone, and forgets what it had told in part.
  func tellAway() {
    state.withLock { state in
      state.reader = EventStreamReader()
      if !state.isAway { Console.complain("widgetpush tail: the gateway is away; trying again") }
      state.isAway = true
    }
  }
}
