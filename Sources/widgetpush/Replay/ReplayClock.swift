import Control
import JSON
import Primitives
import Push

/// The product's clock of the server that a recording is played at: moved along with the recording where it may be, else left alone.
struct ReplayClock {
  private let control: ControlClient
  /// Whether it is moved.
  let moves: Bool
  private let wasFrozen: Bool
  private let isOfSenders: Bool
  /// How far it is ahead of the machine's, while it runs.
  private var lead: TimeSpan
  /// What it shows while it stands.
  private var shown: Instant
  /// Moves after which something was not done in time.
  private(set) var incomplete = 0

  /// The clock of `control`'s gateway, as it is.
  ///
  /// - Parameter mayMove: Whether it may be moved where the server permits it.
  init(_ control: ControlClient, mayMove: Bool) throws {
    self.control = control
    let report = try control.get("/v1/clock")
    moves = mayMove && report["permitted"]?.boolValue == true
    wasFrozen = report["frozen"]?.boolValue == true
    isOfSenders = report["providerTimes"]?.stringValue == "virtual"
    shown = try Self.instant(report, "now")
    lead = shown - (try Self.instant(report, "real"))
  }

  /// What it shows.
  var now: Instant { moves || wasFrozen ? shown : Machine.now + lead }

  /// What the server takes for the time of those who send to it.
  var senders: Instant { isOfSenders ? now : Machine.now }

  /// Whether the server takes this clock for that of those who send to it.
  var isSendersOwn: Bool { isOfSenders }

  /// Stops the clock at the first time that `ReplayTime.beginning` permits; the time at which the replay begins.
  mutating func begin(like start: Instant, atTimeOfDay: Bool) throws -> Instant {
    guard moves else { return now }
    shown = try Self.instant(try answer("PUT", "/v1/clock", ["frozen": true]), "now")
    let beginning = ReplayTime.beginning(from: shown, like: start, atTimeOfDay: atTimeOfDay)
    try move(to: beginning)
    return beginning
  }

  /// Moves the clock to `instant`, through all that becomes due, and has what was sent before come to its end; nothing where it is left
  /// alone.
  mutating func move(to instant: Instant) throws {
    guard moves else { return }
    shown = max(shown, instant)
    let answer = try answer("POST", "/v1/clock/advance", ["to": .string(shown.preciseDescription)])
    if answer["complete"]?.boolValue == false { incomplete += 1 }
  }

  /// Waits until all that is due is done, for a while at most, where the clock goes its own way.
  func settle() throws {
    guard !moves else { return }
    let end = Machine.steady + .seconds(Limits.replayedOutcomeSeconds)
    while Machine.steady < end, try control.get("/v1/clock")["complete"]?.boolValue == false { Machine.sleep(.milliseconds(50)) }
  }

  /// Lets it go on if it did before.
  func restore() throws {
    if moves, !wasFrozen { _ = try answer("PUT", "/v1/clock", ["frozen": false]) }
  }

  private func answer(_ method: String, _ path: String, _ body: JSONValue) throws -> JSONValue {
    let answer = try control.call(method, path, body, timeout: .milliseconds(Limits.clockMilliseconds) + .seconds(20))
    guard answer.isSuccess else { throw CommandError(answer) }
    return answer.json
  }

  private static func instant(_ report: JSONValue, _ name: String) throws -> Instant {
    guard let instant = report[name]?.stringValue.flatMap({ Instant(rfc3339: $0) }) else {
      throw CommandError("the gateway's clock shows no time: \(report.serialized())")
    }
    return instant
  }
}
