import Foundation
import Testing

/// How many streams a client may open, by the provider tokens that it brings (apns.md sections 1.3, 4.2 and 4.3).
@Suite("Streams and provider tokens of a connection", .processes) struct StreamLimitTests {
  private static let raised = "0001000010000003000003e800040000ffff000500004000000600001f40"
  private static let lowered = "00010000100000030000000100040000ffff000500004000000600001f40"
  private static let payload = #"{"aps":{"content-changed":true}}"#

  private func push(_ dev: Deployment, stream: Int, token: String, jwt: String?) async throws -> [Step] {
    var fields = try await dev.fields(to: token).filter { $0.0 != "authorization" }
    if let jwt { fields.append(("authorization", "bearer \(jwt)")) }
    return [.headers(fields, stream: stream), .data(Self.payload, stream: stream)]
  }

  private func expired(_ dev: Deployment) async throws -> String {
    let team = try dev.credentials()["teamID"].string ?? ""
    return try await ProviderToken.make(dev, claims: #"{"iss":"\#(team)","iat":\#(Int(Date().timeIntervalSince1970) - 4000)}"#)
  }

  /// The frames that count here: not acknowledgements.
  private func story(_ talk: Conversation) -> [String] {
    talk.frames.filter { !($0.type == "SETTINGS" && $0.payload.isEmpty) }.map { frame in
      switch frame.type {
      case "SETTINGS" where frame.payload == Self.raised: "1000"
      case "SETTINGS" where frame.payload == Self.lowered: "1"
      case "HEADERS": frame.fields.first?.value ?? ""
      case "DATA": frame.text
      case "RST_STREAM": "reset \(frame.stream) \(frame.payload)"
      default: frame.type
      }
    }
  }

  @Test func settingsRiseBeforeTheAnswer() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let good = try await ProviderToken.of(dev)
    let talk = try await dev.converse(
      [.preface()] + push(dev, stream: 1, token: token, jwt: good) + [.receive(ends: 1)]
        + push(dev, stream: 3, token: newToken(), jwt: good)
        + [.receive(ends: 1)])
    #expect(story(talk) == ["SETTINGS", "1000", "200", "400", #"{"reason":"BadDeviceToken"}"#])
  }

  /// A token that is empty, or has a space behind it, is judged and not a breach of HTTP/2; unless it is configured to be.
  @Test func aSpaceAroundAProviderTokenIsTrimmed() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let good = try await ProviderToken.of(dev)
    let empty = try await dev.converse([.preface()] + push(dev, stream: 1, token: token, jwt: "") + [.receive(ends: 1)])
    #expect(story(empty) == ["SETTINGS", "403", #"{"reason":"MissingProviderToken"}"#], "an empty one is none, as Apple documents it")
    let spaced = try await dev.converse([.preface()] + push(dev, stream: 1, token: token, jwt: good + " \t") + [.receive(ends: 1)])
    #expect(story(spaced) == ["SETTINGS", "1000", "200"])
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_SPACED_FIELD": "reset"])
    let reset = try await gateway.converse([.preface()] + push(gateway, stream: 1, token: token, jwt: "") + [.receive(ends: 1)])
    #expect(story(reset) == ["SETTINGS", "reset 1 00000001"])
  }

  /// A push that is refused has a good token all the same.
  @Test func aRefusedPushRaisesThemToo() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse(
      [.preface()] + push(dev, stream: 1, token: newToken(), jwt: ProviderToken.of(dev)) + [.receive(ends: 1)])
    #expect(story(talk) == ["SETTINGS", "1000", "400", #"{"reason":"BadDeviceToken"}"#])
  }

  @Test(arguments: [true, false]) func whetherARefusedPushRaisesThemIsConfigured(raises: Bool) async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_RAISE_AFTER_REFUSED_PUSH": "\(raises)"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let good = try await ProviderToken.of(gateway)
    let talk = try await gateway.converse(
      [.preface()] + push(gateway, stream: 1, token: newToken(), jwt: good) + [.receive(ends: 1)]
        + push(gateway, stream: 3, token: token, jwt: good) + [.receive(ends: 1)])
    let refusal = ["400", #"{"reason":"BadDeviceToken"}"#]
    #expect(story(talk) == ["SETTINGS"] + (raises ? ["1000"] + refusal : refusal + ["1000"]) + ["200"])
  }

  /// Tokens with made-up signatures, all different, and new ones are not counted: each is checked, until the connection goes.
  @Test func invalidTokensEndTheConnection() async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_TOKEN_UPDATES": "off"])
    let good = try await ProviderToken.of(gateway)
    var steps: [Step] = [.preface()]
    for index in 0..<20 {
      let forged = good.split(separator: ".").prefix(2).joined(separator: ".") + "." + newToken(48)
      steps += try await push(gateway, stream: 2 * index + 1, token: newToken(), jwt: forged) + [.receive(ends: 1, seconds: 3)]
    }
    let talk = try await gateway.converse(steps)
    let refusals = Array(repeating: ["403", #"{"reason":"InvalidProviderToken"}"#], count: 16).joined()
    let story = story(talk)
    #expect(story.filter { $0 != "GOAWAY" } == ["SETTINGS"] + refusals, "\(story)")
    let goAway = try #require(talk.frames.first { $0.type == "GOAWAY" })
    #expect(goAway.document["error"].int == 11 && goAway.document["last"].int == 31 && goAway.text == #"{"reason":"InvalidProviderToken"}"#)
    #expect(talk.isClosed)
    let metrics = try await gateway.control("GET", "/metrics", as: "read").text
    #expect(metrics.contains("widgetpush_connections_refused_total{kind=\"invalid_provider_tokens\"} 1\n"))
    #expect(gateway.process.errors.text.contains("invalid provider tokens alone"))
    #expect(try await gateway.terminate() == 0)
  }

  @Test(arguments: [0, 2]) func aConnectionIsClosedAfterAsManyErrorsAsConfigured(errors: Int) async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_CLOSE_AFTER_ERRORS": "\(errors)"])
    let good = try await ProviderToken.of(gateway)
    var steps: [Step] = [.preface()]
    for stream in [1, 3] { steps += try await push(gateway, stream: stream, token: newToken(), jwt: good) + [.receive(ends: 1)] }
    let talk = try await gateway.converse(steps + [.receive(seconds: 1)])
    #expect(talk.status(of: 3) == "400")
    #expect(talk.isClosed == (errors == 2), "\(talk.document)")
    // The last stream is 3, the error code none, and there is no further data.
    #expect(talk.frames.filter { $0.type == "GOAWAY" }.map(\.payload) == (errors == 2 ? ["0000000300000000"] : []))
  }

  @Test(arguments: ["answer431", "reset"]) func aHeaderListThatIsTooLargeIsAnsweredAsConfigured(value: String) async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_HEADER_OVERFLOW": value])
    let fields = try await gateway.fields(to: newToken(), extra: [("x-long", String(repeating: "x", count: 8000))])
    let talk = try await gateway.converse([.preface(), .headers(fields, stream: 1, end: true), .receive(ends: 1)])
    if value == "reset" {
      #expect(talk.frames(of: 1).map(\.type) == ["RST_STREAM"] && talk.frames(of: 1).first?.payload == "00000001")
    } else {
      #expect(talk.status(of: 1) == "431", "\(talk.document)")
    }
  }

  /// A first flight without a token: one stream is answered, the others are refused, and the connection serves on.
  @Test func whatIsTooMuchIsRefused() async throws {
    let dev = try await SharedDev.deployment()
    var steps: [Step] = [.preface()]
    for stream in [1, 3, 5] {
      steps.append(.headers(try await dev.fields(to: newToken()).filter { $0.0 != "authorization" }, stream: stream))
    }
    for stream in [1, 3, 5] { steps.append(.data(Self.payload, stream: stream)) }
    let talk = try await dev.converse(
      steps + [.receive(ends: 3)] + push(dev, stream: 7, token: newToken(), jwt: ProviderToken.of(dev)) + [.receive(ends: 1)])
    let told = story(talk)
    #expect(told.contains("reset 3 00000007") && told.contains("reset 5 00000007"), "\(told)")
    #expect(talk.status(of: 1) == "403" && talk.status(of: 7) == "400" && told.contains("1000"), "\(told)")
    #expect(!talk.isClosed)
  }

  /// SETTINGS fall at once, and the connection takes no other token.
  @Test func anExpiredTokenLowersThem() async throws {
    let dev = try await SharedDev.deployment()
    let good = try await ProviderToken.of(dev)
    let talk = try await dev.converse(
      [.preface()] + push(dev, stream: 1, token: newToken(), jwt: good) + [.receive(ends: 1)]
        + push(dev, stream: 3, token: newToken(), jwt: expired(dev)) + [.receive(ends: 1)]
        + push(dev, stream: 5, token: newToken(), jwt: good) + [.receive(ends: 1)])
    let refusal = ["403", #"{"reason":"ExpiredProviderToken"}"#]
    #expect(story(talk) == ["SETTINGS", "1000", "400", #"{"reason":"BadDeviceToken"}"#, "1"] + refusal + refusal)
  }

  /// Any other bad token lowers them, too, and the next good one raises them again.
  @Test(arguments: [("hello", "InvalidProviderToken"), (nil, "MissingProviderToken")] as [(String?, String)])
  func aBadTokenLowersThemUntilTheNextGoodOne(bad: String?, reason: String) async throws {
    let dev = try await SharedDev.deployment()
    let good = try await ProviderToken.of(dev)
    var steps: [Step] = [.preface()]
    for (stream, jwt) in [(1, good), (3, bad), (5, bad), (7, good)] {
      steps += try await push(dev, stream: stream, token: newToken(), jwt: jwt) + [.receive(ends: 1)]
    }
    let refusal = ["400", #"{"reason":"BadDeviceToken"}"#]
    let failure = ["403", #"{"reason":"\#(reason)"}"#]
    #expect(try await story(dev.converse(steps)) == ["SETTINGS", "1000"] + refusal + ["1"] + failure + failure + ["1000"] + refusal)
  }

  /// A PING is answered although no answer may be sent, for the client gives its streams no window.
  @Test func aPingIsAnsweredWhileAnswersWait() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse(
      [.preface([4: 0])] + push(dev, stream: 1, token: newToken(), jwt: ProviderToken.of(dev))
        + [.receive(frames: 4, seconds: 10), .ping("12345678"), .receive(frames: 1, seconds: 10)])
    #expect(talk.frames.last?.type == "PING" && talk.frames.last?.payload == "3132333435363738", "\(talk.frames)")
    #expect(talk.frames(of: 1).map(\.type) == ["HEADERS"])
  }

  /// As Apple's servers: GOAWAY with the last stream exactly, and the end of TCP without close_notify.
  @Test func shutdownIsTold() async throws {
    let gateway = try await Deployment.start(["gateway"])
    let mark = gateway.state.path("answered")
    async let talk = gateway.converse(
      [.preface()] + push(gateway, stream: 1, token: newToken(), jwt: ProviderToken.of(gateway))
        + push(gateway, stream: 3, token: newToken(), jwt: ProviderToken.of(gateway))
        + [.receive(ends: 2), .mark(mark), .receive(seconds: 20)])
    try await eventually("both pushes are answered") { FileManager.default.fileExists(atPath: mark) }
    #expect(try await gateway.terminate() == 0)
    let end = try await talk
    let goAway = try #require(end.frames.last)
    #expect(goAway.type == "GOAWAY" && goAway.payload.hasPrefix("0000000300000000") && goAway.text == #"{"reason":"Shutdown"}"#)
    #expect(end.isClosed && end.isAbrupt, "\(end.document)")
  }

  /// New tokens too often: 429 for the fifth, on one connection and on the next from the same address.
  @Test func newTokensTooOften() async throws {
    let gateway = try await Deployment.start(["gateway"])
    let team = try gateway.credentials()["teamID"].string ?? ""
    func jwt(_ number: Int) async throws -> String {
      try await ProviderToken.make(gateway, claims: #"{"iss":"\#(team)","iat":\#(Int(Date().timeIntervalSince1970) - number)}"#)
    }
    var steps: [Step] = [.preface()]
    for number in 0..<5 {
      steps += try await push(gateway, stream: 2 * number + 1, token: newToken(), jwt: jwt(number)) + [.receive(ends: 1)]
    }
    let first = try await gateway.converse(steps)
    #expect([1, 3, 5, 7, 9].map { first.status(of: $0) } == ["400", "400", "400", "400", "429"])
    #expect(first.frames(of: 9).last?.text == #"{"reason":"TooManyProviderTokenUpdates"}"#)
    let second = try await gateway.converse([.preface()] + push(gateway, stream: 1, token: newToken(), jwt: jwt(9)) + [.receive(ends: 1)])
    #expect(second.status(of: 1) == "429")
    #expect(!story(second).contains("1000"))
  }
}
