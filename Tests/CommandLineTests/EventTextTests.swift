import Foundation
import Gateway
import HTTP2
import JSON
import Primitives
import Push
import Reactor
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

  /// What went at priority 5 is told with what is spent and when the next is back.
  @Test func aLoweredPushIsTold() throws {
    let id = try #require(PushID("F4121B12-E0BF-3266-F079-D9253E98BF49"))
    let token = try #require(DeviceToken(hex: "5ec220c7"))
    let why = "the 5 of priority 10 that may go at once are spent, of 15 an hour, the next is back at 14:05 UTC"
    let event = GatewayEvent.lowered(LoweredRequest(id: id, token: token, type: .liveactivity, detail: why))
    let text = try #require(EventText.text(event, credentials))
    #expect(text.hasPrefix("sent at priority 5  apns-id \(id)  liveactivity  token 5ec220c7\n    \(why)\n"), "\(text)")
    let json = try #require(EventText.json(event, credentials))
    #expect(json["event"] == "lowered" && json["cause"] == "priorityLowered" && json["detail"]?.stringValue == why)
  }

  @Test func aWarningIsToldWithItsKey() throws {
    let id = try #require(PushID("F4121B12-E0BF-3266-F079-D9253E98BF49"))
    let details = [
      WarningDetail(.unusedAPSKeys, field: "aps.sound", detail: "aps has keys: sound \"a\u{1B}\" (put it at aps.alert.sound)"),
      WarningDetail(.alertInUpdate, field: "aps.alert", detail: "aps.alert lights the screen up"),
    ]
    let event = GatewayEvent.warned(WarnedRequest(id: id, token: DeviceToken(hex: "5ec220c7"), type: .liveactivity, details: details))
    let lines = try #require(EventText.text(event, credentials)).split(separator: "\n")
    #expect(
      lines == [
        "warning  apns-id F4121B12-E0BF-3266-F079-D9253E98BF49  liveactivity  token 5ec220c7",
        "    aps has keys: sound \"a\\u001b\" (put it at aps.alert.sound) [unusedAPSKeys]",
        "    aps.alert lights the screen up [alertInUpdate]",
      ])
    let json = try #require(EventText.json(event, credentials))
    #expect(json["event"] == "warned" && json["token"] == "5ec220c7" && json["warnings"]?[0]?["field"] == "aps.sound", "\(json)")
    #expect(json["warnings"]?[1]?["detail"] == "aps.alert lights the screen up")
    let broadcast = GatewayEvent.warned(WarnedRequest(id: id, token: nil, type: .liveactivity, details: details))
    #expect(EventText.text(broadcast, credentials)?.hasPrefix("warning  a broadcast  apns-request-id F4121B12") == true)
  }

  @Test(arguments: MalformedRequest.Fault.allCases) func aMalformedRequestIsToldWithItsRemedy(fault: MalformedRequest.Fault) throws {
    let peer = try #require(SocketAddress("127.0.0.1:5000"))
    for (field, others) in [("authorization", 0), ("", 7)] {
      let request = MalformedRequest(fault, field: field)
      let event = GatewayEvent.malformed(RejectedRequest(peer: peer, serverName: nil, request: request, others: others))
      let text = try #require(EventText.text(event, credentials))
      #expect(text.hasPrefix("malformed request from 127.0.0.1:5000: \(request)\n    \(request.advice)"))
      #expect(
        text.contains("7 more were malformed") == (others > 0) && request.description.contains("RFC 9113") && request.advice.last == ".")
      let json = try #require(EventText.json(event, credentials))
      #expect(
        json["event"] == "malformedRequest" && json["fault"]?.stringValue == fault.rawValue && json["field"]?.stringValue ?? "" == field)
      #expect(json["others"]?.intValue ?? 0 == Int64(others) && json["remedy"]?.stringValue == request.advice)
    }
    #expect(MalformedRequest(.trailingSpace, field: "authorization").advice.hasPrefix("Is your token empty?"))
    #expect(!MalformedRequest(.trailingSpace, field: "apns-topic").advice.contains("token"))
  }

  @Test func aCertificateThatIsTurnedAwayIsToldWithItsRemedy() throws {
    let peer = try #require(SocketAddress("127.0.0.1:5000"))
    let event = GatewayEvent.certificateRefused(
      RefusedCertificate(
        peer: peer, serverName: "api.push.apple.com", name: "Push a\u{1B}", reason: .badCertificateEnvironment, detail: "it is for another")
    )
    let text = try #require(EventText.text(event, credentials))
    #expect(
      text.hasPrefix(
        "connection from 127.0.0.1:5000, which asked for api.push.apple.com: GOAWAY BadCertificateEnvironment  certificate Push a\\u001b\n")
    )
    #expect(text.contains("it is for another") && text.contains("api.sandbox.push.apple.com"))
    let json = try #require(EventText.json(event, credentials))
    #expect(
      json["event"] == "certificateRefused" && json["reason"] == "BadCertificateEnvironment"
        && json["remedy"]?.stringValue?.isEmpty == false)
    let tokens = try #require(EventText.text(.invalidProviderTokens(peer), credentials))
    #expect(
      tokens.contains("16 invalid provider tokens")
        && EventText.json(.invalidProviderTokens(peer), credentials)?["peer"] == "127.0.0.1:5000")
    #expect(advice(.tls(try tlsFailure())) { $0.contains("provider.clientCertificates.ca") })
  }

  /// What a server says of a client whose certificate it does not trust.
  private func tlsFailure() throws -> TLSFailure {
    let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970))
    let authority = try CertificateAuthority.make(commonName: "authority", now: now, days: 1)
    let server = try TLSContext.server(
      TLSIdentity(authority.issue(names: ["localhost"], now: now, days: 1)), protocols: [],
      clients: .optional(authorityPEM: nil, chainBytesMax: 16_384))
    let shown = try authority.issueClient(topics: ["a"], development: true, production: true, now: now, days: 1)
    let client = try TLSContext.client(
      .authorities(pem: authority.certificate.pem()), protocols: [],
      identity: TLSIdentity(certificatePEM: shown.certificate.pem(), keyPEM: shown.key.pem()))
    var ours = TLSSession(server: server)
    var theirs = TLSSession(client: client, name: "localhost")
    var there = ByteQueue(capacity: 1 << 17)
    var back = ByteQueue(capacity: 1 << 17)
    var plain = ByteQueue(capacity: 1 << 17)
    for _ in 0..<4 {
      _ = theirs.receive(back.bytes, plaintext: &plain, output: &there)
      back.removeAll()
      if case .failed(let failure) = ours.receive(there.bytes, plaintext: &plain, output: &back) { return failure }
      there.removeAll()
    }
    throw CancellationError()
  }

  @Test func whatPeersChooseCannotSteerATerminal() throws {
    let event = GatewayEvent.ignored(
      IgnoredRequest(
        id: PushID(high: 1, low: 2), token: DeviceToken(hex: "5ec220c7"), type: .widgets, cause: .noSuchApp,
        detail: "a\u{1B}[2Jb\nc\u{9B}d"))
    let text = try #require(EventText.text(event, credentials))
    #expect(!text.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B })
    #expect(text.contains("a\\u001b[2Jb\\u000ac\\u009bd"))
  }

  @Test func aStoreThatTakesNothingIsToldWithItsReason() throws {
    let event = GatewayEvent.storeFailed("the store cannot read or write: /s/store: disk full")
    let text = try #require(EventText.text(event, credentials))
    #expect(text.contains("/s/store: disk full") && text.contains("503"))
    #expect(EventText.json(event, credentials)?["happened"]?.stringValue?.contains("disk full") == true)
    #expect(EventText.text(.storeRecovered, credentials) != nil)
  }

  @Test func aClockThatIsSetIsTold() throws {
    let event = GatewayEvent.clockSet(by: .seconds(-3600))
    #expect(try #require(EventText.text(event, credentials)).contains("the machine's clock was set back by 3600 s"))
    #expect(EventText.json(event, credentials)?["seconds"] == -3600)
  }

  @Test func anUpstreamThatComesBackIsNoNews() {
    #expect(EventText.text(.upstreamOpened(name: "device"), credentials) == nil)
    #expect(EventText.json(.upstreamOpened(name: "device"), credentials) == .none)
    #expect(
      EventText.text(.upstreamFailed(name: "device", address: "[::1]:8444", .handshakeTimeout), credentials)?.contains(
        "upstream device cannot be reached at [::1]:8444: ") == true)
    #expect(
      EventText.json(.upstreamFailed(name: "device", address: "[::1]:8444", .handshakeTimeout), credentials)?["address"] == "[::1]:8444")
  }

  private func advice(_ end: ConnectionEnd, _ check: (String) -> Bool) -> Bool {
    ConnectionAdvice.text(end, credentials).map(check) ?? false
  }
}
