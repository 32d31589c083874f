import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

@Suite("Event log") struct EventLogTests {
  /// Every capacity, fill and cursor of a small space, against a plain array.
  @Test func ringAgreesWithAnArray() {
    for capacity in 1...5 {
      var log = EventLog(capacity: capacity)
      for count in 0...12 {
        let kept = (UInt64(0)..<UInt64(count)).map { $0 + 1 }.suffix(capacity)
        for after in UInt64(0)...14 {
          for limit in 0...3 {
            let (events, isComplete) = log.events(after: after, limit: limit) { _ in true }
            #expect(events.map(\.sequence) == Array(kept.filter { $0 > after }.prefix(limit)))
            #expect(isComplete == (after + 1 >= (kept.first ?? 1)), "capacity \(capacity), count \(count), after \(after)")
          }
        }
        log.append(DeviceEvent(.deviceAdded, at: noon, device: "d\(count)"))
      }
    }
  }

  @Test func everyKindHasAName() {
    for what in DeviceEvent.What.allCases { #expect(DeviceEvent.What(name: what.name) == what) }
    #expect(DeviceEvent.What(name: "nothing") == nil)
  }

  @Test func jsonNamesThePushAndWhy() throws {
    var fleet = DeviceFleet(seed: "test", hashSeed: 1)
    _ = fleet.push("{}", to: try token([0xAB]), .widgets, id: 5)
    let event = try #require(fleet.events(of: "ab", after: 0, limit: 1) { $0.what == .pushIgnored }.events.first).json
    #expect(
      event == [
        "sequence": 2, "at": .string(noon.description), "event": "pushIgnored", "device": "ab", "bundleID": .string(app),
        "token": "ab", "push": .string(PushID(high: 0, low: 5).description), "disposition": "ignored",
        "cause": "payloadNotUnderstood", "detail": "aps must be a JSON object, and is missing",
      ])
  }
}
