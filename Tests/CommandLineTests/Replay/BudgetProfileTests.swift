import Configuration
import Foundation
import JSON
import Push
import Testing

@testable import Gateway
@testable import widgetpush

@Suite("Budget profiles") struct BudgetProfileTests {
  private func profile(_ words: [String]) throws -> BudgetProfile {
    try BudgetProfile(try #require(try ArgumentParser.parse(["file"] + words, for: .replay)))
  }

  @Test func options() throws {
    let profile = try profile([
      "--budget-mode", "reject", "--budget", "widgets.allowance=20", "--budget", "widgets.interval=0.5", "--budget=controls.window=3600",
      "--developer-mode",
    ])
    #expect(
      profile.settings == [
        "budgetMode": "reject",
        "budgets": ["widgets": ["allowance": 20, "minimumIntervalSeconds": 0.5], "controls": ["windowSeconds": 3600]],
      ])
    #expect(profile.developerMode)
    #expect(try self.profile([]).settings.isEmpty && !(try self.profile([]).developerMode))
  }

  @Test(arguments: [
    "widgets", "widgets.allowance", "widgets.allowance=many", "widgets.allowance=-1", "gadgets.allowance=1", "widgets.size=1", "=1", ".=1",
    "widgets.allowance=nan", "widgets.allowance=1=2",
  ]) func whatIsNoBudgetIsSaid(text: String) { #expect(throws: UsageError.self) { try profile(["--budget", text]) } }

  @Test func aFileAndOptionsAboveIt() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/budgets.json"
    try #"{"budgetMode":"observe","budgets":{"widgets":{"allowance":10,"burst":4}}}"#.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(
      try profile(["--budgets", path, "--budget", "widgets.burst=2"]).settings
        == ["budgetMode": "observe", "budgets": ["widgets": ["allowance": 10, "burst": 2]]])
    for text in ["[]", "{", #"{"team":"ABCDE12345"}"#] {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      #expect(throws: CommandError.self) { try profile(["--budgets", path]) }
    }
  }

  /// The profile stands above what was recorded, and that above what the server has.
  @Test func whatHoldsDuringAReplay() throws {
    let recorded: JSONObject = ["budgetMode": "enforce", "budgets": ["widgets": ["allowance": 40, "burst": 12, "windowSeconds": 60]]]
    let base: JSONObject = ["team": "ABCDE12345", "validation": "apple", "budgetMode": "observe"]
    #expect(
      try profile(["--budget", "widgets.allowance=5"]).applied(to: base, recorded: recorded) == [
        "team": "ABCDE12345", "validation": "apple", "budgetMode": "enforce",
        "budgets": ["widgets": ["allowance": 5, "burst": 5, "windowSeconds": 60]],
      ])
    let own = try profile(["--budget", "widgets.allowance=50"]).applied(to: [:], recorded: recorded)
    #expect(own["budgets"]?["widgets"]?["burst"] == 12)
    #expect(try profile([]).applied(to: base, recorded: [:]) == base)
  }

  /// What a replay's own app begins with is everything that holds for the server's, wherever that came from.
  @Test func whatAServersAppHas() {
    let view: JSONValue = [
      "bundleID": "com.example.app", "team": "ABCDE12345", "budgetMode": "reject", "budgets": ["widgets": ["allowance": 7]],
      "contentStates": ["My.Type": ["type": "object"]], "origins": ["team": "configuration", "budgetMode": "api"],
    ]
    #expect(
      ReplayApps.settings(in: view) == [
        "team": "ABCDE12345", "budgetMode": "reject", "budgets": ["widgets": ["allowance": 7]],
        "contentStates": ["My.Type": ["type": "object"]],
      ])
  }

  /// Whatever a server shows of an app can be set for the replay's: what is only to be read does not come back, whichever keys that are.
  @Test func whatAServerShowsCanBeSet() throws {
    var configuration = GatewayConfiguration()
    configuration.upstreams = [UpstreamSettings(name: "device", host: "h", port: 1)]
    configuration.apps = [AppDirectory.App(bundleID: "com.example.app", teamID: "TEAM000001", developmentUpstream: "device")]
    var reader = try JSONReader([
      "batchSeconds": 3, "schemas": ["Ride": ["contentState": [:], "attributes": [:]], "Game": ["attributes": [:]]],
    ])
    var saved = SavedApps(settings: ["com.example.app": try AppSettings(&reader)])
    saved.taught["com.example.app"] = [try ActivitySchemas("Walk", contentState: ["type": "object"], at: "")]
    var book = AppBook(configuration, saved)
    var view = try #require(try book.view("com.example.app")?.objectValue)
    (view["dropped"], view["newInALaterVersion"]) = (["validation"], 1)

    let settings = ReplayApps.settings(in: .object(view))
    #expect(Set(settings.keys) == Set(view.keys).subtracting(["bundleID", "origins", "dropped", "newInALaterVersion"]))
    var put = try JSONReader(.object(settings))
    book.set["replay.com.example.app"] = try AppSettings(&put)
    let played = try #require(try book.view("replay.com.example.app"))
    for key in settings.keys { #expect(played[key] == view[key], "\(key)") }
  }

  /// A content-state that was recorded is in the place of the server's, whole, and beside the server's attributes.
  @Test func recordedContentStatesStandAboveTheServers() throws {
    let own: JSONValue = ["type": "object", "required": ["stops"]]
    let schemas: JSONValue = ["Ride": ["contentState": own, "attributes": [:]], "Walk": ["contentState": own]]
    let base: JSONObject = ["contentStates": ["Ride": own, "Walk": own], "schemas": schemas]
    let then: JSONValue = ["type": "object", "required": ["places"]]
    let all = try profile([]).applied(to: base, recorded: ["contentStates": ["Ride": then, "Game": then]])
    #expect(
      all == [
        "schemas": ["Ride": ["contentState": then, "attributes": [:]], "Walk": ["contentState": own], "Game": ["contentState": then]]
      ])
  }
}
