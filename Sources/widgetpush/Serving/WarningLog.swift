import Gateway
import Primitives
import Push
import Reactor
import Synchronization
import Telemetry

/// Log lines about keys, headers and dates of pushes that do not do what was meant: a backend that makes a mistake makes it with each push,
/// so each mistake is told once, and then every ten minutes with how often it was made meanwhile.
final class WarningLog: Sendable {
  private struct Mistake: Hashable {
    var warning: PushWarning
    var type: PushType
    /// The field; empty for all further ones of a warning once there are many, since senders choose names of keys.
    var field: String
  }

  private struct Told {
    var at: Uptime
    var others = 0
  }

  private let log: Log
  private let uptime: @Sendable () -> Uptime
  private let told = Mutex<[Mistake: Told]>([:])

  /// - Parameter uptime: The time by which lines are rare.
  init(_ log: Log, uptime: @escaping @Sendable () -> Uptime = { .read() }) {
    self.log = log
    self.uptime = uptime
  }

  /// Writes what is new of a push's warnings.
  func write(_ push: WarnedRequest) {
    let now = uptime()
    for detail in push.details {
      guard let others = others(of: detail, push.type, now) else { continue }
      log.write(
        .info, "pushes have a field that does not do what was meant",
        [
          LogField("warning", detail.warning.name), LogField("field", detail.field), LogField("detail", detail.detail),
          LogField("type", push.type), LogField("id", push.id), LogField("others", others),
        ])
    }
  }

  /// How many others made the same mistake since it was told last; nil where it is not to be told yet.
  private func others(of detail: WarningDetail, _ type: PushType, _ now: Uptime) -> Int? {
    told.withLock { told in
      var mistake = Mistake(warning: detail.warning, type: type, field: detail.field)
      if told[mistake] == nil, told.count >= Limits.warningsTold { mistake.field = "" }
      guard let last = told[mistake], now < last.at + .seconds(Limits.warningToldSeconds) else {
        let others = told[mistake]?.others ?? 0
        told[mistake] = Told(at: now)
        return others
      }
      told[mistake]?.others += 1
      return nil
    }
  }
}
