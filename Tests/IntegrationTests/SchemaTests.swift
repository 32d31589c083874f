import Foundation
import Testing

/// What an app's activities decode from: set by whichever way, it holds for everybody who judges, and stays.
@Suite("Schemas", .processes) struct SchemaTests {
  private static let app = "com.example.app"
  private static let delivery =
    #"{"contentState":{"required":["eta"],"properties":{"eta":{"format":"date2001"}}},"attributes":{"required":["goal"],"properties":{"goal":{"type":"string"}}}}"#
  private static let brokenState = #"{"eta":"2026-12-01T00:00:00Z"}"#

  private func path(_ type: String = "DeliveryAttributes") -> String { "/v1/apps/\(Self.app)/schemas/\(type)" }

  private func activity(_ dev: Deployment) async throws -> String {
    let token = newToken()
    try await dev.register(
      token,
      #"{"type":"liveactivity","bundleID":"com.example.app","environment":"development","activity":{"id":"order-9","attributesType":"DeliveryAttributes"}}"#
    )
    return token
  }

  private func update(_ dev: Deployment, _ token: String, _ state: String) async throws -> Document {
    let body = #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","content-state":\#(state)}}"#
    let answer = try await dev.send(PushRequest("liveactivity", to: token).body(body))
    #expect(answer.status == 200, "\(answer)")
    return try await dev.settled(try #require(answer["apns-id"]), as: "applied", "ignored")
  }

  private func start(_ dev: Deployment, _ attributes: String, type: String = "DeliveryAttributes") async throws -> Document {
    let token = newToken()
    try await dev.register(token, RegistrationBody.pushToStart)
    let body =
      #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"start","attributes-type":"\#(type)","attributes":\#(attributes),"content-state":{"eta":817692800},"alert":{"title":"a","body":"b"}}}"#
    let answer = try await dev.send(PushRequest("liveactivity", to: token).body(body))
    #expect(answer.status == 200, "\(answer)")
    return try await dev.settled(try #require(answer["apns-id"]), as: "applied", "ignored")
  }

  /// Set at the gateway, it is what the device goes by, and after a kill of both.
  @Test func aSchemaSetAtTheGatewayIsTheDevicesToo() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    #expect(try await dev.control("PUT", path(), Self.delivery).status == 201)
    let token = try await activity(dev)
    func isIgnored(_ dev: Deployment) async throws {
      let record = try await update(dev, token, Self.brokenState)
      #expect(record["disposition"].string == "ignored" && record["cause"].string == "contentStateNotDecodable", "\(record)")
      let detail = record["detail"].string ?? ""
      #expect(detail.contains("aps.content-state.eta") && detail.contains("send 817776000"), "\(detail)")
    }
    try await isIgnored(dev)
    let fine = try await update(dev, token, #"{"eta":817776000}"#)
    #expect(fine["disposition"].string == "applied" && fine["certainty"].string == "known", "\(fine)")
    try await dev.crash()
    let again = try await Deployment.start(["dev", "--validation", "apple"], in: dev.state)
    try await isIgnored(again)
    #expect(try await again.terminate() == 0)
  }

  /// Taught to a device, it is the app's at the gateway, and stays over a restart that makes the device anew.
  @Test func aSchemaTaughtToADeviceStays() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    let manifest = #"{"activities":[{"attributesType":"DeliveryAttributes",\#(Self.delivery.dropFirst())]}"#
    let taught = try await dev.control("PUT", "/v1/devices/phone/apps/com.example.app", manifest, face: "device")
    #expect(taught.status == 200, "\(taught)")
    let known = try await dev.control("GET", path(), as: "read")
    #expect(try known.status == 200 && known.json["origin"].string == "app", "\(known)")
    let token = try await activity(dev)
    #expect(try await update(dev, token, Self.brokenState)["cause"].string == "contentStateNotDecodable")
    #expect(try await dev.terminate() == 0)
    let again = try await Deployment.start(["dev", "--validation", "apple"], in: dev.state)
    #expect(try await update(again, token, Self.brokenState)["cause"].string == "contentStateNotDecodable")
    #expect(try await again.terminate() == 0)
  }

  /// What somebody has set is not replaced by what an app brings along, and the device says so.
  @Test func theGatewaysOwnIsKept() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    #expect(try await dev.control("PUT", path(), Self.delivery).status == 201)
    let manifest = #"{"activities":[{"attributesType":"DeliveryAttributes","contentState":{}}]}"#
    let taught = try await dev.control("PUT", "/v1/devices/phone/apps/com.example.app", manifest, face: "device")
    #expect(taught.text.contains("somebody with the scope admin has set them"), "\(taught)")
    let token = try await activity(dev)
    #expect(try await update(dev, token, Self.brokenState)["cause"].string == "contentStateNotDecodable")
    #expect(try await dev.terminate() == 0)
  }

  @Test func attributesThatDoNotDecodeStartNothing() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    let unknown = try await start(dev, #"{"totalDays":7}"#)
    #expect(unknown["disposition"].string == "applied" && unknown["certainty"].string == "likely", "\(unknown)")
    #expect(unknown["detail"].string?.contains("nothing is known of its attributes") == true, "\(unknown)")
    #expect(try await dev.control("PUT", path(), Self.delivery).status == 201)
    let wrong = try await start(dev, #"{"totalDays":7}"#)
    #expect(wrong["disposition"].string == "ignored" && wrong["cause"].string == "attributesNotDecodable", "\(wrong)")
    #expect(wrong["detail"].string == "aps.attributes.goal is missing; it must be a string", "\(wrong)")
    #expect(
      wrong["warnings"].array.contains { $0["name"].string == "attributesMismatch" || $0["warning"].string == "attributesMismatch" }
        || "\(wrong)".contains("attributesMismatch"))
    let right = try await start(dev, #"{"goal":"seven days"}"#)
    #expect(right["disposition"].string == "applied" && right["certainty"].string == "known", "\(right)")
    #expect(try await dev.terminate() == 0)
  }

  /// In strict, by name and before anything is sent, the same attributes are refused.
  @Test func theSiblingsJudgeAttributesAlike() async throws {
    let dev = try await Deployment.start(["dev"])
    #expect(try await dev.control("PUT", path(), Self.delivery).status == 201)
    let token = newToken()
    try await dev.register(token, RegistrationBody.pushToStart)
    let body =
      #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"start","attributes-type":"DeliveryAttributes","attributes":{"totalDays":7},"content-state":{"eta":817692800},"alert":{"title":"a","body":"b"}}}"#
    let refused = try await dev.send(PushRequest("liveactivity", to: token).body(body))
    #expect(refused.status == 400 && refused.text.contains("aps.attributes.goal is missing"), "\(refused)")
    let named = try await dev.control(
      "PUT", "/v1/activities/com.example.app/order-9",
      #"{"user":"kate","attributesType":"DeliveryAttributes","attributes":{"totalDays":7},"contentState":{"eta":817692800},"alert":{"title":"a","body":"b"}}"#,
      as: "reload")
    #expect(named.status == 400 && named.text.contains("attributes.goal is missing"), "\(named)")
    let form = #"{"token":"\#(token)","topic":"com.example.app.push-type.liveactivity","payload":\#(body)}"#
    let forecast = try await dev.control("POST", "/v1/what-if", form, as: "read")
    #expect(forecast.text.contains("aps.attributes.goal is missing"), "\(forecast)")
    let folder = try Folder()
    let payload = try folder.write("payload.json", body)
    let schemas = try folder.write("schemas.json", #"{"DeliveryAttributes":\#(Self.delivery)}"#)
    let lint = try await run([Deployment.executable, "lint", payload, "--schema", schemas])
    #expect(lint.status == 1 && lint.text.contains("aps.attributes.goal is missing"), "\(lint.text)\(lint.standardError)")
    #expect(try await dev.terminate() == 0)
  }

  /// Reads, writes and takes back, with entity tags, by those who may.
  @Test func schemasAreReadAndSetByWhoMay() async throws {
    let dev = try await Deployment.start(["dev"])
    #expect(try await dev.control("GET", path(), as: "read").status == 404)
    let taught = try await dev.control("PUT", path(), Self.delivery, as: "register")
    #expect(try taught.status == 201 && taught.json["origin"].string == "app", "\(taught)")
    let tag = try #require(taught["etag"])
    #expect(try await dev.control("GET", path(), as: "read", headers: ["If-None-Match: \(tag)"]).status == 304)
    #expect(try await dev.control("PUT", path(), #"{"contentState":{}}"#, headers: ["If-Match: \"other\""]).status == 412)
    let present = try await dev.control("PUT", path(), Self.delivery, headers: ["If-None-Match: *"])
    #expect(present.status == 412 && present.text.contains("their ETag is") && present.text.contains("if-none-match"), "\(present)")
    #expect(try await dev.control("DELETE", path(), headers: ["If-None-Match: W/\(tag)"]).status == 412)
    #expect(try await dev.control("PUT", path("New"), Self.delivery, headers: ["If-None-Match: *"]).status == 201)
    #expect(try await dev.control("DELETE", path("New"), headers: ["If-Match: \"zz\", *"]).status == 400)
    #expect(try await dev.control("DELETE", path("New"), headers: ["If-Match: *"]).status == 204)
    let set = try await dev.control("PUT", path(), #"{"contentState":{}}"#, headers: ["If-Match: \"zz\", \(tag)"])
    #expect(try set.status == 200 && set.json["origin"].string == "api", "\(set)")
    #expect(try await dev.control("PUT", path(), Self.delivery, as: "register").status == 409)
    #expect(try await dev.control("PUT", path(), Self.delivery, as: "read").status == 403)
    #expect(try await dev.control("DELETE", path(), as: "register").status == 403)
    let list = try await dev.control("GET", "/v1/apps/com.example.app/schemas", as: "read").json["schemas"].array
    #expect(list.count == 1 && list[0]["attributesType"].string == "DeliveryAttributes", "\(list)")
    let wrong = try await dev.control("PUT", path(), #"{"contentState":{"type":"Date"}}"#)
    #expect(wrong.status == 400 && wrong.text.contains("contentState.type must be one of"), "\(wrong)")
    #expect(try await dev.control("PUT", path(), "{}").status == 400)
    // Below what was set stands what the app brought along.
    #expect(try await dev.control("DELETE", path()).status == 204)
    #expect(try await dev.control("GET", path(), as: "read").json["origin"].string == "app")
    #expect(try await dev.control("DELETE", path()).status == 204)
    #expect(try await dev.control("GET", path(), as: "read").status == 404)
    #expect(try await dev.terminate() == 0)
  }
}
