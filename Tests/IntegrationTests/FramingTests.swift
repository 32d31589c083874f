import Foundation
import Testing

/// What stands on the wire, frame by frame; clients depend on it (apns.md sections 1 and 5.1).
@Suite("Frames on the provider face", .processes) struct FramingTests {
  @Test func acceptanceIsOneHeadersFrameThatEndsTheStream() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = newID()

    let talk = try await dev.converse([
      .preface(), .headers(dev.fields(to: token, extra: [("apns-id", id)]), stream: 1),
      .data(#"{"aps":{"content-changed":true}}"#, stream: 1), .receive(ends: 1),
    ])

    let frames = talk.frames(of: 1)
    #expect(frames.map(\.type) == ["HEADERS"], "\(frames)")
    #expect(frames.first?.endsStream == true)
    #expect(frames.first?.fields.map(\.name) == [":status", "apns-id", "apns-unique-id"])
    #expect(frames.first?.fields.prefix(2).map(\.value) == ["200", id])
  }

  @Test func anErrorIsHeadersAndOneDataFrameThatEndsTheStream() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse([
      .preface(), .headers(dev.fields(to: "zz"), stream: 1), .data(#"{"aps":{"content-changed":true}}"#, stream: 1), .receive(ends: 1),
    ])

    let frames = talk.frames(of: 1)
    #expect(frames.map(\.type) == ["HEADERS", "DATA"], "\(frames)")
    #expect(frames.map(\.endsStream) == [false, true])
    #expect(frames.first?.fields.map(\.name) == [":status", "apns-id"])
    #expect(frames.last?.text == #"{"reason":"BadDeviceToken"}"#)
  }

  @Test func settingsComeFirstAndUnasked() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse([.receive(frames: 1)])
    let settings = try #require(talk.frames.first)
    #expect(settings.type == "SETTINGS")
    // HEADER_TABLE_SIZE 4096, MAX_CONCURRENT_STREAMS 1, MAX_FRAME_SIZE 16384, MAX_HEADER_LIST_SIZE 8000.
    #expect(settings.payload == "000100001000000300000001000500004000000600001f40")
  }

  @Test func aPingIsAnswered() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse([.preface(), .ping("12345678"), .receive(frames: 3, seconds: 10)])
    // SETTINGS, the acknowledgement of ours, and the answer.
    let pong = talk.frames.first { $0.type == "PING" }
    #expect(pong?.payload == Data("12345678".utf8).map { String(format: "%02x", $0) }.joined())
  }

  @Test func aBodyMayComeInPieces() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let talk = try await dev.converse([
      .preface(), .headers(dev.fields(to: token), stream: 1), .data(#"{"aps":{"content-"#, stream: 1, end: false),
      .data("", stream: 1, end: false), .data(#"changed":true}}"#, stream: 1), .receive(ends: 1),
    ])
    #expect(talk.status(of: 1) == "200", "\(talk.document)")
  }

  @Test func hostServesWhereAuthorityIsMissing() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let fields = try await dev.fields(to: token, extra: [("host", "api.push.apple.com")]).filter { $0.0 != ":authority" }
    let talk = try await dev.converse([
      .preface(), .headers(fields, stream: 1), .data(#"{"aps":{"content-changed":true}}"#, stream: 1), .receive(ends: 1),
    ])
    #expect(talk.status(of: 1) == "200", "\(talk.document)")
  }

  @Test func manyStreamsAtOnceAreAnsweredEach() async throws {
    let dev = try await SharedDev.deployment()
    let tokens = (0..<100).map { _ in newToken() }
    for token in tokens { try await dev.register(token, RegistrationBody.widgets) }
    var steps: [Step] = [.preface()]
    for (index, token) in tokens.enumerated() {
      steps.append(.headers(try await dev.fields(to: token), stream: 2 * index + 1))
      steps.append(.data(#"{"aps":{"content-changed":true}}"#, stream: 2 * index + 1))
    }
    let talk = try await dev.converse(steps + [.receive(ends: tokens.count)])
    for index in tokens.indices { #expect(talk.status(of: 2 * index + 1) == "200") }
  }

  @Test func aResetStreamLeavesTheOthersAlone() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let fields = try await dev.fields(to: token)
    let talk = try await dev.converse([
      .preface(), .headers(fields, stream: 1), .headers(fields, stream: 3), .reset(stream: 1),
      .data(#"{"aps":{"content-changed":true}}"#, stream: 3), .receive(ends: 1),
    ])
    #expect(talk.status(of: 1) == nil)
    #expect(talk.status(of: 3) == "200")
  }
}
