import Control
import DeviceModel
import JSON
import Primitives
import Push
import Security
import Testing

@testable import MockDevice

@Suite("Pushes at the mock device") struct PushDeskTests {
  private let token = "00112233"

  /// What a request lacks or has wrong, and how APNs answers it.
  @Test(arguments: [
    ("authorization", nil, 403, "MissingProviderToken"), ("authorization", "bearer x.y.z", 403, "InvalidProviderToken"),
    ("apns-topic", nil, 400, "MissingTopic"), ("apns-topic", "com.example.app", 400, "InvalidPushType"),
    ("apns-priority", "7", 400, "BadPriority"), ("apns-id", "x", 400, "BadMessageId"), ("apns-expiration", "1.5", 400, "BadExpirationDate"),
    ("apns-push-type", "widget", 400, "InvalidPushType"),
  ])
  func refusedAsAppleDoes(name: String, value: String?, status: Int, reason: String) async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    var fields: HTTPFields = [:]
    for (field, sent) in try test.pushFields(.widgets) where field != name || value != nil {
      fields.append(field, field == name ? value ?? "" : sent)
    }
    let request = try HTTPRequest(
      method: .post, target: "/3/device/\(token)", fields: fields, body: Array(contentChanged.utf8))
    let response = await test.device.respond(to: request)
    #expect(response.status == status)
    #expect(String(decoding: response.body, as: UTF8.self) == #"{"reason":"\#(reason)"}"#)
    #expect(response.fields["apns-id"].flatMap { PushID($0) } != nil)
    #expect(response.fields["widgetpush-outcome"] == nil)
    let event = try await test.call(.get, "/v1/events?event=pushRefused").json["events"]?[0]
    #expect(event?["detail"]?.stringValue?.hasPrefix(reason) == true)
  }

  @Test(arguments: [
    ("GET", "/3/device/00", 405, "MethodNotAllowed"), ("POST", "/3/devices/00", 404, "BadPath"),
    ("POST", "/3/device/xyz", 400, "BadDeviceToken"), ("POST", "/3/device/", 400, "MissingDeviceToken"),
  ])
  func pathsAndMethods(method: String, target: String, status: Int, reason: String) async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    var fields: HTTPFields = [:]
    for (name, value) in try test.pushFields(.widgets) { fields.append(name, value) }
    let response = await test.device.respond(
      to: try HTTPRequest(method: HTTPMethod(method), target: target, fields: fields, body: Array(contentChanged.utf8)))
    #expect(response.status == status)
    #expect(try JSONValue.parse(response.body) == ["reason": .string(reason)])
  }

  @Test func aStrangersKeyIsRefused() async throws {
    let (test, other) = (try DeviceUnderTest(), try DeviceUnderTest())
    defer {
      test.device.stop()
      other.device.stop()
    }
    var fields: HTTPFields = [:]
    for (name, value) in try other.pushFields(.widgets) { fields.append(name, value) }
    let response = await test.device.respond(
      to: try HTTPRequest(method: .post, target: "/3/device/\(token)", fields: fields, body: Array(contentChanged.utf8)))
    #expect(response.status == 403)
    #expect(try JSONValue.parse(response.body) == ["reason": "InvalidProviderToken"])
    test.clock.advance(.seconds(2 * 3600))
    let late = await test.device.respond(
      to: try HTTPRequest(
        method: .post, target: "/3/device/\(token)", fields: ["authorization": "bearer \(try test.signer.token(now: other.clock.now))"],
        body: Array(contentChanged.utf8)))
    #expect(try JSONValue.parse(late.body) == ["reason": "ExpiredProviderToken"])
  }

  @Test func bodies() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    #expect(try JSONValue.parse(try await test.push("", to: token, .widgets).body) == ["reason": "PayloadEmpty"])
    let large = #"{"aps":{"content-changed":true},"x":"\#(String(repeating: "x", count: 5000))"}"#
    let refused = try await test.push(large, to: token, .widgets)
    #expect(refused.status == 413)
    #expect(try JSONValue.parse(refused.body) == ["reason": "PayloadTooLarge"])
    let ignored = try await test.push("not json", to: token, .widgets)
    #expect(ignored.status == 200)
    #expect(ignored.fields["widgetpush-outcome"]?.hasPrefix("ignored payloadNotUnderstood the payload is not JSON") == true)
  }
}
