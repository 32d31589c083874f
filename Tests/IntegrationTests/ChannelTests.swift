import Foundation
import Testing

/// Channel management as a backend sees it: curl, the provider API, Apple's paths.
@Suite("Channels", .processes) struct ChannelTests {
  @Test func aChannelIsCreatedReadListedAndDeleted() async throws {
    let dev = try await SharedDev.deployment()
    let requestID = newID()
    let created = try await dev.send(.createChannel(policy: 1).with("apns-request-id", requestID))
    #expect(created.status == 201)
    #expect(Set(created.fields.map(\.name)) == ["apns-request-id", "apns-channel-id"])
    #expect(created["apns-request-id"] == requestID)
    #expect(created.body.isEmpty)
    let id = try #require(created["apns-channel-id"])
    #expect(Data(base64Encoded: id)?.count == 16)

    let read = try await dev.send(.channels("GET", id))
    #expect(read.status == 200)
    #expect(read.text == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    #expect(UUID(uuidString: read["apns-request-id"] ?? "") != nil)
    #expect(read["apns-id"] == nil)

    let list = try await dev.send(.allChannels)
    #expect(list.status == 200)
    #expect(try list.json["channels"].array.compactMap(\.string).contains(id))
    // Each environment has channels of its own; a name that says nothing is that of the key, else development.
    let elsewhere = try await dev.send(.allChannels, toServer: "api-manage-broadcast.push.apple.com")
    #expect(elsewhere.status == 200)
    #expect(try elsewhere.json["channels"].array.compactMap(\.string).contains(id) == false)
    let here = try await dev.send(.allChannels, toServer: "api-manage-broadcast.sandbox.push.apple.com")
    #expect(try here.json["channels"].array.compactMap(\.string).contains(id))

    let deleted = try await dev.send(.channels("DELETE", id))
    #expect(deleted.status == 204)
    #expect(deleted.body.isEmpty)
    for method in ["DELETE", "GET"] {
      let again = try await dev.send(.channels(method, id))
      #expect(again.status == 404 && again.text == #"{"reason":"BadPath"}"#)
    }
    let broadcast = try await dev.send(.broadcast(to: id))
    #expect(broadcast.status == 400 && broadcast.text == #"{"reason":"ChannelNotRegistered"}"#)
  }

  /// As many as there may be, made as fast as curl can, and all of them in one list.
  @Test func thereAreTenThousandAndNoMore() async throws {
    let dev = try await Deployment.start(["dev"])
    let path = "/1/apps/com.example.app/channels"
    let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
    let made = try await run(
      [
        "curl", "-sS", "--http2", "--cacert", dev.state.path("ca.pem"), "--parallel", "--parallel-max", "200", "-o", "/dev/null", "-w",
        "%{http_code}\n", "-H", "authorization: bearer \(ProviderToken.of(dev))", "-d", body, "\(dev.url("provider"))\(path)?[1-10001]",
      ], within: .seconds(60))
    let statuses = made.text.split(separator: "\n")
    #expect(statuses.count { $0 == "201" } == 10_000 && statuses.count { $0 == "400" } == 1, "\(Set(statuses)) \(made.standardError)")
    #expect(try await dev.send(.createChannel(policy: 1)).text == #"{"reason":"CannotCreateChannelConfig"}"#)
    let ids = try await dev.send(.allChannels).json["channels"].array.compactMap(\.string)
    #expect(Set(ids).count == 10_000)
    #expect(try await dev.send(.channels("DELETE", ids[5000])).status == 204)
    #expect(try await dev.send(.createChannel(policy: 1)).status == 201)
  }

  /// APNSwift, told by its `user-agent`, decodes a body; the path and header are the same for all.
  @Test func aLibraryThatReadsABodyGetsOne() async throws {
    let dev = try await SharedDev.deployment()
    let created = try await dev.send(.createChannel(policy: 0).with("user-agent", "APNS/swift-nio"))
    #expect(created.status == 201)
    #expect(created["apns-channel-id"] != nil)
    #expect(created.text == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
  }

  /// node-apn sends `apns-priority` with every call and the push type in lower case.
  @Test func whatIsNoConcernOfACallIsIgnored() async throws {
    let dev = try await SharedDev.deployment()
    let created = try await dev.send(
      PushRequest.createChannel(policy: 1).body(#"{"message-storage-policy":1,"push-type":"liveactivity"}"#).with("apns-priority", "10"))
    #expect(created.status == 201)
  }

  @Test func refusalsHaveApplesForm() async throws {
    let dev = try await SharedDev.deployment()
    let id = try #require(try await dev.send(.createChannel(policy: 0))["apns-channel-id"])
    let rows: [(status: Int, reason: String, request: PushRequest)] = [
      (400, "MissingChannelId", .broadcast(to: id).with("apns-channel-id", nil)),
      (400, "BadChannelId", .broadcast(to: "AAAAAAAAEe8AAPIAM4gHog==")),
      (400, "BadExpirationDate", .broadcast(to: id).with("apns-expiration", nil)),
      (400, "BadExpirationDate", .broadcast(to: id).with("apns-expiration", "\(Int(Date().timeIntervalSince1970) + 600)")),
      (400, "MissingPushType", .broadcast(to: id).with("apns-push-type", nil)),
      (400, "InvalidPushType", .broadcast(to: id).with("apns-push-type", "alert")),
      (400, "TopicDisallowed", .broadcast(to: id).at("/4/broadcasts/apps/com.example.app.push-type.liveactivity")),
      (400, "PayloadEmpty", .broadcast(to: id).body(nil)),
      (413, "PayloadTooLarge", .broadcast(to: id).body(String(repeating: " ", count: 5121))),
      (400, "BadRequestParams", .createChannel(policy: 2)), (400, "BadRequestPayload", .createChannel(policy: 1).body("{")),
      (403, "TopicMismatch", PushRequest.allChannels.at("/1/apps/com.example.stranger/all-channels")),
      (403, "MissingProviderToken", PushRequest.allChannels.with("authorization", nil)),
      (404, "BadPath", PushRequest.allChannels.at("/1/apps/com.example.app/channels/\(id)")),
      (405, "MethodNotAllowed", .broadcast(to: id).method("GET").body(nil)),
    ]
    for row in rows {
      let answer = try await dev.send(row.request)
      #expect(answer.status == row.status && answer.text == #"{"reason":"\#(row.reason)"}"#, "\(row.reason): \(answer)")
      #expect(answer.fields.map(\.name) == ["content-type", "apns-request-id"], "\(row.reason): \(answer)")
    }
  }
}

extension PushRequest {
  private init(_ method: String, _ path: String, _ fields: [(name: String, value: String?)], body: String? = nil) {
    self = PushRequest("liveactivity", to: "", body: body ?? "")
    (self.method, self.path, self.fields, self.body) = (method, path, fields, body)
  }

  /// `POST /1/apps/com.example.app/channels`.
  static func createChannel(policy: Int) -> PushRequest {
    PushRequest(
      "POST", "/1/apps/com.example.app/channels", [], body: #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
  }

  /// `GET` or `DELETE /1/apps/com.example.app/channels`.
  static func channels(_ method: String, _ id: String) -> PushRequest {
    PushRequest(method, "/1/apps/com.example.app/channels", [("apns-channel-id", id)])
  }

  /// `GET /1/apps/com.example.app/all-channels`.
  static var allChannels: PushRequest { PushRequest("GET", "/1/apps/com.example.app/all-channels", []) }

  /// `POST /4/broadcasts/apps/com.example.app`.
  static func broadcast(to channel: String, _ event: String = "update", eta: Int = 4, at time: Date = Date()) -> PushRequest {
    PushRequest(
      "POST", "/4/broadcasts/apps/com.example.app",
      [("apns-channel-id", channel), ("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "10")],
      body: #"{"aps":{"timestamp":\#(Int(time.timeIntervalSince1970)),"event":"\#(event)","content-state":{"eta":\#(eta)}}}"#)
  }
}

extension Deployment {
  /// Sends a request under another server name, as one of Apple's hosts.
  func send(_ request: PushRequest, toServer name: String) async throws -> Answer {
    var request = request
    let port = try port("provider")
    request.options += ["-k", "--resolve", "\(name):\(port):127.0.0.1"]
    return try await send(request, at: "https://\(name):\(port)")
  }
}
