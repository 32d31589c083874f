import Gateway
import HTTP2
import JSON
import Primitives
import Push
import Security
import Testing
import Transport

@testable import widgetpush

@Suite("Events of dev") struct EventTextTests {
  private let credentials: Credentials = {
    var credentials = Credentials(
      teamID: "T", keyID: "K", keyFile: "/s/AuthKey_K.p8", caFile: "/s/ca.pem", register: "1", reload: "2", read: "3", admin: "4",
      gateway: .init(teamID: "G", keyID: "H", keyFile: "/s/gateway.p8"))
    credentials.plain = "http://127.0.0.1:8025"
    return credentials
  }()

  @Test func advicesNameTheWayOut() {
    #expect(advice(.http2(.http1Request("GET /"))) { $0.contains("HTTP/2") && $0.contains("--http2") })
    #expect(advice(.closedInHandshake) { $0.contains("/s/ca.pem") && $0.contains("--cacert") })
    #expect(advice(.handshakeTimeout) { $0.contains("handshake") })
    #expect(advice(.tooManyConnections) { $0.contains("one connection") })
    #expect(ConnectionAdvice.text(.peerEnded, credentials) == nil)
  }

  @Test func anIgnoredPushIsExplained() throws {
    let id = try #require(PushID("F4121B12-E0BF-3266-F079-D9253E98BF49"))
    let event = GatewayEvent.ignored(
      IgnoredRequest(
        id: id, token: DeviceToken(hex: "5ec220c7"), type: .liveactivity, cause: .noSuchActivity, detail: "activity 7"))
    let text = try #require(EventText.text(event, credentials))
    #expect(text.hasPrefix("ignored (noSuchActivity)  apns-id F4121B12-E0BF-3266-F079-D9253E98BF49  liveactivity  token 5ec220c7\n    "))
    #expect(text.contains("activity 7"))
    #expect(text.split(separator: "\n").count == 3)
    let json = try #require(EventText.json(event, credentials))
    #expect(json["event"] == "ignored" && json["cause"] == "noSuchActivity" && json["remedy"]?.stringValue?.isEmpty == false)
  }

  @Test func whatPeersChooseCannotSteerATerminal() throws {
    let event = GatewayEvent.ignored(
      IgnoredRequest(
        id: PushID(high: 1, low: 2), token: DeviceToken(hex: "5ec220c7"), type: .widgets, cause: .noSuchApp,
        detail: "a\u{1B}[2Jb\nc\u{9B}d"))
    let text = try #require(EventText.text(event, credentials))
    #expect(!text.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B })
    #expect(text.contains("a?[2Jb?c?d"))
  }

  @Test func aStoreThatTakesNothingIsToldWithItsReason() throws {
    let event = GatewayEvent.storeFailed("the store cannot read or write: /s/store: disk full")
    let text = try #require(EventText.text(event, credentials))
    #expect(text.contains("/s/store: disk full") && text.contains("503"))
    #expect(EventText.json(event, credentials)?["happened"]?.stringValue?.contains("disk full") == true)
    #expect(EventText.text(.storeRecovered, credentials) != nil)
  }

  @Test func anUpstreamThatComesBackIsNoNews() {
    #expect(EventText.text(.upstreamOpened(name: "device"), credentials) == nil)
    #expect(EventText.json(.upstreamOpened(name: "device"), credentials) == .none)
    #expect(EventText.text(.upstreamFailed(name: "device", .handshakeTimeout), credentials)?.contains("upstream device") == true)
  }

  private func advice(_ end: ConnectionEnd, _ check: (String) -> Bool) -> Bool {
    ConnectionAdvice.text(end, credentials).map(check) ?? false
  }
}
