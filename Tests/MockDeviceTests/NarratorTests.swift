import DeviceModel
import Primitives
import Push
import Recorder
import Telemetry
import Testing

@testable import MockDevice

@Suite("What the device writes to its log") struct NarratorTests {
  private let start = Instant(unixSeconds: 1_796_000_000)

  /// A push that reloads the one widget of its own token.
  private func push(_ fleet: inout DeviceFleet, at now: Instant) {
    let (bundle, body) = (Array("com.example.app".utf8), Array(contentChanged.utf8))
    let received = ReceivedPush(id: PushID(high: 1, low: 2), token: DeviceToken(hex: "ab")!, type: .widgets)
    _ = fleet.receive(received, fleet.known(received.token), bundleID: bundle.span.bytes, payload: body.span.bytes, at: now)
  }

  @Test func tellsEachThingOnceAndCountsWhatIsTooMuch() {
    let lines = Recorder<String>()
    let log = Log(format: .text, clock: { start }, sink: { lines.append($0) })
    var narrator = Narrator(log)
    var fleet = DeviceFleet(seed: "s", hashSeed: 1)
    push(&fleet, at: start)
    narrator.tell(fleet, now: start)
    narrator.tell(fleet, now: start)
    log.flush()
    #expect(lines.all.count == 2, "the adoption and the reload")
    #expect(lines.all.last?.contains("widgetsReloaded") == true)
    #expect(lines.all.last?.contains("device=ab") == true)
    #expect(lines.all.last?.contains("00000000-0000-0001-0000-000000000002") == true)

    for _ in 0..<100 { push(&fleet, at: start) }
    narrator.tell(fleet, now: start)
    log.flush()
    #expect(lines.all.count == Narrator.linesPerSecond)
    for _ in 0..<10 { push(&fleet, at: start) }
    narrator.tell(fleet, now: start)
    let later = start + .seconds(1)
    push(&fleet, at: later)
    narrator.tell(fleet, now: later)
    log.flush()
    #expect(lines.all.count == Narrator.linesPerSecond + 2)
    #expect(lines.all[Narrator.linesPerSecond].contains("events=\(2 + 100 + 10 - Narrator.linesPerSecond)"))
    #expect(lines.all.last?.contains("widgetsReloaded") == true)
  }
}
