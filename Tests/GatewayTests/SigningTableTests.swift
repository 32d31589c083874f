import Configuration
import Push
import Testing

@testable import Gateway

@Suite("Which key signs") struct SigningTableTests {
  private static func key(
    _ team: String, _ id: String, _ topics: [String]? = nil, _ environment: PushEnvironment? = nil
  ) -> SigningKey { SigningKey(teamID: team, keyID: id, keyPEM: "", environment: environment, topics: topics) }

  private static let keys = [
    key("ONE", "widgets", ["a.1.push-type.widgets"]), key("ONE", "app", ["a.1"]), key("ONE", "general", nil, .production),
    key("TWO", "app2", ["a.2", "x.y"]), key("TWO", "voip2", ["a.2.voip"], .development),
  ]

  /// The id of the key that signs; nil where none does.
  private func signer(
    _ bundleID: String, _ type: PushType, team: String?, _ environment: PushEnvironment = .production, of keys: [SigningKey] = keys
  ) -> String? {
    let table = SigningTable(keys, Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) }))
    let number = table.signers(bundleID, team: team, environment)[type]
    return number == PushSigners.none ? nil : keys[number].keyID
  }

  /// A key that is limited to topics signs for these alone, the very topic before its app, and before one that is not limited.
  @Test func theKeyOfTheTopicSigns() {
    #expect(signer("a.1", .widgets, team: "ONE") == "widgets")
    #expect(signer("a.1", .alert, team: "ONE") == "app")
    #expect(signer("a.1", .liveactivity, team: "ONE") == "app")
    #expect(signer("a.4", .alert, team: "ONE") == "general")
    #expect(signer("a.4", .widgets, team: "ONE") == "general")
    #expect(signer("a.2", .alert, team: "TWO") == "app2")
  }

  /// Another team's topics are its own, and where no key of the team may sign, none does.
  @Test func whereNoneMayNoneDoes() {
    #expect(signer("a.3", .alert, team: "TWO") == nil)
    #expect(signer("a.3", .widgets, team: "TWO", .development) == nil)
    #expect(signer("a.1", .alert, team: "TWO") == nil)
    #expect(signer("a.2", .alert, team: "ONE") == "general", "not the other team's, which has the topic")
  }

  /// An app without a team, or of one that has no key, has the keys of all teams.
  @Test func anAppOfNoTeamHasTheKeysOfAll() {
    for team in [nil, "NONE"] {
      #expect(signer("x.y", .controls, team: team) == "app2")
      #expect(signer("q.q", .controls, team: team) == "general")
    }
    #expect(signer("q.q", .controls, team: nil, of: [Self.keys[3]]) == nil)
  }

  /// A key of the wrong environment would be refused, whatever its topics; where there is no other, the upstream says so.
  @Test func theEnvironmentCounts() {
    #expect(signer("a.2", .voip, team: "TWO") == "app2")
    #expect(signer("a.2", .voip, team: "TWO", .development) == "voip2")
    #expect(signer("a.4", .alert, team: "ONE", .development) == "general", "there is no other")
    let wrong = [Self.key("ONE", "topic", ["a.1"], .development), Self.key("ONE", "general", nil, .production)]
    #expect(signer("a.1", .alert, team: "ONE", of: wrong) == "general")
    #expect(signer("a.1", .alert, team: "ONE", .development, of: wrong) == "topic")
    #expect(signer("a.1", .alert, team: "ONE", of: [wrong[0]]) == "topic")
  }
}
