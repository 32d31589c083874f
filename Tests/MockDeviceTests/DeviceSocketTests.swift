import DeviceModel
import Foundation
import HTTPClient
import JSON
import Primitives
import Push
import Testing

@testable import MockDevice

@Suite("The mock device's port") struct DeviceSocketTests {
  private func client(_ test: DeviceUnderTest) throws -> BlockingHTTPClient {
    BlockingHTTPClient(trust: .pem(try test.authority.certificate.pem()))
  }

  private func push(_ test: DeviceUnderTest, to token: String, _ type: PushType, _ payload: String, id: String) throws
    -> BlockingHTTPClient.Request
  {
    let fields = try test.pushFields(type, id: id).map { BlockingHTTPClient.Field($0.0, $0.1) }
    return BlockingHTTPClient.Request(
      "POST", "https://127.0.0.1:\(test.device.port)/3/device/\(token)", fields: fields, body: Array(payload.utf8))
  }

  @Test func pushesOverHTTP2() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    let client = try client(test)
    for number in 0..<200 {
      let id = "00000000-0000-0000-0000-000000000" + String(1000 + number).suffix(3)
      let request = try push(test, to: Hexadecimal.encode([UInt8(number), 7]), .widgets, contentChanged, id: id)
      let response = try await blocking { try client.perform(request) }
      #expect(response.isHTTP2)
      #expect(response.status == 200)
      #expect(response.body.isEmpty)
      #expect(response.field("apns-id") == id)
      #expect(response.field("widgetpush-outcome") == "applied reloaded")
    }
    #expect(try await test.call(.get, "/v1/events?event=widgetsReloaded&limit=1000").json["events"]?.arrayValue?.count == 200)
    #expect(try await test.call(.get, "/v1/devices?limit=1000").json["devices"]?.arrayValue?.count == 200)
  }

  @Test func refusalsOverHTTP2() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    let client = try client(test)
    var unsigned = try push(test, to: "00", .widgets, contentChanged, id: "EABEAE54-14a8-11e5-b60b-1697f925ec7b")
    unsigned.fields.removeAll { $0.name == "authorization" }
    let request = unsigned
    let refused = try await blocking { try client.perform(request) }
    #expect(refused.status == 403)
    #expect(refused.text == #"{"reason":"MissingProviderToken"}"#)
    #expect(refused.field("apns-id") == "EABEAE54-14a8-11e5-b60b-1697f925ec7b")

    _ = try await test.call(.put, "/v1/devices/phone")
    _ = try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": .string(DeviceUnderTest.app)])
    let placed = try await test.call(.post, "/v1/devices/phone/controls", ["bundleID": .string(DeviceUnderTest.app), "kind": "Lamp"])
    let token = try #require(placed.json["token"]?.stringValue)
    _ = try await test.call(.delete, "/v1/devices/phone/apps/\(DeviceUnderTest.app)")
    let dead = try push(test, to: token, .controls, contentChanged, id: "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    let gone = try await blocking { try client.perform(dead) }
    #expect(gone.status == 410)
    #expect(gone.text.hasPrefix(#"{"reason":"Unregistered","timestamp":"#))
  }

  @Test(arguments: [BlockingHTTPClient.Version.negotiated, .http1]) func theAPI(version: BlockingHTTPClient.Version) async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    let client = try client(test)
    let url = "https://localhost:\(test.device.port)"
    let put = BlockingHTTPClient.Request(
      "PUT", "\(url)/v1/devices/phone", fields: [BlockingHTTPClient.Field("authorization", "Bearer admin")], body: [], version: version)
    let created = try await blocking { try client.perform(put) }
    #expect(created.status == 201)
    #expect(created.isHTTP2 == (version == .negotiated))
    #expect(try JSONValue.parse(created.body)["device"] == "phone")
    let ready = BlockingHTTPClient.Request("GET", "\(url)/readyz", version: version)
    #expect(try await blocking { try client.perform(ready) }.status == 200)
  }

  @Test func drainingAnswersWhoeverWaits() async throws {
    let test = try DeviceUnderTest()
    let client = try client(test)
    let waiting = BlockingHTTPClient.Request(
      "GET", "https://127.0.0.1:\(test.device.port)/v1/events?wait=300s",
      fields: [BlockingHTTPClient.Field("authorization", "Bearer read")])
    async let answer = blocking { try client.perform(waiting) }
    try await test.untilSomebodyWaits()
    try await blocking { test.device.drain(within: .seconds(10)) }
    let response = try await answer
    #expect(response.status == 200)
    #expect(try JSONValue.parse(response.body)["complete"] == false)
    let again = BlockingHTTPClient.Request("GET", "https://127.0.0.1:\(test.device.port)/livez")
    await #expect(throws: BlockingHTTPClient.Failure.self) { try await blocking { try client.perform(again) } }
  }
}
