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

  /// What a call took as deep as a body may be stands deeper in the list of all.
  @Test func schemasAsDeepAsABodyMayBeAreRead() throws {
    var schema: JSONValue = ["type": "integer"]
    // With the body and contentStates as many levels as are read.
    for number in 0..<60 { schema = number % 2 == 0 ? ["type": "array", "items": schema] : ["items": schema] }
    schema = ["additionalProperties": schema]
    #expect(throws: Never.self) { try JSONValue.parse(JSONValue.object(["contentStates": ["D": schema]]).serialized()) }
    let answer: JSONValue = ["schemas": [["attributesType": "D", "origin": "api", "contentState": schema]]]
    func known(_ status: Int, _ body: String) -> [String]? {
      guard case .known(let schemas) = RegistrationCall.schemas(status: status, body: Array(body.utf8)) else { return nil }
      return schemas.map(\.attributesType)
    }
    #expect(known(200, answer.serialized()) == ["D"])
    #expect(known(200, "x") == nil && known(404, "") == [])
  }

  /// An app that nobody has configured is judged by what it brought along, wherever a push is judged: when it is sent, before it is, by name,
  /// and on the device.
  @Test func anAppOfWhichNothingIsConfiguredIsJudgedByItsOwn() async throws {
    let pair = try Pair(devices: nil)
    let app = "com.pizza.w1"
    let taught = try await pair.call("PUT", "\(pair.control)/v1/apps/\(app)/schemas/Ride", as: "register", Self.number)
    #expect(taught["origin"] == "app", "\(taught)")
    let activity: JSONValue = [
      "type": "liveactivity", "bundleID": .string(app), "environment": "development", "activity": ["id": "r", "attributesType": "Ride"],
    ]
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00ad", as: "register", activity)
    let wrong = update(1).replacing("1}", with: "\"one\"}")
    #expect(try await pair.push(wrong, of: app, to: "00ad", .liveactivity, id: id(1)) == 400)
    let refused = try await pair.fate(of: id(1))
    #expect(refused["detail"]?.stringValue?.contains("aps.content-state.stops") == true, "\(refused)")
    #expect(try await pair.push(update(1), of: app, to: "00ad", .liveactivity, id: id(2)) == 200)
    #expect(try await pair.fate(of: id(2))["disposition"] == "applied")

    let form: JSONValue = ["token": "00ad", "topic": .string("\(app).push-type.liveactivity"), "payload": try JSONValue.parse(wrong)]
    let forecast = try await pair.call("POST", "\(pair.control)/v1/what-if", form)
    #expect(forecast["status"] == 400 && "\(forecast)".contains("aps.content-state.stops"), "\(forecast)")
    let named = try await pair.call(
      "PUT", "\(pair.control)/v1/activities/\(app)/o",
      [
        "user": "kate", "attributesType": "Ride", "attributes": [:], "contentState": ["stops": "one"],
        "alert": ["title": "a", "body": "b"],
      ])
    #expect(named["error"]?["field"] == "contentState.stops", "\(named)")
    // The next app has none of them.
    let other: JSONValue = [
      "type": "liveactivity", "bundleID": "com.pizza.w2", "environment": "development", "activity": ["id": "r", "attributesType": "Ride"],
    ]
    _ = try await pair.call("PUT", "\(pair.control)/v1/registrations/00ae", as: "register", other)
    #expect(try await pair.push(wrong, of: "com.pizza.w2", to: "00ae", .liveactivity, id: id(3)) == 200)
  }

  /// What an app on a device declares is known at the gateway as soon as it is installed.
  @Test func anAppThatIsInstalledTeachesTheGateway() async throws {
    let pair = try Pair(devices: [["name": "phone"]], validation: .apple)
    let device = "https://127.0.0.1:\(pair.device.port)/v1/devices/phone"
    let (state, attributes): (JSONValue, JSONValue) = (
      ["required": ["stops"], "properties": ["stops": [:]]], ["required": ["goal"], "properties": ["goal": [:]]]
    )
    let manifest: JSONValue = ["activities": [["attributesType": "Ride", "contentState": state, "attributes": attributes]]]
    let app = try await pair.call("PUT", "\(device)/apps/\(Pair.app)", manifest)
    #expect(app["schemas"]?[0]?["attributesType"] == "Ride", "\(app)")
    let known = try await pair.call("GET", schemas(pair))
    #expect(known["contentState"] == state && known["attributes"] == attributes, "\(known)")
  }
}
