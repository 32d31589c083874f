import Control
import JSON
import Primitives
import Push

/// `clock.json` beside a store: how the product's time follows from the machine's, since the instants in the store are the product's.
struct ClockFile {
  private let path: String

  /// That of the store in `folder`.
  init(folder: String) { path = "\(folder)/clock.json" }

  /// What was kept; the machine's own time where nothing ever was.
  func load() throws(CommandError) -> VirtualTime {
    guard Files.exists(path) else { return VirtualTime() }
    guard let text = try? Files.read(path), let json = try? JSONValue.parse(text) else { throw damaged }
    if let frozenAt = json["frozenAtNanoseconds"]?.intValue { return VirtualTime(frozenAt: Instant(nanoseconds: frozenAt)) }
    guard let lead = json["leadNanoseconds"]?.intValue else { throw damaged }
    return VirtualTime(lead: TimeSpan(nanoseconds: lead))
  }

  /// Keeps it; returns when it is on disk.
  func save(_ time: VirtualTime) throws(FileError) {
    let json: JSONValue =
      time.frozenAt.map { ["frozenAtNanoseconds": .integer($0.nanoseconds)] } ?? ["leadNanoseconds": .integer(time.lead.nanoseconds)]
    try Files.write(json.serialized() + "\n", to: path, mode: 0o600)
  }

  private var damaged: CommandError {
    CommandError("\(path) is damaged; it must say leadNanoseconds or frozenAtNanoseconds, and without it the clock is the machine's")
  }
}

extension ClockDriver {
  /// The clock of a gateway whose store is in `folder`, as it was left; nil keeps nothing.
  ///
  /// - Parameter complain: Told when the clock was moved before: that it goes on that way, or may not any more.
  static func opened(_ settings: ClockSettings, folder: String?, complain: (String) -> Void) throws(CommandError) -> ClockDriver {
    let file = folder.map { ClockFile(folder: $0) }
    let kept = try file?.load() ?? VirtualTime()
    guard settings.permitted else {
      if !kept.isReal {
        complain(
          "the clock was moved when the store was last used, and clock.permitted is false now: it shows the machine's time, and budgets give no credit until that has come as far"
        )
      }
      return ClockDriver(real: { Machine.now }, steady: { Machine.steady })
    }
    if !kept.isReal { complain(goesOn(kept)) }
    return ClockDriver(VirtualClock(real: { Machine.now }, steady: { Machine.steady }, kept), settings) { try file?.save($0) }
  }

  private static func goesOn(_ time: VirtualTime) -> String {
    let state = time.frozenAt == nil ? "goes on" : "stands still"
    let now = time.now(at: Machine.now).roundedUp(to: .seconds(1))
    return "the clock was moved when the store was last used, and \(state) at \(now); widgetpush clock tells and moves it"
  }
}
