import Foundation
import Testing

/// A key that stands twice in its object, wherever a push is judged.
@Suite("Keys that stand twice", .processes) struct RepeatedKeyTests {
  private func widgetpush(_ arguments: [String], _ dev: Deployment) async throws -> CommandResult {
    try await run([Deployment.executable] + arguments + ["--state-dir", dev.state.path])
  }

  @Test func itIsTakenAndToldEverywhere() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let body = #"{"aps":{"content-changed":false,"content-changed":true}}"#
    let sentence = "aps.content-changed stands more than once, first as false and at last as true"
    let forecast = try await widgetpush(["send", token, "--what-if", "--payload", body], dev)
    #expect(forecast.text.contains(sentence), "\(forecast.text) \(forecast.standardError)")
    let id = try #require(try await dev.send(PushRequest("widgets", to: token, body: body))["apns-id"])
    let record = try await dev.settled(id, as: "applied")
    #expect(record["certainty"].string == "likely", "\(record)")
    let told = record["warnings"].array.first { $0["code"].string == "duplicateKeys" }
    #expect(told?["field"].string == "aps.content-changed" && told?["detail"].string?.hasPrefix(sentence) == true, "\(record)")
    #expect(try await widgetpush(["explain", id], dev).text.contains(sentence))
    let file = try Folder()
    let lint = try await run([Deployment.executable, "lint", file.write("payload.json", body), "--type", "widgets"])
    #expect(lint.text.contains("duplicateKeys") && lint.text.contains(sentence), "\(lint.text)")
  }
}
