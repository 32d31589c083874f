import Foundation
import Testing

/// Tokens that are nearly those that are registered.
@Suite("Mistyped tokens", .processes) struct MistypedTests {
  private func widgetpush(_ dev: Deployment, _ arguments: String...) async throws -> CommandResult {
    try await run([Deployment.executable] + arguments + ["--state-dir", dev.state.path])
  }

  /// From either side: by the push, and by the token that it was sent to.
  @Test func aMistypedTokenIsNamedByThePushThatWasSentToIt() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let last = token.last == "0" ? "1" : "0"
    for wrong in [String(token.dropLast()) + last, String(token.dropLast(2)), String(token.prefix(20) + token.dropFirst(22))] {
      let id = try #require(try await dev.send(.widgets(wrong))["apns-id"])
      try await dev.settled(id, as: "refused")
      for subject in [id, wrong, "--last"] {
        let story = try await widgetpush(dev, "explain", subject).text
        #expect(story.contains("Send to the token \(token), if that was meant"), "\(subject): \(story)")
        #expect(story.contains(wrong.count == 64 ? "which differs in 1 digit" : "digits more"), "\(story)")
      }
      let json = try Document(try await widgetpush(dev, "explain", id, "--json").standardOutput)
      #expect(json["nearest"]["token"].string == token && json["id"].string == id, "\(json)")
    }
    let other = newToken()
    let id = try #require(try await dev.send(.widgets(other))["apns-id"])
    try await dev.settled(id, as: "refused")
    #expect(!(try await widgetpush(dev, "explain", id).text.contains("if that was meant")))
  }

  /// The beginning of a token may be one itself, to which something was sent.
  @Test func thePushesOfOneTokenAreNotTakenForThoseOfAnother() async throws {
    let dev = try await Deployment.start(["dev"])
    let tokens = (0..<2).map { _ in newToken() }
    let long = String(tokens[0].prefix(16)) + String(tokens[1].prefix(48))
    for token in [tokens[0], long] { try await dev.register(token, RegistrationBody.widgets) }
    try await dev.settled(try #require(try await dev.send(.widgets(tokens[0]))["apns-id"]), as: "applied")
    let several = try await widgetpush(dev, "explain", String(long.prefix(16)))
    #expect(several.status == 1 && several.standardError.contains("may mean"), "\(several.text)\(several.standardError)")
    let only = try await widgetpush(dev, "explain", String(tokens[0].prefix(20)))
    #expect(only.status == 0 && !only.text.contains("is not registered") && only.text.contains("applied"), "\(only.text)")
    // Now something was sent to the digits themselves.
    let id = try #require(try await dev.send(.widgets(String(long.prefix(16))))["apns-id"])
    try await dev.settled(id, as: "refused")
    let own = try await widgetpush(dev, "explain", String(long.prefix(16))).text
    #expect(own.contains("is not registered") && own.contains(id) && !own.contains("applied"), "\(own)")
  }
}
