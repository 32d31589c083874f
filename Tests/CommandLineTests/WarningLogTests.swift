import Gateway
import Primitives
import Push
import Reactor
import Synchronization
import Telemetry
import Testing

@testable import widgetpush

/// The gateway's log tells each mistake of a sender once, and now and then how often it was made.
@Suite("Warnings in the log") struct WarningLogTests {
  /// What was written, and the time.
  private final class Stage: Sendable {
    let lines = Mutex<[String]>([])
    let seconds = Mutex<Int64>(0)
  }

  private let stage = Stage()

  private static func push(_ field: String, _ type: PushType = .liveactivity) -> WarnedRequest {
    WarnedRequest(
      id: PushID(high: 1, low: 2), token: nil, type: type,
      details: [WarningDetail(.unusedAPSKeys, field: field, detail: "sound (put it at aps.alert.sound)")])
  }

  private func lines(_ fill: (WarningLog) -> Void) -> [String] {
    let log = Log(format: .text, clock: { Instant(unixSeconds: 1) }, sink: { [stage] line in stage.lines.withLock { $0.append(line) } })
    fill(WarningLog(log, uptime: { [stage] in Uptime(nanoseconds: 0) + .seconds(stage.seconds.withLock { $0 }) }))
    log.flush()
    return stage.lines.withLock { $0 }
  }

  @Test func aMistakeIsToldOnceAndThenNowAndThen() throws {
    let lines = lines { warnings in
      for _ in 0..<5 { warnings.write(Self.push("aps.sound")) }
      warnings.write(Self.push("aps.title"))
      warnings.write(Self.push("aps.sound", .alert))
      stage.seconds.withLock { $0 = 599 }
      warnings.write(Self.push("aps.sound"))
      stage.seconds.withLock { $0 = 600 }
      warnings.write(Self.push("aps.sound"))
    }
    #expect(lines.count == 4, "\(lines)")
    let first = try #require(lines.first)
    for part in ["info pushes have a field", "warning=unusedAPSKeys", "field=aps.sound", "put it at aps.alert.sound", "others=0"] {
      #expect(first.contains(part), "\(part) in \(first)")
    }
    #expect(lines.last?.contains("field=aps.sound") == true && lines.last?.contains("others=5") == true, "\(lines)")
  }

  /// Senders choose the names of keys, so the names that are told apart are bounded.
  @Test func namesThatSendersChooseAreBounded() {
    let lines = lines { warnings in for number in 0..<10_000 { warnings.write(Self.push("aps.key\(number)")) } }
    #expect(lines.count == Limits.warningsTold + 1)
  }
}
