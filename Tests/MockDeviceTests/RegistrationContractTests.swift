import DeviceModel
import JSON
import Primitives
import Push
import Testing

@testable import Gateway
@testable import MockDevice

/// What the device sends is what the gateway reads: both sides of the registration call, against each other.
@Suite("The registration call, from both sides") struct RegistrationContractTests {
  @Test func everyRegistrationOfADeviceIsReadAsItWasMeant() throws {
    var fleet = DeviceFleet(seed: "contract", hashSeed: 1)
    let json = try JSONValue.parse(
      """
      [{"name":"phone","platform":"iOS","user":"alice","developerMode":true,"environment":"production",
        "apps":[{"bundleID":"com.example.app",
                 "manifest":{"frequentUpdates":true,"pushes":["complication","fileprovider","location","mdm","pushtotalk","voip"]},
                 "widgets":[{"kind":"Orders"},{"kind":"Orders","family":"accessoryInline","id":"lock screen"}],
                 "controls":[{"kind":"Lamp"}],"activities":[{"attributesType":"OrderAttributes"}]}]}]
      """)
    try fleet.apply(try DevicePlan(seed: "contract", devices: json), at: Instant(unixSeconds: 1_796_000_000))
    var kinds: Set<TokenKind> = []
    for effect in fleet.takeEffects() {
      guard case .register(let registration) = effect else { continue }
      kinds.insert(registration.kind)
      var reader = try JSONReader(RegistrationCall.json(registration, upstream: nil))
      let read = try RegistrationBody.read(&reader, token: registration.token)
      try reader.finish()
      #expect(read == registration)
    }
    #expect(kinds == Set(TokenKind.allCases))
  }

  @Test func theLongestNamesAreTaken() throws {
    let long = String(repeating: "N", count: Limits.deviceNameBytes)
    var fleet = DeviceFleet(seed: "contract", hashSeed: 1)
    let plan = DevicePlan(
      devices: [
        DevicePlan.Device(
          name: long,
          apps: [
            DevicePlan.App(
              bundleID: String(repeating: "b", count: Limits.bundleIDBytes), widgets: [DevicePlan.Widget(kind: long)],
              controls: [DevicePlan.Control(kind: long)], activities: [DevicePlan.Activity(attributesType: long)])
          ])
      ])
    try fleet.apply(plan, at: Instant(unixSeconds: 1_796_000_000))
    for effect in fleet.takeEffects() {
      guard case .register(let registration) = effect else { continue }
      var reader = try JSONReader(RegistrationCall.json(registration, upstream: nil))
      #expect(try RegistrationBody.read(&reader, token: registration.token) == registration)
    }
  }
}
