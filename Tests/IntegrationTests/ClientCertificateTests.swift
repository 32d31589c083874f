import Foundation
import Testing

/// Backends that show a certificate instead of provider tokens: made with openssl, shown by curl and by a client frame by frame.
@Suite("Client certificates at the provider API", .processes) struct ClientCertificateTests {
  private static let both = CertificateOffice.Extensions(development: true, production: true)
  private static let universal = CertificateOffice.Extensions(
    development: true, production: true,
    topics: [("com.example.app", "app"), ("com.example.app.voip", "voip"), ("com.example.app.complication", "complication")])
  private static let sandbox = "api.sandbox.push.apple.com"
  private static let productive = "api.push.apple.com"
  /// The first SETTINGS with 1000 streams: frame head and four parameters (apns.md section 1.3).
  private static let settings = "000018040000000000" + "000100001000" + "0003000003e8" + "000500004000" + "000600001f40"

  private func gateway(_ office: CertificateOffice, authority: String? = nil) async throws -> Deployment {
    let authority = authority ?? office.authority
    let gateway = try await Deployment.start(["gateway", "--provider-client-certificates-ca", authority])
    return gateway
  }

  /// Sends a push with a certificate and, unless the request has one, no provider token.
  private func send(
    _ push: PushRequest, _ gateway: Deployment, _ paper: CertificateOffice.Paper, host: String = "localhost"
  ) async throws -> Answer {
    let port = try gateway.port("provider")
    var push = push
    if !push.fields.contains(where: { $0.name == "authorization" }) { push = push.with("authorization", nil) }
    push.options += paper.options + ["--connect-to", "\(host):\(port):127.0.0.1:\(port)"]
    return try await gateway.send(push, at: "https://\(host):\(port)")
  }

  private func reason(_ answer: Answer) throws -> String? { try answer.json["reason"].string }

  /// GOAWAY as it stands on the wire: last stream 0, NO_ERROR, the JSON.
  private func goAway(_ reason: String) -> String {
    let json = "{\"reason\":\"\(reason)\"}"
    return String(format: "%06x", 8 + json.utf8.count) + "07" + "00" + "00000000" + "00000000" + "00000000"
      + json.utf8.map { String(format: "%02x", $0) }.joined()
  }

  private func refused(_ gateway: Deployment, _ kind: String) async throws -> Int {
    let text = try await gateway.control("GET", "/metrics", as: "read").text
    let line = text.split(separator: "\n").first { $0.hasPrefix("widgetpush_connections_refused_total{kind=\"\(kind)\"}") }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? -1
  }

  @Test func aCertificateStandsForEveryProviderToken() async throws {
    let office = try await CertificateOffice()
    let gateway = try await gateway(office)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let paper = try await office.make("universal", subject: "/UID=com.example.app/CN=Apple", Self.universal)
    let push = PushRequest("alert", to: token)
    let answer = try await send(push, gateway, paper)
    #expect(answer.status == 200, "\(answer)")
    #expect(try await gateway.record(answer["apns-id"] ?? "")["bundleID"].string == "com.example.app")
    // Whatever stands in authorization is ignored.
    #expect(try await send(push.with("authorization", "bearer nonsense"), gateway, paper).status == 200)
    #expect(try await reason(send(push.with("apns-topic", nil), gateway, paper)) == "MissingTopic")
    #expect(try await reason(send(push.with("apns-topic", "com.example.other"), gateway, paper)) == "TopicDisallowed")
    #expect(try await reason(send(.widgets(token), gateway, paper)) == "TopicDisallowed")
    #expect(try await reason(send(PushRequest("liveactivity", to: token), gateway, paper)) == "TopicDisallowed")
    // A connection without one uses provider tokens, as before.
    #expect(try await gateway.send(push).status == 200)
    #expect(try await gateway.send(push.with("authorization", nil)).status == 403)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func theOnlyTopicIsTheDefault() async throws {
    let office = try await CertificateOffice()
    let gateway = try await gateway(office)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let paper = try await office.make("single", subject: "/UID=com.example.app", Self.both)
    let push = PushRequest("alert", to: token).with("apns-topic", nil)
    let answer = try await send(push, gateway, paper)
    #expect(answer.status == 200, "\(answer)")
    let record = try await gateway.record(answer["apns-id"] ?? "")
    #expect(record["bundleID"].string == "com.example.app" && record["type"].string == "alert", "\(record)")
    #expect(try await gateway.terminate() == 0)
  }

  /// Four parameters, 1000 streams, at once; and as many streams as that are served from the first flight on.
  @Test(arguments: ["1.2", "1.3"]) func aThousandStreamsAreAnnouncedAtOnce(tls: String) async throws {
    let office = try await CertificateOffice()
    let gateway = try await gateway(office)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let paper = try await office.make("single", subject: "/UID=com.example.app", Self.both)
    let fields = [
      (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"), ("apns-push-type", "alert"),
    ]
    let flight = (0..<10).flatMap { index -> [Step] in
      [.headers(fields, stream: 2 * index + 1), .data(#"{"aps":{"alert":"a"}}"#, stream: 2 * index + 1)]
    }
    let talk = try await gateway.converse([.preface()] + flight + [.receive(ends: 10)], tls: tls, paper: paper)
    #expect(talk.version == "TLSv\(tls)")
    #expect(talk.bytes.hasPrefix(Self.settings), "\(talk.bytes.prefix(80))")
    #expect(talk.frames.count { $0.type == "SETTINGS" && !$0.payload.isEmpty } == 1)
    for index in 0..<10 { #expect(talk.status(of: 2 * index + 1) == "200") }
    #expect(try await gateway.terminate() == 0)
  }

  @Test(arguments: ["1.2", "1.3"]) func theOtherEnvironmentIsToldInAGoAway(tls: String) async throws {
    let office = try await CertificateOffice()
    let gateway = try await gateway(office)
    let development = try await office.make("dev", subject: "/UID=com.example.app", .init(development: true))
    let production = try await office.make("pro", subject: "/UID=com.example.app", .init(production: true))
    let nobody = try await office.make("nobody", subject: "/CN=nobody", Self.both)
    let rows = [
      (development, Self.productive, "BadCertificateEnvironment"), (production, Self.sandbox, "BadCertificateEnvironment"),
      (nobody, Self.sandbox, "BadCertificate"), (nobody, "localhost", "BadCertificate"),
    ]
    for (paper, host, reason) in rows {
      // Once it is silent, and once it sends at once as clients do.
      for steps: [Step] in [
        [], [.preface(), .headers([(":method", "POST"), (":path", "/3/device/00"), (":scheme", "https")], stream: 1)],
      ] {
        let talk = try await gateway.converse(steps + [.receive()], tls: tls, serverName: host, paper: paper)
        #expect(talk.bytes == Self.settings + goAway(reason), "\(talk.document)")
        #expect(talk.isClosed && talk.isAbrupt)
      }
    }
    #expect(goAway("BadCertificateEnvironment").hasPrefix("00002e07"), "46 bytes, as captured")
    #expect(try await refused(gateway, "bad_certificate_environment") == 4)
    #expect(try await refused(gateway, "bad_certificate") == 4)
    #expect(gateway.process.errors.text.contains("certificate=nobody reason=BadCertificate "), "\(gateway.process.errors.text)")

    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let push = PushRequest("alert", to: token)
    #expect(try await send(push, gateway, development, host: Self.sandbox).status == 200)
    #expect(try await send(push, gateway, development).status == 200)
    // The token is one of the development environment, and the certificate of the other tells which one is meant.
    #expect(try await reason(send(push, gateway, production)) == "BadDeviceToken")
    #expect(try await reason(send(push, gateway, production, host: Self.productive)) == "BadDeviceToken")
    #expect(try await gateway.terminate() == 0)
  }

  /// Alerts of RFC 8446 section 6.2 by number: bad certificates end the handshake, and are counted by kind.
  @Test(arguments: ["1.2", "1.3"]) func certificatesThatAreNotValidEndTheHandshake(tls: String) async throws {
    let (office, other) = (try await CertificateOffice(), try await CertificateOffice())
    let expired = try await office.make("expired", subject: "/UID=com.example.app", Self.both, days: -1)
    let revoked = try await office.make("revoked", subject: "/UID=com.example.app", Self.both)
    let good = try await office.make("good", subject: "/UID=com.example.app", Self.both)
    let foreign = try await other.make("foreign", subject: "/UID=com.example.app", Self.both)
    let authorities = String(decoding: try office.folder.read("ca.pem"), as: UTF8.self) + (try await office.revoke(revoked))
    let gateway = try await gateway(office, authority: try office.folder.write("all.pem", authorities))
    let rows = [
      (expired, "certificate expired", "certificate_expired"), (revoked, "certificate revoked", "certificate_revoked"),
      (foreign, "unknown ca", "certificate_untrusted"),
    ]
    for (paper, alert, kind) in rows {
      let talk = try await gateway.converse([.preface(), .receive()], tls: tls, paper: paper)
      #expect(talk.isClosed && talk.frames.isEmpty)
      #expect(talk.error?.lowercased().replacingOccurrences(of: "_", with: " ").contains(alert) == true, "\(talk.document)")
      let script = "exec curl -sS --http2 --cacert \"$0\" --cert \"$1\" --key \"$2\" -d '{}' \(try gateway.url("provider"))/3/device/00"
      let curled = try await run(["bash", "-c", script, gateway.state.path("ca.pem"), paper.certificate, paper.key])
      #expect(curled.status != 0 && curled.standardError.contains(alert), "\(curled)")
      #expect(try await refused(gateway, kind) == 2)
    }
    let talk = try await gateway.converse([.preface(), .receive(frames: 1)], tls: tls, paper: good)
    #expect(talk.bytes.hasPrefix(Self.settings))
    #expect(try await gateway.terminate() == 0)
  }

  /// As Apple's servers: every handshake asks for a certificate, and goes on without (apns.md section 1.2).
  @Test func everyHandshakeAsksForACertificate() async throws {
    let office = try await CertificateOffice()
    let paper = try await office.make("good", subject: "/UID=com.example.app", Self.both)
    let dev = try await SharedDev.deployment()
    for tls in ["-tls1_2", "-tls1_3"] {
      let script = "echo | openssl s_client -connect 127.0.0.1:\(try dev.port("provider")) -alpn h2 \(tls) 2>&1"
      let shown = try await run(["bash", "-c", script]).text
      #expect(shown.contains("No client certificate CA names sent") && shown.contains("Requested Signature Algorithms"), "\(shown)")
    }
    // Nobody is trusted where no authority is configured.
    let talk = try await dev.converse([.preface(), .receive()], paper: paper)
    #expect(talk.error?.contains("alert") == true, "\(talk.document)")
  }

  @Test func theAuthorityIsReadAgain() async throws {
    let (one, two) = (try await CertificateOffice(), try await CertificateOffice())
    let state = try await Deployment.newState()
    try FileManager.default.copyItem(atPath: one.authority, toPath: state.path("clients.pem"))
    let yaml = "provider:\n  clientCertificates: {ca: clients.pem}\n"
    let gateway = try await Deployment.start(["gateway", "--config", try state.write("gateway.yaml", yaml)], in: state)
    let (first, second) = (
      try await one.make("first", subject: "/UID=com.example.app", Self.both),
      try await two.make("second", subject: "/UID=com.example.app", Self.both)
    )
    func welcomes(_ paper: CertificateOffice.Paper) async throws -> Bool {
      try await gateway.converse([.preface(), .receive(frames: 1)], paper: paper).bytes.hasPrefix(Self.settings)
    }
    let before = (try await welcomes(first), try await welcomes(second))
    #expect(before == (true, false))
    func reload(until text: String) async throws {
      let count = gateway.process.errors.text.count
      gateway.process.signal(SIGHUP)
      try await eventually("the log says \(text)") { gateway.process.errors.text.dropFirst(count).contains(text) }
    }
    try state.write("clients.pem", "nothing")
    try await reload(until: "provider.clientCertificates.ca: ")
    #expect(try await welcomes(first))
    try state.write("clients.pem", String(decoding: try two.folder.read("ca.pem"), as: UTF8.self))
    try await reload(until: "changed=provider.clientCertificates.ca")
    try await eventually("the new authority holds") { try await welcomes(second) }
    #expect(try await welcomes(first) == false)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aBadAuthorityFileIsToldBeforeTheStart() async throws {
    let state = try await Deployment.newState()
    let file = try state.write("gateway.yaml", "provider:\n  clientCertificates: {ca: clients.pem}\n")
    try state.write("clients.pem", "nothing")
    for command in [["config", "check", "--config", file], ["gateway", "--state-dir", state.path, "--config", file]] {
      let result = try await run([Deployment.executable] + command)
      #expect(result.status != 0 && result.standardError.contains("provider.clientCertificates.ca: no CA certificate"), "\(result)")
    }
    try state.write("gateway.yaml", "provider:\n  clientCertificates: {CA: clients.pem}\n")
    let result = try await run([Deployment.executable, "config", "check", "--config", file])
    #expect(result.status != 0 && result.standardError.contains("did you mean \"ca\""), "\(result)")
  }

  /// Channels and broadcasts take the same certificates (apns.md section 8.1).
  @Test func channelsAreManagedWithACertificate() async throws {
    let office = try await CertificateOffice()
    let gateway = try await gateway(office)
    let paper = try await office.make("single", subject: "/UID=com.example.app", .init(production: true))
    func call(_ method: String, _ path: String, _ headers: [String] = [], _ body: String? = nil) async throws -> Answer {
      try await curl(
        method, gateway.url("provider") + path, ca: gateway.state.path("ca.pem"), headers: headers, body: body.map { Data($0.utf8) },
        options: paper.options)
    }
    let made = try await call(
      "POST", "/1/apps/com.example.app/channels", [], #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    #expect(made.status == 201, "\(made)")
    let channel = try #require(made["apns-channel-id"])
    let listed = try await call("GET", "/1/apps/com.example.app/all-channels")
    #expect(try listed.json["channels"][0].string == channel)
    let sent = try await call(
      "POST", "/4/broadcasts/apps/com.example.app",
      ["apns-channel-id: \(channel)", "apns-push-type: liveactivity", "apns-expiration: 0", "apns-priority: 10"],
      #"{"aps":{"event":"update","timestamp":\#(Int(Date().timeIntervalSince1970)),"content-state":{"a":1}}}"#)
    #expect(sent.status == 200, "\(sent)")
    let other = try await call("GET", "/1/apps/com.example.other/all-channels")
    #expect(try other.status == 403 && reason(other) == "TopicMismatch", "\(other)")
    #expect(try await gateway.terminate() == 0)
  }
}
