import Foundation
import Testing

/// The payloads that the push log keeps.
@Suite("Kept payloads", .processes) struct PayloadLogTests {
  private func payload(_ server: Deployment, _ id: String) async throws -> Document { try await server.record(id)["payload"] }

  @Test func devShowsWhatWasSent() async throws {
    let state = try Folder()
    let token = newToken()
    let first = try await Deployment.start(["dev"], in: state)
    try await first.register(token, RegistrationBody.app)
    let body = #"{"aps":{"alert":{"title":"Höhe","body":"1.50"}},"order":[9,true,null,1.5]}"#
    let id = try #require(try await first.send(PushRequest("alert", to: token, body: body))["apns-id"])
    #expect(try await payload(first, id)["aps"]["alert"]["title"].string == "Höhe")
    #expect(try await payload(first, id)["order"].description == "[9,true,null,1.5]")
    let list = try await first.control("GET", "/v1/pushes?token=\(token)", as: "read").json["pushes"]
    #expect(list.array.count == 1 && list[0]["payload"].isMissing)
    for name in [id, "--last", token, String(token.prefix(12))] {
      let story = try await run([Deployment.executable, "explain", name, "--state-dir", state.path])
      #expect(story.text.contains("payload\n  {") && story.text.contains("Höhe"), "explain \(name): \(story.text)")
    }
    #expect(try await first.terminate() == 0)

    let second = try await Deployment.start(["dev"], in: state)
    #expect(try await payload(second, id)["aps"]["alert"]["body"].string == "1.50")
    #expect(try await second.control("POST", "/v1/reset?bundleID=com.example.app", as: "admin").status == 200)
    #expect(try await second.control("GET", "/v1/pushes/\(id)", as: "read").status == 404)
    #expect(try await second.terminate() == 0)
  }

  @Test func nothingIsKeptWhereItIsOff() async throws {
    let state = try Folder()
    let token = newToken()
    func start(_ options: [String]) async throws -> Deployment { try await Deployment.start(["dev"] + options, in: state) }
    let first = try await start([])
    try await first.register(token, RegistrationBody.app)
    let push = PushRequest("alert", to: token, body: #"{"aps":{"alert":"a secret word"}}"#)
    let kept = try #require(try await first.send(push)["apns-id"])
    try await first.settled(kept, as: "applied")
    #expect(try await payload(first, kept)["aps"]["alert"].string == "a secret word")
    #expect(try await first.terminate() == 0)

    let second = try await start(["--push-log-payloads", "false"])
    let other = try #require(try await second.send(push)["apns-id"])
    try await second.settled(other, as: "applied")
    for id in [kept, other] { #expect(try await payload(second, id).isMissing) }
    #expect(try await second.terminate() == 0)

    let third = try await start([])
    for id in [kept, other] { #expect(try await payload(third, id).isMissing) }
    #expect(try await third.terminate() == 0)
  }
}
