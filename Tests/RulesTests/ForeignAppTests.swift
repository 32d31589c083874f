import Primitives
import Push
import Rules
import Testing

/// A sender is told of its own apps alone: nothing that is said of another's tells whether there is such an app here.
@Suite("Apps of others") struct ForeignAppTests {
  private func refusal(_ topic: String, key: String, team: String = "TEAM012345", _ answers: ProviderAnswers = .init()) -> Refusal? {
    var token = TestToken()
    (token.keyID, token.teamID) = (key, team)
    var rules = TestRules(answers: answers)
    return rules.evaluate(TestRequest().with { ($0.authorization, $0.topic) = ("bearer " + token.text, topic) }).refusal
  }

  /// What is said with the name itself taken out.
  private func sentence(_ refusal: Refusal?, _ name: String) -> String { refusal?.detail.replacing(name, with: "NAME") ?? "" }

  /// Each with an app of somebody else, and the name of none.
  @Test(
    arguments: [
      ("ONEAPP0001", "com.example.app", "com.example.apq"), ("ONEAPP0001", "com.example.team", "com.example.tean"),
      ("ABCDE12345", "com.example.team", "com.example.tean"),
    ], ProviderAnswers.ForeignTopic.allCases)
  func oneOfOthersIsLikeNone(names: (key: String, other: String, none: String), foreignTopic: ProviderAnswers.ForeignTopic) {
    var answers = ProviderAnswers()
    answers.foreignTopic = foreignTopic
    let other = refusal("\(names.other).push-type.widgets", key: names.key, answers)
    let none = refusal("\(names.none).push-type.widgets", key: names.key, answers)
    #expect(other?.reason == none?.reason && other != nil)
    #expect(sentence(other, names.other) == sentence(none, names.none), "\(other?.detail ?? "") | \(none?.detail ?? "")")
    #expect(other?.detail.contains("TEAM999999") == false)
  }

  @Test func whatIsMeantIsAmongTheSendersOwn() {
    let meant = refusal("com.example.othe.push-type.widgets", key: "ONEAPP0001")
    #expect(meant?.detail.contains("did you mean \"com.example.other\"?") == true)
    for topic in ["com.example.ap.push-type.widgets", "com.example.tean.push-type.widgets", "com.example.app.widgets", "x"] {
      let detail = refusal(topic, key: "ONEAPP0001")?.detail ?? ""
      let meant = detail.firstMatch(of: /did you mean "([^"]*)"/)?.1
      #expect(!detail.isEmpty && (meant == nil || meant == "com.example.other") && !detail.contains("configured are"), "\(detail)")
    }
    // A key of one team is not told of the apps of another.
    #expect(refusal("com.example.tean.push-type.widgets", key: "ABCDE12345")?.detail.contains("com.example.team") == false)
    #expect(refusal("com.example.tean", key: "OTHERTEAM1", team: "TEAM999999")?.detail.contains("com.example.team\"?") == true)
  }

  @Test func certificatesAreToldOfTheirTopics() {
    let certificate = SenderCertificate(topics: ["com.example.other"], environment: nil, notAfter: now + .seconds(86_400))
    func refusal(_ topic: String) -> Refusal? {
      var rules = TestRules()
      var connection = ConnectionCredentials(source: 0, certificate: certificate)
      return rules.evaluate(TestRequest.of(.alert).with { $0.topic = topic }, on: &connection).refusal
    }
    let (other, none) = (refusal("com.example.app"), refusal("com.nobody.abc"))
    #expect(other?.reason == .topicDisallowed && none?.reason == .topicDisallowed)
    #expect(sentence(other, "com.example.app") == sentence(none, "com.nobody.abc"))
  }

  /// Nobody has proved to be anybody before the key is known.
  @Test func keysThatAreLimitedToAppsAreNotSuggested() {
    let limited = ProviderDirectory([.init(keyID: "ABCDE12345", teamID: "TEAM012345", bundleIDs: ["com.example.app"])])
    let open = ProviderDirectory([.init(keyID: "ABCDE12345", teamID: "TEAM012345")])
    for (directory, isTold) in [(limited, false), (open, true)] {
      for (key, team, says) in [
        ("ABCDE12344", "TEAM012345", "did you mean \"ABCDE12345\"?"), ("TEAM012345", "ABCDE12345", "swapped"),
        ("TEAM012345", "TEAM999999", "your team id"),
      ] {
        var token = TestToken()
        (token.keyID, token.teamID) = (key, team)
        var rules = TestRules(providers: directory)
        let refusal = rules.evaluate(TestRequest().with { $0.authorization = "bearer " + token.text }).refusal
        #expect(refusal?.reason == .invalidProviderToken)
        #expect(refusal?.detail.contains(says) == isTold, "\(refusal?.detail ?? "")")
      }
    }
  }
}

/// What is said of an app of another team does not tell whether there is one.
@Suite("Broadcasts of others' apps") struct ForeignBroadcastTests {
  @Test func anAppOfOthersIsLikeNone() {
    for path in ["/4/broadcasts/apps/", "/1/apps/"] {
      let requests = ["com.example.team", "com.example.teaq", "com.example.tean"].map { name in
        let full = path == "/1/apps/" ? "\(path)\(name)/all-channels" : path + name
        let base = path == "/1/apps/" ? CastRequest.manage("GET", channel: nil) : CastRequest()
        return base.with { $0.path = full }.judged().refusal
      }
      #expect(requests.allSatisfy { $0?.reason == .topicMismatch })
      let details = zip(requests, ["com.example.team", "com.example.teaq", "com.example.tean"]).map { refusal, name in
        refusal?.detail.replacing(name, with: "NAME") ?? ""
      }
      #expect(Set(details).count == 1 && !details[0].contains("com.example.team"), "\(details)")
    }
  }
}
