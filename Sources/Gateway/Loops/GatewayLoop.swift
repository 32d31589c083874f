import Delivery
import Primitives
import Reactor
import Storage

/// A running loop of the data path, as other threads see it.
final class GatewayLoop: Sendable {
  private let thread: Thread
  private let settled: Mailbox<Batch>
  private let broadcasts: Mailbox<ForwardedBroadcast>
  private let orders: Mailbox<LoopOrder>

  /// Starts loop `index`, listening on `sockets`; returns when it accepts connections.
  ///
  /// - Throws: `SystemError` or `CryptoError`, when the kernel or OpenSSL refuses something.
  init(
    _ index: Int, sockets: [ListeningSocket], _ shared: ProviderShared, clock: @escaping @Sendable () -> Moment
  ) throws {
    let started = Handoff<Result<(Mailbox<Batch>, Mailbox<ForwardedBroadcast>, Mailbox<LoopOrder>), any Error>>()
    thread = try Thread.start(name: "loop-\(index)") {
      do {
        let body = try LoopBody(index, sockets: sockets, shared, clock: clock)
        started.give(.success((body.settled, body.broadcasts, body.orders)))
        body.run()
      } catch {
        started.give(.failure(error))
      }
    }
    (settled, broadcasts, orders) = try started.take().get()
  }

  /// Gives a settled batch to the loop; called on the store thread.
  ///
  /// A post fails only once the loop has ended: then the pushes in it are still in flight for the store, which sends them again when it is
  /// next opened.
  func deliver(_ batch: Batch) { settled.post(batch) }

  /// Gives the loop a broadcast to send; called on the store thread. One for which there is no room is sent again later.
  func deliver(_ broadcast: ForwardedBroadcast) { broadcasts.post(broadcast) }

  /// Says GOAWAY, and lets open requests and pushes finish for up to `limit`.
  func beginDrain(within limit: TimeSpan) { orders.post(.drain(within: limit)) }

  /// Has the loop go by the newest settings.
  func adoptSettings() { orders.post(.adoptSettings) }

  /// Waits for the end of a loop that is being drained.
  func join() { thread.join() }
}

/// What a loop can be told from outside.
enum LoopOrder: Sendable {
  /// Take no new requests, finish what is open, and end.
  case drain(within: TimeSpan)
  /// Go by the newest settings.
  case adoptSettings
}
