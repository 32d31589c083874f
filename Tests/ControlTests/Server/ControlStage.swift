import Control
import Dispatch
import Foundation
import HTTP2
import Primitives
import Reactor
import Recorder
import Security
import Synchronization
import Transport

/// The kernel's clock, with a lead that a test may give it: timeouts pass without waiting for them.
final class LeadingClock: Sendable {
  private let lead = Atomic<Int64>(0)
  var uptime: Uptime { Uptime.read() + TimeSpan(nanoseconds: lead.load(ordering: .relaxed)) }
  func advance(_ span: TimeSpan) { lead.add(span.nanoseconds, ordering: .relaxed) }
}

/// A server on a thread of its own, with a plain port and a TLS port on loopback.
final class ControlStage: Sendable {
  private struct Ports: Sendable {
    let plain: UInt16
    let tls: UInt16
    let drain: Mailbox<TimeSpan>
    let handle: LoopHandle
  }

  let clock = LeadingClock()
  let handlers = TestHandlers()
  let failures = Recorder<ConnectionFailure>()
  let drains = Recorder<Bool>()
  private let ports: Ports
  private let thread: Reactor.Thread

  init(answersOnLoop: Bool = false, _ configure: (inout ControlServer.Configuration) -> Void = { _ in }) throws {
    var configuration = ControlServer.Configuration()
    configure(&configuration)
    let work = Work(
      configuration: configuration, answersOnLoop: answersOnLoop, clock: clock, handlers: handlers, failures: failures, drains: drains)
    thread = try Reactor.Thread.start(name: "control test") { work.run() }
    work.started.wait()
    ports = work.ports.all[0]
  }

  /// What the server's thread is given.
  private struct Work: Sendable {
    let configuration: ControlServer.Configuration
    let answersOnLoop: Bool
    let clock: LeadingClock
    let handlers: TestHandlers
    let failures: Recorder<ConnectionFailure>
    let drains: Recorder<Bool>
    let started = DispatchSemaphore(value: 0)
    let ports = Recorder<Ports>()

    func run() {
      let (clock, handlers, failures, drains) = (clock, handlers, failures, drains)
      let loop = try! EventLoop(clock: { Instant(unixSeconds: 1_700_000_000) }, uptime: { clock.uptime })
      let transport = TransportLoop(
        on: loop, connections: 256, exchanges: 256, blockBytesMax: 64 << 20, sweepInterval: .milliseconds(20))
      let onLoop: ControlServer.OnLoop = { exchange, connection in ControlStage.answerOnLoop(exchange, connection) }
      let server = ControlServer(
        on: transport, configuration, onLoop: answersOnLoop ? onLoop : nil, connectionFailed: { failures.append($0) },
        handler: { request in await handlers.answer(request) })
      let plain = listen(server, tls: nil)
      let tls = listen(server, tls: TestCertificates.server)
      let drain = loop.makeMailbox(capacity: 1, of: TimeSpan.self) { limit in server.drain(within: limit) { drains.append(true) } }
      ports.append(Ports(plain: plain, tls: tls, drain: drain, handle: loop.handle))
      started.signal()
      loop.run()
    }

    /// Returns the port; whoever else held the socket would keep it open.
    private func listen(_ server: ControlServer, tls: TLSContext?) -> UInt16 {
      let socket = try! ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
      try! server.listen(socket, tls: tls)
      return socket.address.port
    }
  }

  deinit {
    ports.handle.stop()
    handlers.gate.open()
    thread.join()
  }

  var plainPort: UInt16 { ports.plain }
  var tlsPort: UInt16 { ports.tls }

  func drain(within limit: TimeSpan) { ports.drain.post(limit) }

  fileprivate static func answerOnLoop(_ exchange: Exchange, _ connection: HTTP2ServerConnection) -> Bool {
    guard exchange.value(of: .path)?.equals("/on-loop") == true else { return false }
    exchange.respond(status: 200, FieldList(), body: Array("on the loop\n".utf8).span.bytes)
    return true
  }
}

/// One certificate authority and one server certificate for all tests; making them is what takes time.
enum TestCertificates {
  static let authority = try! CertificateAuthority.make(commonName: "test authority", now: now, days: 1)
  static let server = try! TLSContext.server(
    TLSIdentity(authority.issue(names: ["localhost", "127.0.0.1"], now: now, days: 1)), protocols: [.http2, .http1])
  /// Where curl finds the authority's certificate.
  static let authorityPath: String = {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("control-test-ca-\(getpid()).pem").path
    try! authority.certificate.pem().write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }()
  private static var now: Instant { Instant(unixSeconds: Int64(Date().timeIntervalSince1970)) }
}
