import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

/// A device whose clock is ahead of its senders'.
@Suite("A device with a moved clock") struct MovedClockTests {
  private let day = TimeSpan.seconds(86_400)

  private func started(_ fleet: inout DeviceFleet, more: String = "") throws -> DeviceToken {
    let payload =
      #"{"aps":{"timestamp":\#(noon.unixSeconds),"event":"start","content-state":{},"attributes-type":"Order","attributes":{},"#
      + #""alert":{"title":"x"}\#(more)}}"#
    _ = fleet.takeEffects()
    #expect(fleet.push(payload, to: try fleet.token("pushToStart"), .liveactivity, at: noon + day).disposition == .applied)
    guard case .register(let registration)? = fleet.takeEffects().last else { throw DeviceError(.notFound, "no update token") }
    return registration.token
  }

  private func update(_ timestamp: Int64, more: String = "") -> String {
    #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{}\#(more)}}"#
  }

  private func fleet() throws -> DeviceFleet {
    var fleet = try phone()
    fleet.shift = day
    return fleet
  }

  /// The dates of a payload are turned into the device's.
  @Test func datesAreTheSenders() throws {
    var fleet = try fleet()
    let token = try started(&fleet, more: #","stale-date":\#(noon.unixSeconds + 60)"#)
    #expect(fleet.nextDue == noon + day + seconds(60))
    #expect(fleet.nextChange?.event == .activityStale && fleet.nextChange?.at == noon + day + seconds(60))
    let end = #"{"aps":{"timestamp":\#(noon.unixSeconds + 90),"event":"end","dismissal-date":\#(noon.unixSeconds + 600)}}"#
    #expect(fleet.push(end, to: token, .liveactivity, at: noon + day + seconds(90)).disposition == .applied)
    #expect(fleet.nextChange?.event == .activityDismissed && fleet.nextChange?.at == noon + day + seconds(600))
  }

  /// A timestamp of the sender's is neither old nor ahead; updates are compared by timestamps as they are, whatever the clock did between.
  @Test func timestampsAreComparedAsTheyAre() throws {
    var fleet = try fleet()
    let token = try started(&fleet)
    #expect(fleet.push(update(noon.unixSeconds + 10), to: token, .liveactivity, at: noon + day + seconds(10)).cause == .updated)
    fleet.shift = day + seconds(3600)
    let later = noon + day + seconds(3700)
    #expect(fleet.push(update(noon.unixSeconds + 9), to: token, .liveactivity, at: later).cause == .staleTimestamp)
    #expect(fleet.push(update(noon.unixSeconds + 11), to: token, .liveactivity, at: later).cause == .updated)
    let ahead = noon.unixSeconds + 100 + 8 * 3600
    #expect(fleet.push(update(ahead), to: token, .liveactivity, at: later).cause == .updated)
    #expect(fleet.push(update(ahead + 1), to: token, .liveactivity, at: later).cause == .futureTimestamp)
  }

  /// Of all that devices do by themselves, what comes first.
  @Test func theNextChange() throws {
    var fleet = try phone()
    #expect(fleet.nextChange == nil)
    for (name, minutes) in [("a", 30), ("b", 10), ("c", 20)] as [(String, Int64)] {
      _ = try fleet.startActivity(
        attributesType: "Order", attributes: [:], contentState: [:], id: name, of: app, on: "phone", at: noon + seconds(60 * minutes))
    }
    let first = try #require(fleet.nextChange)
    #expect(first.activity == "a" && first.at == noon + seconds(1800 + 8 * 3600) && first.event == .activityEnded)
    #expect(first.device == "phone" && first.bundleID == app)
    #expect(fleet.nextDue == first.at)
    fleet.advance(to: first.at)
    #expect(fleet.nextChange?.activity == "a" && fleet.nextChange?.event == .activityDismissed || fleet.nextChange?.activity == "b")
  }
}
