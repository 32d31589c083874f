import DeviceModel
import JSON
import Primitives
import Push
import Testing

/// 2026-11-30 12:00:00 UTC.
let noon = Instant(unixSeconds: 1_796_040_000)

let app = "com.example.app"

/// A fleet with one device `phone` and one app.
func phone(_ manifest: AppManifest = AppManifest()) throws -> DeviceFleet {
  var fleet = DeviceFleet(seed: "test", hashSeed: 7)
  #expect(try fleet.setDevice("phone", DeviceSettings(), at: noon))
  #expect(try fleet.install(app, manifest, on: "phone", at: noon))
  return fleet
}

extension DeviceFleet {
  /// A push with a payload as text.
  mutating func push(
    _ payload: String, to token: DeviceToken, _ type: PushType, bundleID: String = app, id: UInt64 = 1, collapseID: String? = nil,
    at now: Instant = noon
  ) -> PushOutcome {
    let bundle = Array(bundleID.utf8)
    let body = Array(payload.utf8)
    return receive(
      ReceivedPush(id: PushID(high: 0, low: id), token: token, type: type, collapseID: collapseID), known(token),
      bundleID: bundle.span.bytes,
      payload: body.span.bytes,
      at: now)
  }

  /// The app's state on the device `phone`.
  func appState(_ device: String = "phone", at now: Instant = noon) throws -> JSONValue {
    try #require(state(of: device, at: now)["apps"]?[0])
  }

  /// A token that the state names.
  func token(_ path: String, _ device: String = "phone") throws -> DeviceToken {
    let text = try #require(appState(device)[path]?["token"]?.stringValue)
    return try #require(DeviceToken(hex: text))
  }
}

/// The payload nearly every sender writes.
let contentChanged = #"{"aps":{"content-changed":true}}"#

func seconds(_ count: Int64) -> TimeSpan { .seconds(count) }

func token(_ bytes: [UInt8]) throws -> DeviceToken { try #require(DeviceToken(hex: Hexadecimal.encode(bytes))) }
