import Configuration
import Control
import Foundation
import HTTPClient
import JSON
import Primitives
import Reactor
import Synchronization
import Transport

@testable import MockDevice

/// The gateway's control API as far as a device needs it, on a plain port, with a record of what came.
final class GatewayStage: Sendable {
  /// One call.
  struct Call: Sendable, Equatable {
    var method: String
    var path: String
    var authorization: String?
    var body: JSONValue?
  }

  let calls: Recorder<Call>
  let port: UInt16
  private let handle: LoopHandle
  private let thread: Reactor.Thread

  /// A gateway that answers every call with `status`.
  init(port: UInt16 = 0, status: Int = 201) throws {
    let calls = Recorder<Call>()
    let loop = try EventLoop(clock: { Instant(unixSeconds: 1_796_000_000) })
    let transport = TransportLoop(on: loop, connections: 16, exchanges: 64, blockBytesMax: 1 << 20)
    let server = ControlServer(on: transport) { request in
      calls.append(
        Call(
          method: request.method.text, path: request.path, authorization: request.fields["authorization"],
          body: try? JSONValue.parse(request.body)))
      return status < 300
        ? HTTPResponse(status: request.method == .delete ? 204 : status)
        : HTTPResponse(ControlError(status: status, code: "no", message: "not today"))
    }
    let socket = try ListeningSocket.bind(SocketAddress("127.0.0.1:\(port)")!)[0]
    try server.listen(socket, tls: nil)
    self.port = socket.address.port
    self.calls = calls
    handle = loop.handle
    thread = try Reactor.Thread.start(name: "gateway stage") { withExtendedLifetime(server) { loop.run() } }
  }

  deinit {
    handle.stop()
    thread.join()
  }

  var access: DeviceConfiguration.Gateway { DeviceConfiguration.Gateway(url: "http://127.0.0.1:\(port)", accessToken: "register") }
}

/// A list that several threads append to.
final class Recorder<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  var all: [Element] { elements.withLock { $0 } }
  func append(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// A port that nobody listens on.
func freePort() throws -> UInt16 { try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0].address.port }

/// Runs blocking work on a thread of its own: the tasks that answer it need the pool's few.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
  }
}
