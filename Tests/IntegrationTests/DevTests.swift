import Foundation
import Testing

@Suite("widgetpush dev", .processes) struct DevTests {
  @Test func everyRefusalIsPrintedWithItsRemedy() async throws {
    let dev = try await SharedDev.deployment()
    let id = newID()
    _ = try await dev.send(.widgets(newToken()).with("apns-id", id).with("apns-priority", "7"))
    try await eventually("dev prints the refusal: \(dev.process.output.text) \(dev.process.errors.text)") {
      let said = dev.process.output.text + dev.process.errors.text
      return said.contains("BadPriority") && said.contains("Send 10 for at once")
    }
  }

  @Test func aWrongTopicIsPrintedWithWhatTheTokenIs() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    #expect(try await dev.send(PushRequest("controls", to: token)).status == 400)
    try await eventually("dev prints the refusal: \(dev.process.output.text) \(dev.process.errors.text)") {
      (dev.process.output.text + dev.process.errors.text)
        .contains("this token is a widgets token of com.example.app: topic com.example.app.push-type.widgets and push type widgets, not")
    }
  }

  @Test func anIgnoredPushIsPrintedWithItsIDTypeAndToken() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.activity)
    let now = Int(Date().timeIntervalSince1970)
    var last = ""
    for timestamp in [now, now - 60] {
      let body = #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{}}}"#
      last = try #require(try await dev.send(PushRequest("liveactivity", to: token, body: body))["apns-id"])
    }
    try await eventually("dev prints the push: \(dev.process.output.text) \(dev.process.errors.text)") {
      (dev.process.output.text + dev.process.errors.text)
        .contains("ignored (staleTimestamp)  apns-id \(last)  liveactivity  token \(token.prefix(8))")
    }
  }

  @Test func withAppleValidationADeviceMayHaveItsWay() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.activity)
    let body = #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970) * 1000),"event":"update","content-state":{}}}"#
    let answer = try await dev.send(PushRequest("liveactivity", to: token, body: body))
    #expect(answer.status == 200, "\(answer)")
    let record = try await dev.settled(try #require(answer["apns-id"]), as: "ignored", "applied")
    #expect(record["cause"].string == "futureTimestamp", "\(record)")
    #expect(try await dev.terminate() == 0)
  }

  @Test func aConnectionThatSpeaksHTTP1IsPrintedWithItsRemedy() async throws {
    let dev = try await SharedDev.deployment()
    _ = try await dev.converse([.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), .receive(seconds: 5)], alpn: nil)
    try await eventually("dev prints the connection: \(dev.process.output.text) \(dev.process.errors.text)") {
      let said = dev.process.output.text + dev.process.errors.text
      return said.contains("HTTP/1") && said.contains("HTTP/2")
    }
  }

  @Test func theReadyLineInJSONIsOneObject() async throws {
    let folder = try Folder()
    let process = try Deployment.launch(["dev", "--json"], in: folder)
    try await eventually("a line: \(process.errors.text)") { !process.output.lines.isEmpty || process.exitStatus != nil }
    let ready = try Document(Data(try #require(process.output.lines.first).utf8))
    #expect(ready.keys.isSuperset(of: ["provider", "control", "device", "plain"]), "\(ready)")
    process.signal(SIGTERM)
    #expect(try await process.waitForExit() == 0)
  }

  @Test func aSecondStartKeepsKeysTokensAndRegistrations() async throws {
    let first = try await Deployment.start(["dev"])
    let token = newToken()
    try await first.register(token, RegistrationBody.widgets)
    let (ca, jwt) = (try first.state.read("ca.pem"), try await ProviderToken.of(first))
    let admin = try first.credentials()["admin"].string
    #expect(try await first.terminate() == 0)

    let second = try await Deployment.start(["dev"], in: first.state)

    #expect(try second.state.read("ca.pem") == ca)
    #expect(try second.credentials()["admin"].string == admin)
    #expect(try await second.send(.widgets(token).with("authorization", "bearer \(jwt)")).status == 200)
    #expect(try await second.terminate() == 0)
  }

  /// curl verifies the certificate against the name that it asked for.
  @Test(arguments: [
    "api.push.apple.com", "api.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com", "gateway.push.apple.com", "any.localhost",
  ]) func everyNameOfOursHasACertificate(name: String) async throws {
    let dev = try await SharedDev.deployment()
    for face in ["provider", "control", "device"] {
      let port = try dev.port(face)
      let answer = try await curl(
        "GET", "https://\(name):\(port)/livez", ca: dev.state.path("ca.pem"), options: ["--resolve", "\(name):\(port):127.0.0.1"])
      #expect(face == "provider" ? answer.status == 405 : answer.status == 200, "\(face): \(answer)")
    }
  }

  /// Whoever trusts ca.pem trusts it for our names alone; and a client that calls us by another one is told what to do, once.
  @Test func anotherServerNameGetsTheOrdinaryCertificate() async throws {
    let dev = try await Deployment.start(["dev"])
    let port = try dev.port("control")
    let script = """
      echo | openssl s_client -connect 127.0.0.1:\(port) -servername pushes.of-nobody.example 2>/dev/null | openssl x509 -noout -ext subjectAltName
      """
    for _ in 0..<2 {
      let names = try await run(["sh", "-c", script]).text
      #expect(names.contains("DNS:localhost") && !names.contains("of-nobody"), "\(names)")
    }
    try await eventually("dev says what would have the certificate name it") {
      dev.process.errors.text.contains("start with --san pushes.of-nobody.example")
    }
    #expect(dev.process.errors.text.components(separatedBy: "--san pushes.of-nobody.example").count == 2)
    #expect(try await dev.terminate() == 0)

    let again = try await Deployment.start(["dev", "--san", "pushes.of-nobody.example"], in: dev.state)
    #expect(again.process.errors.text.contains("ca.pem was made anew with the same key, so that it may sign for pushes.of-nobody.example"))
    let name = "pushes.of-nobody.example"
    let answer = try await curl(
      "GET", "https://\(name):\(try again.port("control"))/livez", ca: again.state.path("ca.pem"),
      options: ["--resolve", "\(name):\(try again.port("control")):127.0.0.1"])
    #expect(answer.status == 200, "\(answer)")
    #expect(try await again.terminate() == 0)
  }

  @Test func aCommandRunsWithTheEnvironmentAndItsStatusIsTheEnd() async throws {
    let folder = try Folder()
    let process = try Deployment.launch(["dev", "--", "sh", "-c", "env | grep ^WIDGETPUSH_; exit 7"], in: folder)
    let status = try await process.waitForExit(within: .seconds(30))
    #expect(status == 7, "\(process.errors.text)")
    #expect(process.output.text.contains("WIDGETPUSH_"), "\(process.output.text)\(process.errors.text)")
  }

  @Test func anotherAppIsKnownWhenItIsNamed() async throws {
    let dev = try await Deployment.start(["dev", "--app", "org.example.other"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets.replacingOccurrences(of: "com.example.app", with: "org.example.other"))
    let answer = try await dev.send(.widgets(token).with("apns-topic", "org.example.other.push-type.widgets"))
    #expect(answer.status == 200, "\(answer)")
    #expect(try await dev.terminate() == 0)
  }
}
