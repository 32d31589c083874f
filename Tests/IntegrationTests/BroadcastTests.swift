import Foundation
import Testing

/// The whole way of a broadcast: a channel, activities that follow it on the device, and what becomes of them.
@Suite("The whole way of a broadcast", .processes) struct BroadcastTests {
  /// Creates a channel.
  private func channel(_ dev: Deployment, policy: Int) async throws -> String {
    try #require(try await dev.send(.createChannel(policy: policy))["apns-channel-id"])
  }

  /// Starts an activity that follows `channel` on `device`, and returns its id.
  private func follow(_ dev: Deployment, _ channel: String, on device: String) async throws -> String {
    let token = try #require(try dev.credentials()["admin"].string)
    let headers = ["authorization: Bearer \(token)", "content-type: application/json"]
    let ca = dev.state.path("ca.pem")
    _ = try await curl("PUT", "\(dev.url("device"))/v1/devices/\(device)", ca: ca, headers: headers, body: Data("{}".utf8))
    _ = try await curl(
      "POST", "\(dev.url("device"))/v1/devices/\(device)/apps", ca: ca, headers: headers,
      body: Data(#"{"bundleID":"com.example.app"}"#.utf8))
    let started = try await curl(
      "POST", "\(dev.url("device"))/v1/devices/\(device)/activities", ca: ca, headers: headers,
      body: Data(
        #"{"bundleID":"com.example.app","attributesType":"Match","contentState":{"eta":9},"pushType":"channel","channelID":"\#(channel)"}"#
          .utf8))
    #expect(started.status == 201, "\(started)")
    #expect(try started.json["token"].isMissing)
    return try #require(try started.json["id"].string)
  }

  /// An app on the device starts an activity with a channel: one that nobody made, one that was deleted, and one that is there.
  @Test func anActivitysChannelMustBeThere() async throws {
    let dev = try await SharedDev.deployment()
    let deleted = try await channel(dev, policy: 0)
    #expect(try await dev.send(.channels("DELETE", deleted)).status == 204)
    let device = "phone-\(newID())"
    #expect(try await dev.control("PUT", "/v1/devices/\(device)", "{}", face: "device").status == 201)
    let app = #"{"bundleID":"com.example.app"}"#
    #expect(try await dev.control("POST", "/v1/devices/\(device)/apps", app, face: "device").status == 201)
    func start(_ channel: String) async throws -> Answer {
      let body = #"{"bundleID":"com.example.app","attributesType":"Match","pushType":"channel","channelID":"\#(channel)"}"#
      return try await dev.control("POST", "/v1/devices/\(device)/activities?wait=300s", body, face: "device")
    }
    for (channel, why) in [("aMs2y8fFEe8AAPIAM4gHog==", "has no channel"), (deleted, "was deleted")] {
      let refused = try await start(channel)
      #expect(refused.status == 409, "\(refused)")
      let error = try refused.json["error"]
      #expect(error["code"].string == "channelUnknown" && error["field"].string == "channelID")
      #expect(error["message"].string?.contains(why) == true && error["message"].string?.contains(channel) == true, "\(refused)")
      #expect(try await activities(dev, on: device).isEmpty)
    }
    let events = try await dev.control("GET", "/v1/devices/\(device)/events?disposition=ignored", face: "device").json["events"].array
    #expect(events.map { $0["cause"].string } == ["channelUnknown", "channelUnknown"], "\(events)")
    let started = try await start(try await channel(dev, policy: 0))
    #expect(started.status == 201, "\(started)")
    #expect(try started.json["channel"].string == "known")
    #expect(try await activities(dev, on: device).map { $0["channel"].string } == ["known"])
  }

  /// The activities of `device`.
  private func activities(_ dev: Deployment, on device: String) async throws -> [Document] {
    let token = try #require(try dev.credentials()["admin"].string)
    let state = try await curl(
      "GET", "\(dev.url("device"))/v1/devices/\(device)/state", ca: dev.state.path("ca.pem"), headers: ["authorization: Bearer \(token)"])
    return try state.json["apps"].array.flatMap { $0["activities"].array }
  }

  private func eta(_ dev: Deployment, on device: String) async throws -> Int? {
    try await activities(dev, on: device).first?["contentState"]["eta"].int
  }

  @Test func fromTheChannelToTheLateFollower() async throws {
    let dev = try await SharedDev.deployment()
    let channel = try await channel(dev, policy: 1)
    let (early, other, late) = ("phone-\(newID())", "watch-\(newID())", "late-\(newID())")
    _ = try await follow(dev, channel, on: early)
    _ = try await follow(dev, channel, on: other)

    let date = "\(Int(Date().timeIntervalSince1970) + 3600)"
    let id = newID()
    let answer = try await dev.send(.broadcast(to: channel, eta: 4).with("apns-request-id", id).with("apns-expiration", date))
    #expect(answer.status == 200)
    #expect(Set(answer.fields.map(\.name)) == ["apns-request-id", "apns-unique-id"])
    #expect(answer["apns-request-id"] == id)
    #expect(answer.body.isEmpty)
    let unique = try #require(answer["apns-unique-id"])
    #expect(UUID(uuidString: unique) != nil && unique == unique.lowercased())

    let told = try await dev.control("GET", "/v1/pushes/\(id)?wait=20s", as: "read").json
    #expect(told["disposition"].string == "applied", "\(told)")
    #expect(told["cause"].string == "updated")
    #expect(told["channelID"].string == channel)
    #expect(told["activities"]["reached"].int == 2 && told["activities"]["applied"].int == 2)
    #expect(told["steps"].array.compactMap { $0["disposition"].string } == ["forwarding", "applied"])
    for device in [early, other] { #expect(try await eta(dev, on: device) == 4) }

    // Who comes late gets the message that the channel has stored.
    _ = try await follow(dev, channel, on: late)
    try await eventually("the late activity shows the stored message") { try await eta(dev, on: late) == 4 }

    // An end reaches all three; after it nobody follows.
    let end = newID()
    _ = try await dev.send(.broadcast(to: channel, "end", eta: 0, at: Date() + 1).with("apns-request-id", end))
    let ended = try await dev.control("GET", "/v1/pushes/\(end)?wait=20s", as: "read").json
    #expect(ended["cause"].string == "ended" && ended["activities"]["applied"].int == 3, "\(ended)")
    #expect(try await activities(dev, on: late).first?["state"].string == "ended")
    let nobody = newID()
    _ = try await dev.send(.broadcast(to: channel, eta: 1).with("apns-request-id", nobody))
    let ignored = try await dev.control("GET", "/v1/pushes/\(nobody)?wait=20s", as: "read").json
    #expect(ignored["disposition"].string == "ignored" && ignored["cause"].string == "noSubscribers", "\(ignored)")

    #expect(try await dev.send(.channels("DELETE", channel)).status == 204)
    #expect(try await dev.send(.broadcast(to: channel)).text == #"{"reason":"ChannelNotRegistered"}"#)
  }

  @Test func aChannelWithoutStorageHasNothingForWhoComesLate() async throws {
    let dev = try await SharedDev.deployment()
    let channel = try await channel(dev, policy: 0)
    let device = "phone-\(newID())"
    let id = newID()
    _ = try await dev.send(.broadcast(to: channel).with("apns-request-id", id))
    _ = try await dev.control("GET", "/v1/pushes/\(id)?wait=20s", as: "read")
    _ = try await follow(dev, channel, on: device)
    let escaped = channel.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    let message = try await dev.control("GET", "/v1/channels/com.example.app/\(escaped)/message", as: "register")
    #expect(message.status == 404)
    #expect(try await eta(dev, on: device) == 9)
  }

  @Test func broadcastsAreListedAndExplained() async throws {
    // explain --last: no other test's broadcast may be the last.
    let dev = try await Deployment.start(["dev"])
    let (one, two) = (try await channel(dev, policy: 0), try await channel(dev, policy: 0))
    let ids = [newID(), newID(), newID()]
    for (id, channel) in zip(ids, [one, two, one]) { _ = try await dev.send(.broadcast(to: channel).with("apns-request-id", id)) }
    _ = try await dev.control("GET", "/v1/pushes/\(ids[2])?wait=20s", as: "read")
    func listed(_ query: String) async throws -> [String] {
      try await dev.control("GET", "/v1/broadcasts\(query)", as: "read").json["broadcasts"].array.compactMap { $0["id"].string }
    }
    #expect(try await listed("") == ids.reversed())
    let escaped = one.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    #expect(try await listed("?channelID=\(escaped)") == [ids[2], ids[0]])
    let page = try await dev.control("GET", "/v1/broadcasts?limit=2", as: "read").json
    let next = try #require(page["next"].string)
    #expect(try await listed("?limit=2&after=\(next)") == [ids[0]])
    #expect(try await dev.control("GET", "/v1/broadcasts?channelID=x", as: "read").status == 400)
    #expect(try await dev.control("GET", "/v1/broadcasts", as: "register").status == 403)
    for name in ["--last", String(ids[2].prefix(13))] {
      let told = try await run([Deployment.executable, "explain", name, "--state-dir", dev.state.path])
      #expect(told.text.contains("broadcast \(ids[2])"), "\(told)")
    }
    #expect(try await dev.terminate() == 0)
  }

  /// A start push may name a channel in place of a token.
  @Test func aStartPushMayNameAChannel() async throws {
    let dev = try await SharedDev.deployment()
    let channel = try await channel(dev, policy: 1)
    let starter = newToken()
    try await dev.register(starter, RegistrationBody.pushToStart)
    let now = Int(Date().timeIntervalSince1970)
    let start =
      #"{"aps":{"timestamp":\#(now),"event":"start","attributes-type":"Match","attributes":{},"content-state":{"eta":9},"input-push-channel":"\#(channel)","alert":{"title":"Match","body":"Begins"}}}"#
    let started = newID()
    _ = try await dev.send(PushRequest("liveactivity", to: starter, body: start).with("apns-id", started).with("apns-priority", "10"))
    try await dev.settled(started, as: "applied")
    let id = newID()
    _ = try await dev.send(.broadcast(to: channel, eta: 3, at: Date() + 1).with("apns-request-id", id))
    let told = try await dev.control("GET", "/v1/pushes/\(id)?wait=20s", as: "read").json
    #expect(told["activities"]["applied"].int == 1, "\(told)")
  }

  /// Channels and what they have stored survive a kill, and a broadcast that was accepted while the device was away arrives.
  @Test func aKillLosesNothing() async throws {
    let state = try Folder()
    var dev = try await Deployment.start(["dev"], in: state)
    let channel = try await channel(dev, policy: 1)
    let date = "\(Int(Date().timeIntervalSince1970) + 3600)"
    let answer = try await dev.send(.broadcast(to: channel, eta: 4).with("apns-expiration", date))
    #expect(answer.status == 200)
    try await dev.crash()
    dev = try await Deployment.start(["dev"], in: state)
    #expect(try await dev.send(.channels("GET", channel)).text == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    let device = "phone"
    _ = try await follow(dev, channel, on: device)
    try await eventually("the message that was stored before the kill") { try await eta(dev, on: device) == 4 }
    let id = try #require(answer["apns-request-id"])
    let told = try await dev.control("GET", "/v1/pushes/\(id)?wait=20s", as: "read").json
    #expect(["ignored", "applied"].contains(told["disposition"].string ?? ""), "\(told)")
  }
}
