import Foundation
import HTTP2
import Primitives
import Reactor
import Security
import Synchronization
import Testing
import Transport

/// The kernel's clock, with a lead that a test may give it.
final class LeadingClock: Sendable {
  private let lead = Atomic<Int64>(0)
  var uptime: Uptime { Uptime.read() + TimeSpan(nanoseconds: lead.load(ordering: .relaxed)) }
  func advance(_ span: TimeSpan) { lead.add(span.nanoseconds, ordering: .relaxed) }
}

/// One certificate authority and one server certificate for all tests; making them is what takes time.
enum TestCertificates {
  static let authority = try! CertificateAuthority.make(commonName: "test authority", now: now, days: 1)
  static let identity = try! TLSIdentity(authority.issue(names: ["localhost", "127.0.0.1"], now: now, days: 1))
  static let authorityPEM = try! authority.certificate.pem()
  static let server = try! TLSContext.server(identity, protocols: [.http2])
  static let serverOfBoth = try! TLSContext.server(identity, protocols: [.http2, .http1])
  static let client = try! TLSContext.client(.authorities(pem: authorityPEM), protocols: [.http2])
  static let http1Client = try! TLSContext.client(.authorities(pem: authorityPEM), protocols: [.http1])
  private static var now: Instant { Instant(unixSeconds: Int64(Date().timeIntervalSince1970)) }
}

/// A loop, a server on it, and whatever a test adds.
final class Stage {
  let clock = LeadingClock()
  let loop: EventLoop
  let transport: TransportLoop
  let handler = RecordingHandler()
  let server: HTTP2Server

  init(
    tls: TLSContext? = TestCertificates.server, bodyBytesMax: Int = 5121, connectionsMax: Int = 100, concurrentStreams: Int = 1000,
    sweepInterval: TimeSpan = .milliseconds(20), otherwise: ((Connection) -> any ConnectionDriver)? = nil
  ) throws {
    let clock = clock
    loop = try EventLoop(clock: { Instant(unixSeconds: 1_700_000_000) }, uptime: { clock.uptime })
    transport = TransportLoop(on: loop, connections: 1000, exchanges: 4096, blockBytesMax: 64 << 20, sweepInterval: sweepInterval)
    handler.transport = transport
    var settings = ServerSettings(bodyBytesMax: bodyBytesMax)
    settings.concurrentStreams = concurrentStreams
    server = try HTTP2Server(
      on: transport, ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0], tls: tls,
      .init(settings: settings, places: ConnectionPlaces(capacity: connectionsMax), otherwise: otherwise),
      handler: handler)
  }

  deinit { loop.close() }

  /// Runs rounds until `condition` holds; false after two minutes without.
  func wait(until condition: () -> Bool) -> Bool {
    let end = Uptime.read() + .seconds(120)
    while !condition() {
      guard Uptime.read() < end else { return false }
      loop.turn(waitingAtMost: .milliseconds(500))
    }
    return true
  }

  func makeClient(tls: TLSContext? = TestCertificates.client, answerTimeout: TimeSpan = .seconds(15)) -> RecordingClient {
    var configuration = HTTP2Client.Configuration(host: "127.0.0.1", port: server.address.port, tls: tls)
    configuration.answerTimeout = answerTimeout
    return RecordingClient(HTTP2Client(on: transport, configuration))
  }

  func makeSocket() throws -> RawPeer { try RawPeer(to: server.address, on: loop) }
}

/// Answers every request with its own path and body, or keeps it for later.
final class RecordingHandler: HTTP2ServerHandler {
  weak var transport: TransportLoop?
  var answersAtOnce = true
  var wantsRequests = true
  var kept: [ExchangeKey] = []
  var stalled = 0
  var paths: [String] = []
  var failures: [ConnectionFailure] = []
  var lastConnection: HTTP2ServerConnection?
  var answerBody: [UInt8]?
  var welcome = ConnectionWelcome.standard
  private var fields = FieldList()

  func welcome(_ connection: HTTP2ServerConnection) -> ConnectionWelcome { welcome }

  func handle(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    paths.append(exchange.value(of: .path)?.string ?? "")
    lastConnection = connection
    if answersAtOnce { answer(exchange) } else { kept.append(exchange.key) }
  }

  func handleStalled(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    stalled += 1
    answer(exchange)
  }

  func connectionFailed(_ failure: ConnectionFailure) { failures.append(failure) }

  func answer(_ exchange: Exchange) {
    fields.removeAll()
    if let id = exchange.value(of: .apnsID) { fields.append(.apnsID, id) }
    if let answerBody {
      exchange.respond(status: 200, fields, body: answerBody.span.bytes)
    } else {
      exchange.respond(status: exchange.bodyBytesTotal > 0 ? 200 : 400, fields, body: exchange.body)
    }
  }

  /// Answers what was kept; returns how many of them were still there.
  func answerKept() -> Int {
    var answered = 0
    for key in kept {
      guard let exchange = transport?.exchanges.exchange(for: key) else { continue }
      answer(exchange)
      answered += 1
    }
    kept = []
    return answered
  }
}

/// Sends requests as streams become available, and remembers what came back.
final class RecordingClient: HTTP2ClientDelegate {
  struct Response: Equatable {
    var status: Int
    var id: String?
    var body: String
    var failure: StreamFailure?
  }

  let client: HTTP2Client
  var unsent: [(path: String, body: String)] = []
  var responses: [UInt64: Response] = [:]
  var goAway: PeerGoAway?
  var end: ConnectionEnd?
  private var fields = FieldList()
  private var nextTag: UInt64 = 0

  init(_ client: HTTP2Client) {
    self.client = client
    client.delegate = self
    client.connect()
  }

  func request(_ path: String, body: String = "{}") {
    unsent.append((path, body))
    clientMaySend(client)
  }

  func clientMaySend(_ client: HTTP2Client) {
    while client.availableStreams > 0, !unsent.isEmpty {
      let (path, body) = unsent.removeFirst()
      fields.removeAll()
      fields.append(.method, "POST")
      fields.append(.scheme, "https")
      fields.append(.authority, "localhost")
      fields.append(.path, Array(path.utf8).span.bytes)
      fields.append(.apnsID, Array("id-\(nextTag)".utf8).span.bytes)
      guard client.send(fields, body: Array(body.utf8).span.bytes, tag: nextTag) else { return }
      nextTag += 1
    }
  }

  func clientMayHaveAnswers(_ client: HTTP2Client) {
    while let answer = client.takeAnswer() { record(answer) }
  }

  func record(_ answer: Answer) {
    #expect(responses[answer.tag] == nil, "a request is answered once")
    responses[answer.tag] = Response(
      status: answer.status, id: answer.value(of: .apnsID)?.string, body: answer.body.string, failure: answer.failure)
  }

  func client(_ client: HTTP2Client, isGoingAway goAway: PeerGoAway) { self.goAway = goAway }
  func client(_ client: HTTP2Client, ended end: ConnectionEnd) { self.end = end }
}

/// A socket that says exactly what a test wants it to.
final class RawPeer: ReadinessHandler {
  let socket: Descriptor
  var received: [UInt8] = []
  var hasEnded = false
  var isBroken = false
  var reads = true
  private var queue = ByteQueue(capacity: 1 << 16)
  private let loop: EventLoop
  private var key: SlabKey?

  private var unsent: [UInt8] = []

  init(to address: SocketAddress, on loop: EventLoop) throws {
    socket = try Descriptor.connecting(to: address)
    self.loop = loop
    key = try loop.watch(socket, self)
  }

  func ready(_ readiness: Readiness) {
    if readiness.wantsWrite { flush() }
    while reads {
      switch socket.receive(into: &queue, atMost: 1 << 16) {
      case .bytes:
        received += Self.array(queue)
        queue.removeAll()
      case .wouldBlock: return
      case .ended:
        hasEnded = true
        return
      case .failed:
        isBroken = true
        return
      }
    }
  }

  private static func array(_ queue: borrowing ByteQueue) -> [UInt8] { queue.bytes.array }

  /// Sends `bytes`, at once or when the connection is there and takes them.
  func send(_ bytes: [UInt8]) {
    unsent += bytes
    flush()
  }

  /// How many bytes the socket has not taken.
  var unsentCount: Int { unsent.count }

  private func flush() {
    while !unsent.isEmpty, case .bytes(let count) = socket.send(unsent.span.bytes) { unsent.removeFirst(count) }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Hangs up without a word.
  func forget() { if let key { loop.forget(key) } }
}

/// One frame as it is on the wire (RFC 9113 section 4.1).
struct Frame: Equatable {
  var type: UInt8
  var flags: UInt8
  var stream: Int
  var payload: [UInt8]
}

/// The whole frames in `bytes`.
func frames(_ bytes: [UInt8]) -> [Frame] {
  var frames: [Frame] = []
  var rest = bytes[...]
  while rest.count >= 9 {
    let head = Array(rest.prefix(9))
    let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
    guard rest.count >= 9 + count else { return frames }
    let stream = Int(head[5]) << 24 | Int(head[6]) << 16 | Int(head[7]) << 8 | Int(head[8])
    frames.append(Frame(type: head[3], flags: head[4], stream: stream, payload: Array(rest.dropFirst(9).prefix(count))))
    rest = rest.dropFirst(9 + count)
  }
  return frames
}

/// What a client says first: the preface and its SETTINGS.
func clientPreface() -> [UInt8] {
  var session = ClientSession(memory: SessionMemory(blockBytesMax: 1 << 20))
  var output = ByteQueue(capacity: 1 << 16)
  session.drain(into: &output)
  return output.bytes.array
}

/// POST, https, /, authority "a" on stream 1 (RFC 7541 appendix A), with END_STREAM.
let emptyRequest: [UInt8] = [0, 0, 6, 1, 5, 0, 0, 0, 1, 0x83, 0x87, 0x84, 0x41, 0x01, 0x61]
/// The same without END_STREAM: a body is promised.
let unfinishedRequest: [UInt8] = [0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x87, 0x84, 0x41, 0x01, 0x61]
