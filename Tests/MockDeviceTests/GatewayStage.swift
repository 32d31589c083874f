import Configuration
import Control
import Foundation
import HTTP2
import JSON
import Primitives
import Reactor
import Recorder
import Security
import Transport

@testable import MockDevice

/// The gateway's control API as far as a device needs it, with a record of what came.
///
/// It answers on a thread of its own: tasks have few threads, which other tests may keep for longer than a device waits.
final class GatewayStage: Sendable {
  /// One call.
  struct Call: Sendable, Equatable {
    var method: String
    var path: String
    var authorization: String?
    var body: JSONValue?
  }

  let calls = Recorder<Call>()
  let port: UInt16
  private let handle: LoopHandle
  private let thread: Reactor.Thread

  private static let authority = Result {
    try CertificateAuthority.make(commonName: "gateway stage", now: Instant(unixSeconds: Int64(Date().timeIntervalSince1970)), days: 1)
  }

  /// A gateway that answers every call with `status`, or does what is asked where that is one of success.
  init(port: UInt16 = 0, status: Int = 201) throws {
    let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970))
    let tls = try TLSContext.server(
      TLSIdentity(try Self.authority.get().issue(names: ["127.0.0.1"], now: now, days: 1)), protocols: [.http2])
    let loop = try EventLoop(clock: { now })
    let transport = TransportLoop(on: loop, connections: 16, exchanges: 64, blockBytesMax: 1 << 20)
    let calls = calls
    let server = ControlServer(
      on: transport,
      onLoop: { exchange, _ in
        func text(_ name: HeaderName) -> String? {
          let bytes = exchange.value(of: name)?.array
          return bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        let method = text(.method) ?? ""
        // A look whether there is a gateway is none of the calls that are looked for.
        if let path = text(.path), path != "/livez" {
          calls.append(
            Call(method: method, path: path, authorization: text(.authorization), body: try? JSONValue.parse(exchange.body.array)))
        }
        let (code, answer) = status < 300 ? Self.answer(method) : (status, #"{"error":{"code":"no","message":"not today"}}"#)
        exchange.respond(status: code, FieldList(), body: Array(answer.utf8).span.bytes)
        return true
      }, handler: { _ in HTTPResponse(status: 505) })
    let socket = try ListeningSocket.bind(SocketAddress("127.0.0.1:\(port)")!)[0]
    try server.listen(socket, tls: tls)
    self.port = socket.address.port
    handle = loop.handle
    thread = try Reactor.Thread.start(name: "gateway stage") { withExtendedLifetime(server) { loop.run() } }
  }

  /// It takes everything, and knows nothing that it could tell.
  private static func answer(_ method: String) -> (status: Int, body: String) {
    switch method {
    case "GET": (404, #"{"error":{"code":"notFound","message":"nothing is known"}}"#)
    case "DELETE": (204, "")
    default: (201, "")
    }
  }

  deinit {
    handle.stop()
    thread.join()
  }

  func access() throws -> DeviceConfiguration.Gateway { try Self.access(port: port) }

  /// The way to a gateway on that port, whether there is one or not.
  static func access(port: UInt16) throws -> DeviceConfiguration.Gateway {
    DeviceConfiguration.Gateway(
      url: "https://127.0.0.1:\(port)", accessToken: "register", authorityPEM: try authority.get().certificate.pem())
  }
}

/// A port that nobody listens on, and that nobody else is given while this is held; who asks for it by its number may listen.
final class QuietPort {
  let number: UInt16
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var (shared, address, length) = (Int32(1), sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &shared, socklen_t(MemoryLayout<Int32>.size))
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) | getsockname(descriptor, $0, &length) }
    }
    self.descriptor = descriptor
    number = UInt16(bigEndian: address.sin_port)
    guard status == 0, number != 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }
}

/// Runs blocking work on a thread of its own: the tasks that answer it need the pool's few.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
  }
}
