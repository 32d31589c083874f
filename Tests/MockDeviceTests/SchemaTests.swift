import Foundation
import JSON
import Primitives
import Push
import Testing

@testable import MockDevice

/// An app's schemas have one home at the gateway, and the device judges by what stands there when a push comes.
@Suite("Schemas of gateway and device", .timeLimit(.minutes(10))) struct SchemaTests {
  private static let number: JSONValue = ["contentState": ["properties": ["stops": ["type": "integer"]]]]
  private static let text: JSONValue = ["contentState": ["properties": ["stops": ["type": "string"]]]]

  private func update(_ number: Int) -> String {
    let now = Int(Date().timeIntervalSince1970)
    return #"{"aps":{"timestamp":\#(now),"event":"update","content-state":{"stops":\#(number)}}}"#
  }

  private func id(_ number: Int) -> PushID { PushID(high: 0x4000, low: UInt64(number) + 1) }

  private func schemas(_ pair: Pair, of type: String = "Ride") -> String { "\(pair.control)/v1/apps/\(Pair.app)/schemas/\(type)" }

  private func register(_ pair: Pair) async throws {
    let activity: JSONValue = [
      "type": "liveactivity", "bundleID": "com.example.app", "environment": "development",
      "activity": ["id": "Ride-1", "attributesType": "Ride"],
    ]
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00ac", activity)
  }

  /// Each push finds the schema that was set just before it.
  @Test func aPushIsJudgedByTheSchemaThatWasSetBeforeIt() async throws {
    let pair = try Pair(devices: nil, validation: .apple)
    try await register(pair)
    for number in 0..<1000 {
      _ = try await pair.call("PUT", schemas(pair), number % 2 == 0 ? Self.number : Self.text)
      #expect(try await pair.push(update(number), to: "00ac", .liveactivity, id: id(number)) == 200)
      let fate = try await pair.fate(of: id(number))
      let expected: JSONValue = number % 2 == 0 ? "applied" : "ignored"
      #expect(fate["disposition"] == expected, "\(number): \(fate)")
    }
  }

  /// What an app on a device declares is known at the gateway as soon as it is installed.
  @Test func anAppThatIsInstalledTeachesTheGateway() async throws {
    let pair = try Pair(devices: [["name": "phone"]], validation: .apple)
    let device = "https://127.0.0.1:\(pair.device.port)/v1/devices/phone"
    let manifest: JSONValue = [
      "activities": [["attributesType": "Ride", "contentState": ["required": ["stops"]], "attributes": ["required": ["goal"]]]]
    ]
    let app = try await pair.call("PUT", "\(device)/apps/\(Pair.app)", manifest)
    #expect(app["schemas"]?[0]?["attributesType"] == "Ride", "\(app)")
    let known = try await pair.call("GET", schemas(pair))
    #expect(known["contentState"] == ["required": ["stops"]] && known["attributes"] == ["required": ["goal"]], "\(known)")
  }
}
