import Control
import DeviceModel
import JSON
import Primitives
import Push
import Testing

@testable import MockDevice

@Suite("The mock device's API") struct DeviceAPITests {
  private let app = DeviceUnderTest.app

  /// A device `phone` with the app.
  private func phone() async throws -> DeviceUnderTest {
    let test = try DeviceUnderTest()
    #expect(try await test.call(.put, "/v1/devices/phone", ["user": "alice"]).status == 201)
    #expect(try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": .string(app)]).status == 201)
    return test
  }

  /// What is declared under such a name could never be placed or started.
  @Test(arguments: [("widgets", "kind"), ("controls", "kind"), ("activities", "attributesType")])
  func aManifestNamesWhatCanBePlaced(list: String, field: String) async throws {
    let test = try await phone()
    defer { test.device.stop() }
    for name in ["", "a/b", "a\u{7}", String(repeating: "a", count: 129)] {
      let answer = try await test.call(.put, "/v1/devices/phone/apps/\(app)", [list: [[field: .string(name)]]])
      #expect(answer.status == 400 && answer.json["error"]?["field"] == .string("\(list)[0].\(field)"), "\(name)")
    }
    #expect(try await test.call(.put, "/v1/devices/phone/apps/\(app)", [list: [[field: "a b"]]]).status == 200)
  }

  @Test func oneAppsEventsAndCountsAreForgotten() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let other = "com.example.other"
    #expect(try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": .string(other)]).status == 201)
    for (bundleID, id) in [(app, "eabeae54-14a8-11e5-b60b-1697f925ec01"), (other, "eabeae54-14a8-11e5-b60b-1697f925ec02")] {
      let widget = try await test.call(.post, "/v1/devices/phone/widgets", ["bundleID": .string(bundleID), "kind": "Orders"])
      let token = try #require(widget.json["token"]?.stringValue)
      #expect(try await test.push(contentChanged, to: token, .widgets, bundleID: bundleID, id: id).status == 200)
    }
    func seen() async throws -> [[JSONValue?]] {
      let apps = try await test.call(.get, "/v1/devices/phone").json["apps"]
      let events = try await test.call(.get, "/v1/events?event=widgetsReloaded").json["events"]?.arrayValue ?? []
      return [[apps?[0]?["widgets"]?[0]?["reloads"], apps?[1]?["widgets"]?[0]?["reloads"]], events.map { $0["bundleID"] }]
    }
    #expect(try await seen() == [[1, 1], [.string(app), .string(other)]])

    for (target, access, status) in [
      ("/v1/reset", "one", 403), ("/v1/reset?bundleID=\(other)", "one", 403), ("/v1/reset?bundleID=\(app)", "read", 403),
      ("/v1/reset?bundleID=a%20b", "admin", 400), ("/v1/reset?app=\(app)", "admin", 400),
    ] {
      #expect(try await test.call(.post, target, access: access).status == status, "\(target)")
    }
    #expect(try await seen() == [[1, 1], [.string(app), .string(other)]])
    let answer = try await test.call(.post, "/v1/reset?bundleID=\(app)", access: "one")
    #expect(answer.status == 200 && answer.json["bundleID"] == .string(app) && (answer.json["events"]?.intValue ?? 0) >= 3)
    #expect(try await seen() == [[0, 1], [.string(other)]])
    #expect(try await test.call(.post, "/v1/reset?bundleID=\(app)").json["events"] == 0)
    #expect(try await test.call(.post, "/v1/reset").status == 200)
    #expect(try await test.call(.get, "/v1/events").json["events"] == [])
    #expect(try await seen() == [[0, 0], []])
  }

  @Test func aPersonsDay() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let widget = try await test.call(
      .post, "/v1/devices/phone/widgets", ["bundleID": .string(app), "kind": "Orders", "family": "systemLarge"])
    #expect(widget.status == 201)
    #expect(widget.json["id"] == "Orders-1")
    #expect(widget.json["registration"] == "none", "no gateway is configured")
    let control = try await test.call(.post, "/v1/devices/phone/controls", ["bundleID": .string(app), "kind": "Lamp", "id": "lamp"])
    let activity = try await test.call(
      .post, "/v1/devices/phone/activities",
      ["bundleID": .string(app), "attributesType": "OrderAttributes", "attributes": ["id": 7], "contentState": ["stage": "packed"]])
    #expect(activity.json["id"] == "OrderAttributes-1")

    let widgetToken = try #require(widget.json["token"]?.stringValue)
    let pushed = try await test.push(contentChanged, to: widgetToken, .widgets)
    #expect(pushed.status == 200)
    #expect(pushed.body.isEmpty)
    #expect(pushed.fields["apns-id"] == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    #expect(pushed.fields["widgetpush-outcome"] == "applied reloaded widget Orders-1")
    let controlToken = try #require(control.json["token"]?.stringValue)
    #expect(
      try await test.push(contentChanged, to: controlToken, .controls).fields["widgetpush-outcome"] == "applied reloaded control lamp")
    let activityToken = try #require(activity.json["token"]?.stringValue)
    let update = #"{"aps":{"timestamp":\#(test.clock.now.unixSeconds),"event":"update","content-state":{"stage":"sent"}}}"#
    #expect(
      try await test.push(update, to: activityToken, .liveactivity).fields["widgetpush-outcome"]
        == "applied updated activity OrderAttributes-1; no schema is known for OrderAttributes, so its content-state was not checked")

    let state = try await test.call(.get, "/v1/devices/phone/state", access: "read").json
    #expect(state["user"] == "alice")
    #expect(state["apps"]?[0]?["widgets"]?[0]?["reloads"] == 1)
    #expect(state["apps"]?[0]?["activities"]?[0]?["contentState"] == ["stage": "sent"])
    #expect(try await test.call(.get, "/v1/devices/\(widgetToken)/state").json["device"] == "phone", "a device is also known by its tokens")

    #expect(try await test.call(.delete, "/v1/devices/phone/activities/OrderAttributes-1").status == 204)
    #expect(
      try await test.push(update, to: activityToken, .liveactivity).fields["widgetpush-outcome"]?.hasPrefix("ignored activityEnded") == true
    )
    #expect(try await test.call(.delete, "/v1/devices/phone/controls/lamp").status == 204)
    #expect(try await test.call(.delete, "/v1/devices/phone/widgets/Orders-1").status == 204)
    #expect(try await test.call(.delete, "/v1/devices/phone/apps/\(app)").status == 204)
    let gone = try await test.push(contentChanged, to: widgetToken, .widgets)
    #expect(gone.status == 410)
    let body = try JSONValue.parse(gone.body)
    #expect(body["reason"] == "Unregistered")
    #expect(body["timestamp"]?.intValue.map { abs($0 - test.clock.now.unixMilliseconds) < 60_000 } == true)
    #expect(try await test.call(.delete, "/v1/devices/phone?forget").status == 204)
    #expect(try await test.call(.get, "/v1/devices").json["devices"] == [])
  }

  /// Rows: what is sent, the status, the code, the field.
  /// Installing an app that is there says nothing about its manifest, and takes none away.
  @Test func anAppThatIsInstalledKeepsItsManifest() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    #expect(try await test.call(.put, "/v1/devices/phone", [:]).status == 201)
    let app: JSONValue = ["bundleID": "com.example.other", "manifest": ["widgets": [["kind": "Steps", "families": ["systemSmall"]]]]]
    #expect(try await test.call(.post, "/v1/devices/phone/apps", app).status == 201)
    let again = try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": "com.example.other"])
    #expect(again.status == 200)
    let widget: JSONValue = ["bundleID": "com.example.other", "kind": "Stepz", "family": "systemSmall"]
    #expect(try await test.call(.post, "/v1/devices/phone/widgets", widget).status == 400, "the kinds are still declared")
  }

  @Test(arguments: [
    ("POST", "/v1/devices/phone/widgets", #"{"kind":"Orders"}"#, 400, "invalidField", "bundleID"),
    ("POST", "/v1/devices/phone/widgets", #"{"bundleID":"com.example.app","knd":"Orders"}"#, 400, "invalidField", "kind"),
    ("POST", "/v1/devices/phone/widgets", #"{"bundleID":"com.example.app","kind":"O","family":"small"}"#, 400, "invalidField", "family"),
    ("POST", "/v1/devices/phone/widgets", #"{"bundleID":"com.example.ap","kind":"O"}"#, 404, "notFound", "bundleID"),
    ("POST", "/v1/devices/fone/widgets", #"{"bundleID":"com.example.app","kind":"O"}"#, 404, "notFound", "device"),
    ("POST", "/v1/devices/phone/widgets", "{", 400, "invalidJSON", "body"),
    ("POST", "/v1/devices/phone/widgets?wate=1s", #"{"bundleID":"com.example.app","kind":"O"}"#, 400, "badRequest", "wate"),
    ("DELETE", "/v1/devices/phone/widgets/x", "", 404, "notFound", "id"),
    ("DELETE", "/v1/devices/phone/apps/x", "", 404, "notFound", "bundleID"),
    ("POST", "/v1/devices/phone/apps", #"{"bundleID":"a b"}"#, 400, "invalid", "bundleID"),
    ("PUT", "/v1/devices/tablet", #"{"platform":"Android"}"#, 400, "invalidField", "platform"),
    ("POST", "/v1/devices/phone/activities", #"{"bundleID":"com.example.app"}"#, 400, "invalidField", "attributesType"),
    ("POST", "/v1/devices/phone/rotate", #"{"type":"widget"}"#, 400, "invalidField", "type"),
    ("POST", "/v1/devices/phone/rotate", #"{"id":"nothing"}"#, 404, "notFound", ""),
    ("PUT", "/v1/devices/phone", #"{"environment":"sandbox"}"#, 400, "invalidField", "environment"),
    ("GET", "/v1/devices/nothing/state", "", 404, "notFound", "device"),
    ("GET", "/v1/devices/phone/events?after=x", "", 400, "badRequest", "after"),
    ("GET", "/v1/devices/phone/events?event=reload", "", 400, "badRequest", "event"),
    ("GET", "/v1/device", "", 404, "unknownRoute", "path"),
    ("PATCH", "/v1/devices/phone", "", 405, "methodNotAllowed", "method"),
  ])
  func mistakesAreNamed(method: String, target: String, body: String, status: Int, code: String, field: String) async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let request = try HTTPRequest(
      method: HTTPMethod(method), target: target, fields: ["authorization": "Bearer admin"], body: Array(body.utf8))
    let response = await test.device.respond(to: request)
    let json = try JSONValue.parse(response.body)
    #expect(response.status == status, "\(json)")
    #expect(json["error"]?["code"]?.stringValue == code)
    #expect(json["error"]?["field"]?.stringValue ?? "" == field, "\(json)")
    #expect(json["error"]?["message"]?.stringValue?.isEmpty == false)
  }

  @Test func accessTokensDecide() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    #expect(try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": "com.example.other"]).status == 201)
    #expect(try await test.call(.get, "/v1/devices", access: nil).status == 401)
    #expect(try await test.call(.get, "/v1/devices", access: "wrong").status == 401)
    #expect(try await test.call(.get, "/v1/devices", access: "read").status == 200)
    #expect(try await test.call(.put, "/v1/devices/phone", access: "read").status == 403)
    // A token of one app sees nothing of another, and changes nothing of it.
    let seen = try await test.call(.get, "/v1/devices/phone/state", access: "one").json
    #expect(seen["apps"]?.arrayValue?.map { $0["bundleID"] } == [.string(app)])
    let events = try await test.call(.get, "/v1/devices/phone/events", access: "one").json["events"]?.arrayValue ?? []
    #expect(!events.isEmpty && events.allSatisfy { $0["bundleID"]?.stringValue == app })
    #expect(
      try await test.call(.post, "/v1/devices/phone/widgets", ["bundleID": "com.example.other", "kind": "O"], access: "one").status == 403)
    #expect(
      try await test.call(.post, "/v1/devices/phone/widgets", ["bundleID": "com.example.other", "kind": "O", "id": "o"]).status == 201)
    // Neither what another app has nor that it has it: its ids are its own.
    for item in ["widgets", "controls", "activities"] {
      let (foreign, absent) = (
        try await test.call(.delete, "/v1/devices/phone/\(item)/o", access: "one"),
        try await test.call(.delete, "/v1/devices/phone/\(item)/q", access: "one")
      )
      #expect(foreign.status == 404 && absent.status == 404)
      #expect(
        foreign.json["error"]?["message"]?.stringValue == "phone has no \(item == "activities" ? "activity" : String(item.dropLast())) o")
      #expect(absent.json["error"]?["message"]?.stringValue?.hasSuffix(" q") == true)
    }
    let own: JSONValue = ["bundleID": .string(app), "kind": "O", "id": "o"]
    let placed = try await test.call(.post, "/v1/devices/phone/widgets", own, access: "one")
    #expect(placed.status == 201 && placed.json["id"] == "o")
    #expect(try await test.call(.delete, "/v1/devices/phone/widgets/o", access: "one").status == 204)
    let left = try await test.call(.get, "/v1/devices/phone").json["apps"]?.arrayValue
    #expect(left?.contains { $0["widgets"]?.arrayValue?.contains { $0["id"] == "o" } == true } == true, "the other app's is there still")
    // Whose a device is, is told to those who have an app on it.
    #expect(try await test.call(.put, "/v1/devices/desk", ["user": "alice"]).status == 201)
    #expect(try await test.call(.post, "/v1/devices/desk/apps", ["bundleID": "com.example.other"]).status == 201)
    let (hidden, none) = (
      try await test.call(.get, "/v1/devices/desk", access: "one"), try await test.call(.get, "/v1/devices/desc", access: "one")
    )
    #expect(hidden.status == 404 && none.status == 404)
    #expect(hidden.json["error"]?["message"] == "there is no device desk" && none.json["error"]?["message"] == "there is no device desc")
    #expect(try await test.call(.delete, "/v1/devices/phone", access: "one").status == 403)
    #expect(try await test.call(.post, "/v1/devices/phone/rotate", access: "one").status == 403)
    #expect(try await test.call(.post, "/v1/devices/phone/rotate", ["bundleID": .string(app)], access: "one").status == 200)
    for path in ["/livez", "/readyz", "/version"] { #expect(try await test.call(.get, path, access: nil).status == 200) }
  }

  @Test func waitingForEvents() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let token = "00ab"
    async let waiting = test.call(.get, "/v1/devices/\(token)/events?event=widgetsReloaded&wait=30s&count=2")
    for _ in 0..<2 { #expect(try await test.push(contentChanged, to: token, .widgets).status == 200) }
    let found = try await waiting.json
    #expect(found["complete"] == true)
    #expect(found["matched"] == 2)
    #expect(found["events"]?[1]?["push"] == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    let next = try #require(found["next"]?.intValue)
    let late = try await test.call(.get, "/v1/devices/\(token)/events?after=\(next)&wait=20ms").json
    #expect(late["complete"] == false)
    #expect(late["matched"] == 0)
    #expect(
      try await test.call(.get, "/v1/events?disposition=applied&push=EABEAE54-14A8-11E5-B60B-1697F925EC7B").json["events"]?.arrayValue?
        .count == 2)
    #expect(try await test.call(.get, "/v1/devices?limit=1").json["next"]?.stringValue != nil)
  }

  @Test func activitiesEndWhenTheirTimeHasCome() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    _ = try await test.call(.post, "/v1/devices/phone/activities", ["bundleID": .string(app), "attributesType": "T"])
    async let ended = test.call(.get, "/v1/devices/phone/events?event=activityEnded&wait=30s")
    test.clock.advance(.seconds(8 * 3600 + 1))
    #expect(try await ended.json["complete"] == true)
    #expect(try await test.call(.get, "/v1/devices/phone/state").json["apps"]?[0]?["activities"]?[0]?["state"] == "ended")
  }

  @Test func devicesAreListedInPages() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    for name in ["b", "a", "c"] { _ = try await test.call(.put, "/v1/devices/\(name)") }
    _ = try await test.push(contentChanged, to: "00ff", .widgets)
    var names: [String] = []
    var target = "/v1/devices?limit=2"
    while true {
      let page = try await test.call(.get, target).json
      let list = try #require(page["devices"]?.arrayValue)
      #expect(list.count <= 2)
      names += list.compactMap { $0["device"]?.stringValue }
      guard let next = page["next"]?.stringValue else { break }
      target = "/v1/devices?limit=2&after=\(next)"
    }
    #expect(names == ["00ff", "a", "b", "c", "phone"])
  }

  /// A page ends with the app that goes beyond its bytes, and the next begins behind it, whatever has become of that one.
  @Test func aDevicesStateIsBoundedInBytes() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let properties = JSONObject((0..<400).map { ("p\($0)" + String(repeating: "x", count: 80), ["type": "integer"]) })
    let types = (0..<18).map { number -> JSONValue in
      ["attributesType": .string("T\(number)"), "contentState": ["type": "object", "properties": .object(properties)]]
    }
    let apps = (0..<6).map { "com.example.app\($0)" }
    for app in apps {
      #expect(try await test.call(.put, "/v1/devices/phone/apps/\(app)", ["activities": .array(types)]).status == 201)
    }
    func page(_ after: String?) async throws -> (apps: [String], next: String?, bytes: Int) {
      let answer = try await test.call(.get, "/v1/devices/phone" + (after.map { "?after=\($0)" } ?? ""), access: "read")
      #expect(answer.status == 200 && answer.json["device"] == "phone" && answer.json["user"] == "alice")
      let apps = answer.json["apps"]?.arrayValue?.compactMap { $0["bundleID"]?.stringValue } ?? []
      return (apps, answer.json["next"]?.stringValue, answer.json.serialized().utf8.count)
    }
    var (seen, next, pages): ([String], String?, Int) = ([], nil, 0)
    repeat {
      let page = try await page(next)
      #expect(page.bytes < Limits.pageBytes + (2 << 20), "one app more than fits")
      (seen, next, pages) = (seen + page.apps, page.next, pages + 1)
    } while next != nil && pages < 10
    #expect(seen == [app] + apps && pages > 1)
    let first = try await page(nil)
    let last = try #require(first.apps.last)
    #expect(try await test.call(.delete, "/v1/devices/phone/apps/\(last)").status == 204)
    #expect(try await page(first.next).apps.first == seen[first.apps.count])
    #expect(try await test.call(.get, "/v1/devices/phone?after=x").status == 400)
  }

  /// What one activity holds is bounded as ActivityKit bounds it.
  @Test func anActivitysContentIsBounded() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    func start(_ count: Int) async throws -> (status: Int, json: JSONValue) {
      let text = JSONValue.string(String(repeating: "x", count: count))
      return try await test.call(
        .post, "/v1/devices/phone/activities",
        ["bundleID": .string(app), "attributesType": "Ride", "attributes": ["a": text], "contentState": ["b": 1]])
    }
    // {"a":"…"} and {"b":1}
    let most = Limits.activityBytes - 8 - 7
    #expect(try await start(most).status == 201)
    let refused = try await start(most + 1)
    #expect(refused.status == 400 && refused.json["error"]?["field"] == "attributes")
    #expect(refused.json["error"]?["message"]?.stringValue?.contains("4097 bytes as JSON, and ActivityKit takes 4096") == true)
  }

  /// One app's token waits as often as its share goes; who sees all apps waits as before.
  @Test func waitsAreShared() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let share = Limits.deviceWaiters / Limits.shareOfApp
    let grant = Grant(name: "one", scopes: [.read], bundleIDs: [app])
    #expect(try await test.call(.get, "/v1/events?event=activityEnded&wait=1ms", access: "one").json["complete"] == false)
    let taken = try (0..<share).map { _ in try test.device.door.waits.take(grant) }
    let refused = try await test.call(.get, "/v1/events?event=activityEnded&wait=1ms", access: "one")
    #expect(refused.status == 429 && refused.json["error"]?["code"] == "shareUsedUp", "\(refused.json)")
    #expect(refused.json["error"]?["message"]?.stringValue?.hasPrefix("the app \"\(app)\" has its share of calls that wait") == true)
    #expect(try await test.call(.get, "/v1/events?event=activityEnded&wait=1ms").json["complete"] == false)
    withExtendedLifetime(taken) {}
  }

  @Test func nobodyWaitsForEverForADeviceThatStopped() async throws {
    let test = try await phone()
    async let waiting = test.call(.get, "/v1/events?after=1000&wait=300s")
    try await test.untilSomebodyWaits()
    test.device.stop()
    #expect(try await test.call(.get, "/v1/devices").status == 503)
    #expect(try await test.call(.get, "/readyz", access: nil).status == 503)
    #expect(try await waiting.status == 503)
  }
}
