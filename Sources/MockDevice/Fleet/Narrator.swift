import DeviceModel
import Primitives
import Push
import Telemetry

/// Writes what happens on the devices to the log, as long as a person could read along.
///
/// Beyond some lines a second it only counts, so that a load test costs no more than its first moments.
struct Narrator {
  /// Lines that one second may have.
  static let linesPerSecond = 50

  private let log: Log
  private var told: UInt64 = 0
  private var second = Int64.min
  private var left = 0
  private var silent: UInt64 = 0

  init(_ log: Log) { self.log = log }

  /// Tells what has happened since the last call.
  mutating func tell(_ fleet: DeviceFleet, now: Instant) {
    let newest = fleet.newestEvent
    if now.unixSeconds != second {
      if silent > 0 { log.write(.info, "more happened than was told", [LogField("events", silent)]) }
      (second, left, silent) = (now.unixSeconds, Self.linesPerSecond, 0)
    }
    if left > 0 {
      for event in fleet.events(of: nil, after: told, limit: left).events { tell(event) }
    }
    let happened = newest - told
    let shown = min(UInt64(left), happened)
    left -= Int(shown)
    silent += happened - shown
    told = newest
  }

  private func tell(_ event: DeviceEvent) {
    let level: LogLevel =
      switch event.what {
      case .pushIgnored, .pushRefused, .pushFaulted, .registrationFailed: .warning
      default: .info
      }
    var fields: [LogField] = []
    if let device = event.deviceName { fields.append(LogField("device", device)) }
    if let bundleID = event.bundleID { fields.append(LogField("app", bundleID)) }
    if !event.items.isEmpty { fields.append(LogField("items", event.items.joined(separator: ","))) }
    if let push = event.push { fields.append(LogField("push", push)) }
    if event.cause != .none { fields.append(LogField("cause", event.cause.name)) }
    if let token = event.token, event.device != nil { fields.append(LogField("token", token)) }
    if let detail = event.detail { fields.append(LogField("detail", detail)) }
    log.write(level, event.what.name, fields)
  }
}
