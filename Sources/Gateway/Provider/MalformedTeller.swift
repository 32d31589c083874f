import HTTP2
import Primitives
import Push
import Reactor
import Transport

/// Tells of malformed requests, which nobody answers, and of a flood of them no more than a few.
///
/// For one loop.
final class MalformedTeller {
  private let observer: (@Sendable (GatewayEvent) -> Void)?
  private var rate = EventRate(burst: Limits.malformedTold.burst, perSecond: Limits.malformedTold.perSecond)
  /// How many were counted and not told since the last that was.
  private var untold = 0

  init(_ observer: (@Sendable (GatewayEvent) -> Void)?) { self.observer = observer }

  /// Tells of the first of `requests`, and how many others there were; `now` is the steady clock's time.
  func tell(_ requests: [MalformedRequest], from connection: HTTP2ServerConnection, at now: Instant) {
    guard let observer, let first = requests.first else { return }
    guard rate.allows(at: now) else { return untold += requests.count }
    observer(
      .malformed(
        RejectedRequest(
          peer: connection.peer, serverName: connection.serverName, request: first, others: untold + requests.count - 1)))
    untold = 0
  }
}

extension ProviderLoop {
  func rejected(_ requests: [MalformedRequest], on connection: HTTP2ServerConnection) {
    for request in requests { metrics.malformed(request.fault, shard: index) }
    malformed.tell(requests, from: connection, at: loop.steadyNow)
  }
}
