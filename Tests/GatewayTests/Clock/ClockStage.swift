import Configuration
import Control
import HTTP2
import JSON
import Primitives
import Reactor
import Security
import Transport

/// A mock device as far as its clock is concerned, which shows the time that it was last set to and tells of its work what a test says.
///
/// It answers on a thread of its own: tasks have few threads, which other tests may keep for longer than a gateway waits.
final class ClockStage: Sendable {
  /// Where it is, for a gateway.
  let upstream: UpstreamSettings
  private let handle: LoopHandle
  private let thread: Reactor.Thread

  /// - Parameter standing: What it tells besides its time; a name here takes the place of what would be told.
  init(_ name: String, at start: Instant, standing: JSONObject) throws {
    let authority = try CertificateAuthority.make(commonName: "clock test", now: start, days: 1)
    let identity = try TLSIdentity(authority.issue(names: ["127.0.0.1"], now: start, days: 1))
    let told = Box<(now: String, frozen: Bool)>((start.preciseDescription, false))
    let loop = try EventLoop(clock: { start })
    let transport = TransportLoop(on: loop, connections: 16, exchanges: 64, blockBytesMax: 1 << 20)
    let server = ControlServer(
      on: transport,
      onLoop: { exchange, _ in
        if let body = try? JSONValue.parse(exchange.body.array), let now = body["now"]?.stringValue {
          told.value = (now, body["frozen"]?.boolValue ?? false)
        }
        var answer: JSONObject = ["permitted": true, "now": .string(told.value.now), "frozen": .bool(told.value.frozen)]
        for name in standing.keys { answer[name] = standing[name] }
        exchange.respond(status: 200, FieldList(), body: Array(JSONValue.object(answer).serialized().utf8).span.bytes)
        return true
      }, handler: { _ in HTTPResponse(status: 505) })
    let socket = try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
    try server.listen(socket, tls: TLSContext.server(identity, protocols: [.http2]))
    var upstream = UpstreamSettings(
      name: name, host: "127.0.0.1", port: socket.address.port, authorityPEM: try authority.certificate.pem())
    upstream.accessToken = "admin"
    self.upstream = upstream
    handle = loop.handle
    thread = try Reactor.Thread.start(name: "clock stage") { withExtendedLifetime(server) { loop.run() } }
  }

  deinit {
    handle.stop()
    thread.join()
  }
}
