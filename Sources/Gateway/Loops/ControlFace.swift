import Control
import Primitives
import Push
import Reactor
import Security
import Transport

/// The control face on a loop and thread of its own, so that people never wait for pushes nor pushes for people.
final class ControlFace: Sendable {
  private let thread: Thread
  private let orders: Mailbox<Order>

  private enum Order: Sendable {
    case stopListening
    case drain(within: TimeSpan)
    case replaceTLS(TLSContext)
  }

  /// Starts to answer on `socket`, encrypted with `tls`, and on `plain` as it is; `observer` is told of malformed requests, and `everySecond` is
  /// called once a second.
  init(
    _ socket: ListeningSocket, tls: TLSContext, plain: ListeningSocket?, clock: @escaping @Sendable () -> Moment,
    observer: (@Sendable (GatewayEvent) -> Void)?, everySecond: @escaping @Sendable () -> Void = {},
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) throws {
    let started = Handoff<Result<Mailbox<Order>, any Error>>()
    thread = try Thread.start(name: "control") {
      do {
        let loop = try EventLoop(moments: clock)
        let transport = TransportLoop(
          on: loop, connections: 2 * Limits.controlConnections, exchanges: Limits.controlExchanges, blockBytesMax: Limits.controlBytes)
        let malformed = MalformedTeller(observer)
        let server = ControlServer(
          on: transport, malformed: { [unowned loop] in malformed.tell($0, from: $1, at: loop.steadyNow) }, handler: handler)
        try server.listen(socket, tls: tls)
        if let plain { try server.listen(plain, tls: nil) }
        let orders = loop.makeMailbox(capacity: 64) { (order: Order) in
          switch order {
          case .stopListening: server.stopListening()
          case .drain(let limit): server.drain(within: limit) { loop.stop() }
          case .replaceTLS(let tls): server.replace(tls: tls)
          }
        }
        var second: Timer?
        second = loop.makeTimer {
          everySecond()
          second?.arm(after: .seconds(1))
        }
        second?.arm(after: .zero)
        started.give(.success(orders))
        loop.run()
        // It holds its own action.
        second = nil
      } catch {
        started.give(.failure(error))
      }
    }
    orders = try started.take().get()
  }

  /// Encrypts connections to come with `tls`.
  func replaceTLS(_ tls: TLSContext) { orders.post(.replaceTLS(tls)) }

  /// Gives up its ports; who is connected already is answered until `drain`.
  func stopListening() { orders.post(.stopListening) }

  /// Lets open requests finish for up to `limit`, and waits for the thread's end.
  func drain(within limit: TimeSpan) {
    orders.post(.drain(within: limit))
    thread.join()
  }
}
