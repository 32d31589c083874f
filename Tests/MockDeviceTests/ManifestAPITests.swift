import Control
import JSON
import Primitives
import Push
import Testing

@testable import MockDevice

/// What is left out of a change of an app's manifest: it stays, or the answer says that it went.
@Suite("The mock device's API: manifests") struct ManifestAPITests {
  private static let app = DeviceUnderTest.app
  private static let target = "/v1/devices/phone/apps/\(app)"

  private static let manifest: JSONValue = [
    "widgets": [["kind": "Steps", "families": ["systemSmall"]], ["kind": "Score", "push": false]], "controls": [["kind": "Lamp"]],
    "activities": [
      ["attributesType": "Ride", "contentState": ["required": ["stops"], "properties": ["stops": ["type": "integer"]]]],
      ["attributesType": "Game", "contentState": ["type": "object"]],
    ],
    "pushes": ["voip", "location"], "frequentUpdates": true,
  ]

  /// A device `phone` whose app declares all of it.
  private func phone() async throws -> DeviceUnderTest {
    let test = try DeviceUnderTest()
    #expect(try await test.call(.put, "/v1/devices/phone").status == 201)
    let made = try await test.call(.put, Self.target, Self.manifest)
    #expect(made.status == 201 && made.json["dropped"] == [], "\(made)")
    return test
  }

  /// What may be placed or started tells what is still declared.
  private func isDeclared(_ list: String, _ name: String, in test: DeviceUnderTest) async throws -> Bool {
    let field = list == "activities" ? "attributesType" : "kind"
    var body: JSONObject = ["bundleID": .string(Self.app), field: .string(name)]
    if list == "activities" { body["contentState"] = ["stops": 1] }
    let made = try await test.call(.post, "/v1/devices/phone/\(list)", .object(body))
    guard made.status == 201 else { return false }
    let id = try #require(made.json["id"]?.stringValue)
    #expect(try await test.call(.delete, "/v1/devices/phone/\(list)/\(id)").status == 204)
    return true
  }

  private func kinds(in test: DeviceUnderTest) async throws -> [JSONValue?] {
    try await test.call(.get, "/v1/devices/phone").json["apps"]?[0]?["pushes"]?.arrayValue?.map { $0["type"] } ?? []
  }

  @Test func aPutTellsWhatItDropped() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let put = try await test.call(
      .put, Self.target,
      ["activities": [["attributesType": "Ride"]], "widgets": [["kind": "Steps"], ["kind": "Score"]], "pushes": ["voip"]])
    #expect(put.status == 200)
    #expect(
      put.json["dropped"] == [
        "activities.Game", "activities.Ride.contentState", "controls.Lamp", "pushes.location", "widgets.Score.push",
        "widgets.Steps.families",
      ], "\(put)")
    #expect(try await !isDeclared("activities", "Game", in: test))
    #expect(try await test.call(.put, Self.target, [:]).json["dropped"]?.arrayValue?.count == 4)
    // Installing it with another manifest is the same.
    #expect(
      try await test.call(
        .post, "/v1/devices/phone/apps", ["bundleID": .string(Self.app), "manifest": ["controls": [["kind": "Lamp"]]]]
      ).json["dropped"] == [])
    #expect(
      try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": .string(Self.app), "manifest": [:]]).json["dropped"]
        == ["controls.Lamp"])
  }

  @Test func aPatchLeavesWhatItDoesNotName() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let patched = try await test.call(
      .patch, Self.target, ["widgets": [["kind": "Steps"], ["kind": "Score", "push": false], ["kind": "New"]]])
    #expect(patched.status == 200 && patched.json["dropped"] == ["widgets.Steps.families"], "\(patched)")
    #expect(patched.json["frequentUpdates"] == true)
    for (list, name, isThere) in [
      ("widgets", "New", true), ("widgets", "Other", false), ("controls", "Lamp", true), ("controls", "Other", false),
      ("activities", "Ride", true), ("activities", "Game", true), ("activities", "Other", false),
    ] { #expect(try await isDeclared(list, name, in: test) == isThere, "\(list) \(name)") }
    #expect(try await kinds(in: test) == ["voip", "location"])

    // A family that goes from the list of a widget's is named by itself.
    let families: JSONValue = [["kind": "Steps", "families": ["systemSmall", "systemLarge"]], ["kind": "Score", "push": false]]
    #expect(try await test.call(.patch, Self.target, ["widgets": families]).json["dropped"] == ["widgets.New"])
    let fewer = try await test.call(.patch, Self.target, ["widgets": [["kind": "Steps", "families": ["systemLarge"]], ["kind": "Score"]]])
    #expect(fewer.json["dropped"] == ["widgets.Score.push", "widgets.Steps.families.systemSmall"], "\(fewer)")

    // A list is replaced as a whole, and null takes it back.
    let less = try await test.call(
      .patch, Self.target, ["activities": [["attributesType": "Ride"]], "controls": nil, "frequentUpdates": nil])
    #expect(
      less.json["dropped"] == ["activities.Game", "activities.Ride.contentState", "controls.Lamp", "frequentUpdates"], "\(less)")
    #expect(less.json["frequentUpdates"] == false)
    #expect(try await isDeclared("controls", "Other", in: test), "nothing is declared, so any is taken")
    _ = try await test.call(.patch, Self.target, ["frequentUpdates": true])
    let off = try await test.call(.patch, Self.target, ["frequentUpdates": false])
    #expect(off.json["frequentUpdates"] == false && off.json["dropped"] == [], "who says false means it: \(off)")
  }

  /// The same of a device's own settings.
  @Test func aDeviceTellsWhichSettingsItDropped() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    let target = "/v1/devices/watch"
    let made = try await test.call(.put, target, ["platform": "watchOS", "user": "alice", "developerMode": true])
    #expect(made.status == 201 && made.json["dropped"] == [], "\(made)")
    let same = try await test.call(.put, target)
    #expect(same.status == 200 && same.json["dropped"] == [] && same.json["user"] == "alice", "\(same)")
    let less = try await test.call(.put, target, ["platform": "watchOS", "developerMode": false, "user": nil])
    #expect(less.json["dropped"] == ["user"] && less.json["user"] == nil, "\(less)")
    #expect(try await test.call(.put, target, [:]).json["dropped"] == ["platform"])
    #expect(try await test.call(.get, target).json["dropped"] == nil)
  }

  /// A person's switch is not touched by an update that does not mention it; to change it ends all activities, as on iOS.
  @Test(arguments: ["PUT", "PUT without a body", "PUT null", "POST", "POST without a manifest", "PATCH", "PUT false", "PATCH null"])
  func runningActivitiesOutliveWhatDoesNotMentionTheSwitch(way: String) async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let started = try await test.call(
      .post, "/v1/devices/phone/activities",
      ["bundleID": .string(Self.app), "attributesType": "Ride", "contentState": ["stops": 3]])
    #expect(started.status == 201, "\(started)")
    let types: JSONValue = [["attributesType": "Ride"]]
    let answer =
      switch way {
      case "PUT": try await test.call(.put, Self.target, ["activities": types])
      case "PUT without a body": try await test.call(.put, Self.target)
      case "PUT null": try await test.call(.put, Self.target, ["activities": types, "frequentUpdates": nil])
      case "POST":
        try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": .string(Self.app), "manifest": ["activities": types]])
      case "POST without a manifest": try await test.call(.post, "/v1/devices/phone/apps", ["bundleID": .string(Self.app)])
      case "PATCH": try await test.call(.patch, Self.target, ["activities": types])
      case "PATCH null": try await test.call(.patch, Self.target, ["frequentUpdates": nil])
      default: try await test.call(.put, Self.target, ["activities": types, "frequentUpdates": false])
      }
    let isMentioned = way == "PUT false" || way == "PATCH null"
    #expect(answer.status == 200 && answer.json["frequentUpdates"] == .bool(!isMentioned), "\(answer)")
    #expect(answer.json["activities"]?[0]?["state"] == (isMentioned ? "ended" : "active"), "\(answer)")
    if way.contains("without") { #expect(answer.json["dropped"] == []) }
  }

  /// An app that is there for a token alone keeps what its token stands for.
  @Test func anAppThatATokenBroughtIsPatchedToo() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    #expect(try await test.push(#"{"aps":{"alert":"x"}}"#, to: "00cd", .voip).status == 200)
    func voip() async throws -> JSONValue? { try await test.call(.get, "/v1/devices/00cd").json["apps"]?[0]?["pushes"] }
    let before = try await voip()
    #expect(before?[0]?["type"] == "voip" && before?[0]?["token"] == "00cd", "\(before ?? nil)")
    let patched = try await test.call(.patch, "/v1/devices/00cd/apps/\(Self.app)", ["controls": [["kind": "Lamp"]]])
    #expect(patched.status == 200 && patched.json["dropped"] == [], "\(patched)")
    #expect(try await voip()?.arrayValue?.contains { $0["token"] == "00cd" } == true)
  }

  @Test(arguments: [
    (#"{"widget":null}"#, 400, "widget"), (#"{"frequentUpdates":1}"#, 400, "frequentUpdates"),
    (#"{"widgets":[{"kind":""}]}"#, 400, "widgets[0].kind"), ("[]", 400, "body"), ("", 400, "body"), ("{", 400, "body"),
  ]) func aPatchNamesItsMistakeAndChangesNothing(body: String, status: Int, field: String) async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let request = try HTTPRequest(
      method: .patch, target: Self.target, fields: ["authorization": "Bearer admin"], body: Array(body.utf8))
    let response = await test.device.respond(to: request)
    let json = try JSONValue.parse(response.body)
    #expect(response.status == status && json["error"]?["field"] == .string(field), "\(json)")
    #expect(try await isDeclared("controls", "Lamp", in: test))
    #expect(try await !isDeclared("controls", "Other", in: test))
  }

  /// Nobody's change is lost to another's that is made at the same time.
  @Test func patchesAtOnceAreAllKept() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    let parts: JSONObject = [
      "widgets": [["kind": "Steps"]], "controls": [["kind": "Lamp"]], "activities": [["attributesType": "Ride"]], "pushes": ["voip"],
      "frequentUpdates": true,
    ]
    for round in 0..<20 {
      let phone = "/v1/devices/phone\(round)"
      #expect(try await test.call(.put, phone).status == 201)
      #expect(try await test.call(.put, "\(phone)/apps/\(Self.app)").status == 201)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for (key, value) in parts {
          group.addTask { try await test.call(.patch, "\(phone)/apps/\(Self.app)", .object([key: value])).status }
        }
        for try await status in group { #expect(status == 200) }
      }
      let dropped = try await test.call(.put, "\(phone)/apps/\(Self.app)", ["frequentUpdates": true])
      #expect(dropped.json["dropped"] == ["activities.Ride", "controls.Lamp", "pushes.voip", "widgets.Steps"], "\(dropped)")
    }
  }

  /// A device goes by any of its tokens, even by one that goes with the change.
  @Test func aDeviceNamedByATokenTellsWhatItDropped() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    let pushes = try await test.call(.get, "/v1/devices/phone").json["apps"]?[0]?["pushes"]
    let token = try #require(pushes?.arrayValue?.first { $0["type"] == "voip" }?["token"]?.stringValue)
    let target = "/v1/devices/\(token)/apps/\(Self.app)"
    let patched = try await test.call(.patch, target, ["controls": nil])
    #expect(patched.status == 200 && patched.json["dropped"] == ["controls.Lamp"], "\(patched)")
    let put = try await test.call(.put, target, ["widgets": [["kind": "Steps", "families": ["systemSmall"]]]])
    #expect(put.status == 200 && put.json["bundleID"] == .string(Self.app), "\(put)")
    #expect(put.json["dropped"] == ["activities.Game", "activities.Ride", "pushes.location", "pushes.voip", "widgets.Score"], "\(put)")
    let settings = try #require(put.json["app"]?["token"]?.stringValue)
    _ = try await test.call(.put, "/v1/devices/\(settings)", ["user": "alice"])
    #expect(try await test.call(.put, "/v1/devices/\(settings)", [:]).json["dropped"] == ["user"])
  }

  @Test func whoMayPatchAndWhat() async throws {
    let test = try await phone()
    defer { test.device.stop() }
    #expect(try await test.call(.patch, Self.target, [:], access: "read").status == 403)
    #expect(try await test.call(.patch, Self.target, [:], access: "one").status == 200)
    #expect(try await test.call(.patch, "/v1/devices/phone/apps/com.example.other", [:], access: "one").status == 403)
    #expect(try await test.call(.patch, "/v1/devices/fone/apps/\(Self.app)", [:]).status == 404)
  }

  /// A misspelt bundle id installs nothing, and is told the nearest that the caller may see.
  @Test func aPatchInstallsNothing() async throws {
    let test = try DeviceUnderTest()
    defer { test.device.stop() }
    #expect(try await test.call(.put, "/v1/devices/phone").status == 201)
    #expect(try await test.call(.put, "/v1/devices/phone/apps/com.example.apple").status == 201)
    for body in [["frequentUpdates": true], [:]] as [JSONValue] {
      let unknown = try await test.call(.patch, Self.target, body)
      #expect(unknown.status == 404 && "\(unknown)".contains("did you mean com.example.apple?"), "\(unknown)")
    }
    for (method, target) in [(.patch, Self.target), (.delete, Self.target), (.patch, "/v1/devices/fone/apps/\(Self.app)")]
      as [(HTTPMethod, String)]
    {
      let limited = try await test.call(method, target, method == .patch ? [:] : nil, access: "one")
      let text = "\(limited)"
      #expect(limited.status == 404 && !text.contains("com.example.apple") && !text.contains("phone?"), "\(limited)")
    }
    #expect(try await test.call(.get, "/v1/devices/phone").json["apps"]?.arrayValue?.count == 1)
  }
}
