import Foundation
import Testing

private let commands = [
  "dev", "gateway", "device", "register", "send", "token", "explain", "tail", "budget", "faults", "access", "keys", "schemas", "config",
  "health", "version",
]

@Suite("Command line", .processes) struct CommandLineTests {
  private func widgetpush(_ arguments: String..., dev: Deployment? = nil) async throws -> CommandResult {
    try await run([Deployment.executable] + arguments + (dev.map { ["--state-dir", $0.state.path] } ?? []))
  }

  @Test(arguments: commands) func everyCommandHelpsWithAnExample(command: String) async throws {
    let result = try await widgetpush(command, "--help")
    #expect(result.status == 0)
    #expect(result.text.contains("widgetpush \(command)"), "\(result.text)")
    #expect(result.text.lowercased().contains("example"), "\(result.text)")
    #expect(result.standardError.isEmpty)
  }

  @Test func helpListsEveryCommand() async throws {
    let result = try await widgetpush("--help")
    #expect(result.status == 0)
    for command in commands { #expect(result.text.contains(command), "\(command)") }
  }

  @Test(arguments: [("sendd", "send"), ("explian", "explain"), ("--state-dri", "--state-dir")])
  func aTypoNamesTheNearest(typo: String, nearest: String) async throws {
    let result = try await (typo.hasPrefix("-") ? widgetpush("health", typo, "x") : widgetpush(typo))
    #expect(result.status != 0)
    #expect(result.text.isEmpty)
    #expect(result.standardError.contains(nearest), "\(result.standardError)")
  }

  @Test func registerSendAndExplain() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    let registered = try await widgetpush(
      "register", token, "--type", "widgets", "--bundle-id", "com.example.app", "--widget", "Steps:systemSmall", dev: dev)
    #expect(registered.status == 0, "\(registered.standardError)")
    let sent = try await widgetpush("send", token, "--json", dev: dev)
    #expect(sent.status == 0, "\(sent.standardError)")
    let id = try #require(try Document(sent.standardOutput)["apnsID"].string ?? Document(sent.standardOutput)["id"].string, "\(sent.text)")
    try await dev.settled(id, as: "applied")

    for name in [id, String(id.prefix(8)), token, String(token.prefix(10))] {
      let explained = try await widgetpush("explain", name, dev: dev)
      #expect(explained.status == 0, "\(name): \(explained.standardError)")
      #expect(explained.text.contains("applied"), "\(name): \(explained.text)")
    }
    let json = try Document(try await widgetpush("explain", id, "--json", dev: dev).standardOutput)
    #expect("\(json)".contains(#""disposition":"applied""#), "\(json)")
  }

  @Test func explainLastShowsTheNewestPush() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    _ = try await dev.send(.widgets(token).with("apns-priority", "7"))
    let result = try await widgetpush("explain", "--last", dev: dev)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.text.contains("BadPriority"), "\(result.text)")
    #expect(result.text.contains("10"), "\(result.text)")
    #expect(try await dev.terminate() == 0)
  }

  @Test func explainSaysWhenItKnowsNothing() async throws {
    let dev = try await SharedDev.deployment()
    let result = try await widgetpush("explain", newID(), dev: dev)
    #expect(result.status != 0)
    #expect(!result.standardError.isEmpty)
  }

  @Test func aRefusedSendFailsWithCauseAndRemedy() async throws {
    let dev = try await SharedDev.deployment()
    let result = try await widgetpush("send", newToken(), dev: dev)
    #expect(result.status != 0)
    #expect((result.text + result.standardError).contains("BadDeviceToken"), "\(result.text)\(result.standardError)")
    #expect((result.text + result.standardError).contains("register"), "\(result.text)\(result.standardError)")
  }

  @Test func aChangedBudgetSaysWhatItReleased() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 600))
    for _ in 0..<2 { _ = try await dev.send(.widgets(token)) }
    let text = try await widgetpush("budget", token, "--reset", dev: dev).text
    #expect(text.hasSuffix("1 waiting push was released\n"), "\(text)")
    #expect(!(try await widgetpush("budget", token, "--reset", dev: dev)).text.contains("waiting"))
  }

  @Test func budgetShowsWhatIsLeft() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let text = try await widgetpush("budget", token, dev: dev)
    #expect(text.status == 0, "\(text.standardError)")
    #expect(text.text.contains("40"), "\(text.text)")
    let json = try Document(try await widgetpush("budget", token, "--json", dev: dev).standardOutput)
    #expect(json["budgets"][0]["allowance"].int == 40, "\(json)")
  }

  @Test func healthFollowsTheGateway() async throws {
    let dev = try await Deployment.start(["dev"])
    #expect(try await widgetpush("health", dev: dev).status == 0)
    #expect(try await dev.terminate() == 0)
    let after = try await widgetpush("health", dev: dev)
    #expect(after.status != 0)
    #expect(!after.standardError.isEmpty)
  }

  @Test func withoutARunningDevTheErrorSaysHowToStartOne() async throws {
    let folder = try Folder()
    let result = try await run([Deployment.executable, "explain", "--last", "--state-dir", folder.path])
    #expect(result.status != 0)
    #expect(result.standardError.contains("widgetpush dev"), "\(result.standardError)")
  }
}
