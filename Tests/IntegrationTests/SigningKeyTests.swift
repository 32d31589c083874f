import Foundation
import Testing

/// Keys that are limited to topics, before a second gateway that plays Apple: it takes each key for its own apps alone.
@Suite("Signing keys of topics", .processes) struct SigningKeyTests {
  private static let apps = ["com.example.app", "com.example.other", "com.example.third"]

  /// A gateway that takes the tokens of `KEYAPP0001` for the first app, and those of `KEYOTHER01` for the others.
  private func apple(_ state: Folder) async throws -> Deployment {
    for name in ["app", "other"] { _ = try await ProviderToken.newKey(in: state, name: "\(name).p8") }
    let file = try state.write(
      "apple.yaml",
      """
      providers:
        - {keyID: KEYAPP0001, teamID: TEAM123456, keyFile: app.p8, bundleIDs: [\(Self.apps[0])]}
        - {keyID: KEYOTHER01, teamID: TEAM123456, keyFile: other.p8, bundleIDs: [\(Self.apps[1]), \(Self.apps[2])]}
      upstreams: {nowhere: {url: "https://localhost:9", ca: ca.pem}}
      apps:
      \(Self.apps.map { "  - {bundleID: \($0), unknownTokens: adopt}" }.joined(separator: "\n"))
      """)
    return try await Deployment.start(["gateway", "--config", file], in: state)
  }

  /// The configuration of the gateway before it; the second key has these topics.
  private func write(_ state: Folder, before apple: Deployment, topics: String) throws -> String {
    try state.write(
      "gateway.yaml",
      """
      teams:
        - id: TEAM123456
          keys:
            - {id: KEYAPP0001, file: "\(apple.state.path("app.p8"))", topics: [\(Self.apps[0])]}
            - {id: KEYOTHER01, file: "\(apple.state.path("other.p8"))", topics: [\(topics)]}
      upstreams: {apple: {url: "https://localhost:\(try apple.port("provider"))", ca: "\(apple.state.path("ca.pem"))"}}
      apps:
      \(Self.apps.map { "  - {bundleID: \($0), team: TEAM123456, upstream: apple, unknownTokens: adopt}" }.joined(separator: "\n"))
      providers: [{keyID: BACKEND001, teamID: TEAM123456, keyFile: "\(state.path("backend.p8"))"}]
      """)
  }

  @Test func eachTopicIsSignedByItsKey() async throws {
    let apple = try await apple(try await Deployment.newState())
    let state = try await Deployment.newState()
    let key = try await ProviderToken.newKey(in: state, name: "backend.p8")
    let file = try write(state, before: apple, topics: Self.apps[1])
    let gateway = try await Deployment.start(["gateway", "--config", file], in: state)
    let jwt = try await ProviderToken.make(
      gateway, header: #"{"alg":"ES256","kid":"BACKEND001"}"#,
      claims: #"{"iss":"TEAM123456","iat":\#(Int(Date().timeIntervalSince1970))}"#, key: key)
    func send(_ app: String) async throws -> String {
      let push = PushRequest("alert", to: newToken()).with("apns-topic", app).with("authorization", "bearer \(jwt)")
      let answer = try await gateway.send(push)
      guard answer.status == 200, let id = answer["apns-id"] else { throw HarnessError("not taken: \(answer)") }
      return id
    }
    for app in Self.apps.prefix(2) { try await gateway.settled(try await send(app), as: "accepted") }

    // None of the keys may sign for the third, though Apple would take one of them.
    let id = try await send(Self.apps[2])
    try await eventually("it says that no key may sign") { try await gateway.record(id)["cause"].string == "noSigningKey" }
    let record = try await gateway.record(id)
    #expect(record["disposition"].string == "waiting" && record["remedy"].string?.contains("topics of a key") == true, "\(record)")
    let story = try await run([Deployment.executable, "explain", id, "--state-dir", state.path])
    #expect(story.text.contains("None of the gateway's own keys may sign"), "\(story.text)")
    #expect(try await apple.control("GET", "/v1/pushes?bundleID=\(Self.apps[2])", as: "read").json["pushes"].array.isEmpty)

    _ = try write(state, before: apple, topics: "\(Self.apps[1]), \(Self.apps[2])")
    gateway.process.signal(SIGHUP)
    try await gateway.settled(id, as: "accepted", within: .seconds(60))
    #expect(try await gateway.terminate() == 0)
    #expect(try await apple.terminate() == 0)
  }
}
