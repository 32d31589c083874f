import Control
import HTTP2
import Primitives
import Push
import Reactor
import Security
import Telemetry
import Transport

/// What lives on the device's loop: the HTTPS port with its two ways to an answer, at once for pushes and by a task for the rest.
final class LoopBody {
  private let loop: EventLoop
  private let keeper: FleetKeeper
  private let server: ControlServer
  private var second: Timer?
  /// Takes the time that open requests are given, and ends the loop after it; nil only has the port given up.
  let drains: Mailbox<TimeSpan?>

  init(
    _ loop: EventLoop, _ keeper: FleetKeeper, socket: ListeningSocket, tls: TLSContext, face: PushFace, log: Log,
    everySecond: @escaping () -> Void, handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) throws(SystemError) {
    self.loop = loop
    self.keeper = keeper
    let transport = TransportLoop(
      on: loop, connections: Limits.controlConnections, exchanges: Limits.exchangesPerLoop, blockBytesMax: Limits.exchangeBytes)
    face.begin(on: transport)
    let server = ControlServer(
      on: transport, onLoop: { face.answer($0, on: $1) },
      connectionFailed: { failure in
        let fields = [LogField("peer", failure.peer), LogField("why", failure.end)]
        log.write(.info, "a connection failed", fields)
      },
      handler: handler)
    try server.listen(socket, tls: tls)
    self.server = server
    defer {
      second = loop.makeTimer { [unowned self] in
        everySecond()
        second?.arm(after: .seconds(1))
      }
      second?.arm(after: .zero)
    }
    drains = loop.makeMailbox(capacity: 2) { [weak server, handle = loop.handle] (limit: TimeSpan?) in
      guard let server else { return handle.stop() }
      guard let limit else { return server.stopListening() }
      server.drain(within: limit) { handle.stop() }
    }
  }

  /// Runs the loop until it is drained.
  func run() {
    loop.run()
    keeper.end()
  }
}
