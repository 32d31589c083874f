import Delivery
import Forwarding
import Foundation
import HTTP2
import Primitives
import Push
import Reactor
import Security
import Testing
import Transport

/// A loop with an upstream of the test's own making and a forwarder to it.
final class Stage {
  static let now = Instant(unixSeconds: 1_700_000_000)
  private static let authority = try! CertificateAuthority.make(commonName: "test", now: wallClock, days: 1)
  private static let identity = try! TLSIdentity(authority.issue(names: ["localhost", "127.0.0.1"], now: wallClock, days: 1))
  private static let key = try! P256PrivateKey.generate()
  private static var wallClock: Instant { Instant(unixSeconds: Int64(Date().timeIntervalSince1970)) }

  /// The time, which the test moves.
  final class Clock: @unchecked Sendable {
    // `@unchecked Sendable`: the loop runs on the test's own thread.
    var now = Stage.now
    /// How far the machine's clock was set ahead, or back where it is negative; no time has passed by that.
    var leap = TimeSpan.zero
    var moment: Moment { Moment(now: now + leap, real: now + leap, steady: now) }
  }

  let clock = Clock()
  let loop: EventLoop
  let transport: TransportLoop
  let upstream = FakeUpstream()
  let recorder = Recorder()
  let forwarder: Forwarder
  private var server: HTTP2Server?
  private var port: UInt16

  /// - Parameter concurrentStreams: How many streams the upstream allows.
  init(concurrentStreams: Int = 1000, isUp: Bool = true) throws {
    let clock = clock
    loop = try EventLoop(moments: { clock.moment })
    transport = TransportLoop(on: loop, connections: 100, exchanges: 4096, blockBytesMax: 16 << 20, sweepInterval: .milliseconds(20))
    let socket = try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
    port = socket.address.port
    upstream.transport = transport
    let tls = try TLSContext.client(.authorities(pem: Self.authority.certificate.pem()), protocols: [.http2])
    let signers = try ["TEAM123456", "TEAM654321"].map { try ProviderTokenSigner(teamID: $0, keyID: "KEY1234567", key: Self.key) }
    forwarder = Forwarder(
      [Upstream(name: "device", host: "127.0.0.1", port: port, tls: tls)],
      authorization: UpstreamAuthorization(ProviderTokenSigners(signers)), on: transport)
    forwarder.delegate = recorder
    if isUp { try start(socket, concurrentStreams: concurrentStreams) }
  }

  /// Brings an upstream that was down up on its port.
  func start(_ socket: ListeningSocket? = nil, concurrentStreams: Int = 1000) throws {
    var settings = ServerSettings(bodyBytesMax: 5121)
    settings.concurrentStreams = concurrentStreams
    server = try HTTP2Server(
      on: transport, try socket ?? ListeningSocket.bind(SocketAddress(ip: "127.0.0.1", port: port)!)[0],
      tls: TLSContext.server(Self.identity, protocols: [.http2]), .init(settings: settings, places: ConnectionPlaces(capacity: 100)),
      handler: upstream)
  }

  /// Takes the upstream down: GOAWAY, open requests answered, port closed.
  func drainUpstream() { server?.drain(within: .seconds(5)) {} }

  /// Sends push `number` with `payload`.
  func send(
    _ number: Int, payload: String = #"{"aps":{"content-changed":true}}"#, expiration: Expiration = .absent, signer: Int = 0,
    upstream: UInt16 = 0
  ) {
    let topic = Array("com.example.app.push-type.widgets".utf8)
    let bytes = topic + Array(payload.utf8)
    let pushes = [
      ForwardedPush(
        ticket: PushTicket(sequence: UInt64(number), slot: 0), id: PushID(high: UInt64(number), low: 7),
        token: DeviceToken(hex: String(repeating: "ab", count: 32))!, upstream: upstream, signer: signer, type: .widgets,
        priority: .considerate,
        prioritySent: true, expiration: expiration, attempt: 1, topic: ByteRange(offset: 0, count: topic.count), collapseID: .empty,
        payload: ByteRange(offset: topic.count, count: payload.utf8.count))
    ]
    forwarder.send(pushes.span, bytes.span.bytes)
  }

  /// Sends broadcast `number`.
  func broadcast(
    _ number: Int, expiration: Expiration = .zero, priority: Priority? = nil, upstream: UInt16 = 0, signer: Int = 0
  ) {
    forwarder.send(
      ForwardedBroadcast(
        ticket: BroadcastTicket(sequence: UInt64(number), upstream: upstream), id: PushID(high: UInt64(number), low: 7),
        bundleID: "com.example.app", signer: signer, channel: ChannelID(high: 0x68cb_36cb_c7c5_11ef, low: 0x0000_f200_3388_07a2),
        expiration: expiration, priority: priority, payload: Array(#"{"aps":{"event":"update"}}"#.utf8)))
  }

  deinit { loop.close() }

  /// Runs rounds until `condition` holds; false after two minutes without.
  func wait(until condition: () -> Bool) -> Bool {
    let end = Uptime.read() + .seconds(120)
    while !condition() {
      guard Uptime.read() < end else { return false }
      loop.turn(waitingAtMost: .milliseconds(200))
    }
    return true
  }
}

/// An upstream that answers as it is told, and remembers what it was asked.
final class FakeUpstream: HTTP2ServerHandler {
  struct Request: Equatable {
    var path: String
    var fields: [String: String]
    var body: String
  }

  enum Behaviour {
    case answer(status: Int, body: String, outcome: String?)
    case reset(UInt32)
    case keep
  }

  weak var transport: TransportLoop?
  var behaviour = Behaviour.answer(status: 200, body: "", outcome: nil)
  var requests: [Request] = []
  /// The client's address and port of each request, which tell its connections apart.
  var peers: [String] = []
  var kept: [ExchangeKey] = []
  var mostOpen = 0
  private var fields = FieldList()

  func handle(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    var known: [String: String] = [:]
    for index in 0..<exchange.fieldCount { known[exchange.name(ofField: index).string] = exchange.value(ofField: index).string }
    requests.append(Request(path: known[":path"] ?? "", fields: known, body: exchange.body.string))
    peers.append(connection.peer.description)
    switch behaviour {
    case .answer(let status, let body, let outcome): respond(exchange, status, body, outcome)
    case .reset(let code): exchange.reset(code)
    case .keep:
      kept.append(exchange.key)
      mostOpen = max(mostOpen, kept.count)
    }
  }

  /// Answers everything that was kept.
  func release() {
    for key in kept { transport?.exchanges.exchange(for: key).map { respond($0, 200, "", nil) } }
    kept.removeAll()
  }

  private func respond(_ exchange: Exchange, _ status: Int, _ body: String, _ outcome: String?) {
    fields.removeAll()
    if let outcome { fields.append(.widgetpushOutcome, Array(outcome.utf8).span.bytes) }
    exchange.respond(status: status, fields, body: Array(body.utf8).span.bytes)
  }

  func handleStalled(_ exchange: Exchange, on connection: HTTP2ServerConnection) { exchange.reset(HTTP2ErrorCode.cancel) }
  func connectionFailed(_ failure: ConnectionFailure) {}
}

/// Remembers what a forwarder reports.
final class Recorder: ForwarderDelegate {
  var outcomes: [Int: [UpstreamOutcome]] = [:]
  var details: [String] = []
  var opened = 0
  var failed = 0
  var refusesCredentials: [Bool] = []
  var count: Int { outcomes.values.reduce(0) { $0 + $1.count } }

  func completed(_ ticket: PushTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: RawSpan) {
    outcomes[Int(ticket.sequence), default: []].append(outcome)
    if !detail.isEmpty { details.append(detail.string) }
  }
  var broadcasts: [(ticket: BroadcastTicket, outcome: UpstreamOutcome, answer: UpstreamAnswer?, detail: String)] = []
  func broadcastCompleted(_ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: String) {
    broadcasts.append((ticket, outcome, answer, detail))
  }
  func upstreamOpened(_ upstream: Int) { opened += 1 }
  func upstreamFailed(_ upstream: Int, at address: String, _ end: ConnectionEnd) { failed += 1 }
  func upstreamRefusesCredentials(_ upstream: Int, signer: Int, _ refuses: Bool) { refusesCredentials.append(refuses) }
  func retiringStopped(_ upstream: Int, signer: Int, _ isStopped: Bool) {}
  func cannotSign(_ upstream: Int, _ error: CryptoError) { Issue.record("cannot sign: \(error)") }
}
