import Foundation
import JSON
import Testing

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
}
