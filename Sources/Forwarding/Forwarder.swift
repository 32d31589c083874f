public import Delivery
import Primitives
import Push
public import Security
public import Transport

/// Who hands pushes to a forwarder and learns what became of them, on the loop's thread.
public protocol ForwarderDelegate: AnyObject {
  /// The outcome of one attempt; `detail` is what a mock device had to say and is good during the call.
  ///
  /// - Parameter answer: The upstream's own answer; nil where there was none.
  func completed(_ ticket: PushTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: RawSpan)
  /// The outcome of one attempt to send a broadcast; `detail` is what a mock device had to say.
  func broadcastCompleted(_ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, detail: String)
  /// The upstream has a connection after it had none: what waits for it may go.
  func upstreamOpened(_ upstream: Int)
  /// The upstream's last connection has failed, or could not be made.
  func upstreamFailed(_ upstream: Int, _ end: ConnectionEnd)
  /// The upstream has begun, or ceased, to refuse the gateway's own provider token.
  func upstreamRefusesCredentials(_ upstream: Int, _ refuses: Bool)
  /// The upstream's answers have come, or ceased to be, under suspicion: no token is retired meanwhile.
  func retiringStopped(_ upstream: Int, _ isStopped: Bool)
  /// The gateway's own provider token for the upstream cannot be made.
  func cannotSign(_ upstream: Int, _ error: CryptoError)
}

/// All upstreams of one loop: pushes in, outcomes out.
///
/// Each upstream has connections and a queue of its own, so that one that is down or slow never holds up another.
public final class Forwarder {
  /// Who is told; must live as long as it is set. Not a weak reference, since those make every retain and release of what
  /// they refer to slow, and there are several a push.
  public unowned var delegate: (any ForwarderDelegate)?

  let authorization: UpstreamAuthorization
  /// The bytes of queued pushes.
  let blocks = BlockPool(bytesMax: Limits.upstreamQueueBytes)
  private let links: Confined<[UpstreamLink]> = Confined([])

  /// A forwarder to `upstreams`, which pushes name by their index.
  public init(_ upstreams: [Upstream], authorization: UpstreamAuthorization, on transport: TransportLoop) {
    self.authorization = authorization
    links.value = upstreams.indices.map { UpstreamLink($0, upstreams[$0], on: transport, self) }
  }

  deinit { for link in links.value { link.abandon() } }

  /// Sends `pushes`, whose ranges lie in `bytes`, each now or when a stream is free.
  ///
  /// Most often all go to one upstream, which gets them in one go. A number that no upstream has is one that the configuration
  /// does not know any more: the push waits for its return.
  public func send(_ pushes: Span<ForwardedPush>, _ bytes: RawSpan) {
    var start = 0
    while start < pushes.count {
      let number = pushes[start].upstream
      var end = start + 1
      while end < pushes.count, pushes[end].upstream == number { end += 1 }
      let run = pushes.extracting(start..<end)
      if number < links.value.count {
        links.value[Int(number)].send(run, bytes)
      } else {
        for place in run.indices { delegate?.completed(run[place].ticket, .notAttempted(.upstreamUnavailable), nil, detail: RawSpan()) }
      }
      start = end
    }
  }

  /// Sends a broadcast, now or when a stream is free.
  public func send(_ broadcast: ForwardedBroadcast) {
    let number = Int(broadcast.ticket.upstream)
    guard number < links.value.count else {
      delegate?.broadcastCompleted(broadcast.ticket, .notAttempted(.upstreamUnavailable), detail: "")
      return
    }
    links.value[number].send(broadcast)
  }

  /// Trusts the upstreams, in their order, by these contexts from the next connection on.
  public func replaceTLS(_ contexts: [TLSContext]) {
    for (link, tls) in zip(links.value, contexts) { link.tls = tls }
  }

  /// Sends nothing more; what is on its way may still be answered, then the connections close.
  public func drain() { for link in links.value { link.drain() } }

  /// Ends every connection at once; what was on its way is reported as a failed attempt.
  public func abort() { for link in links.value { link.abort() } }

  /// Pushes of all upstreams that are written and not answered, and that wait for a stream.
  public var load: (inFlight: Int, queued: Int) {
    links.value.reduce((0, 0)) { ($0.0 + $1.load.inFlight, $0.1 + $1.load.queued) }
  }

  func cannotSign(upstream: Int, _ error: CryptoError) { delegate?.cannotSign(upstream, error) }
}
