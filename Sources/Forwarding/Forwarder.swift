public import Delivery
import Primitives
public import Push
import Reactor
public import Security
public import Transport

/// Who hands pushes to a forwarder and learns what became of them, on the loop's thread.
public protocol ForwarderDelegate: AnyObject {
  /// The outcome of one attempt; `detail` is what a mock device had to say and is good during the call.
  ///
  /// - Parameter answer: The upstream's own answer; nil where there was none.
  func completed(_ ticket: PushTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: RawSpan)
  /// The outcome of one attempt to send a broadcast; `detail` is what a mock device had to say.
  ///
  /// - Parameter answer: The upstream's own answer; nil where there was none.
  func broadcastCompleted(_ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: String)
  /// The upstream has a connection after it had none, or works again after its answers were errors: what waits for it may go.
  func upstreamOpened(_ upstream: Int)
  /// The upstream's last connection, to that address, has failed, or could not be made.
  func upstreamFailed(_ upstream: Int, at address: String, _ end: ConnectionEnd)
  /// The upstream has begun, or ceased, to refuse the provider tokens of one of the gateway's own keys.
  func upstreamRefusesCredentials(_ upstream: Int, signer: Int, _ refuses: Bool)
  /// The upstream's answers to what one of the keys has signed have come, or ceased to be, under suspicion: no token is retired meanwhile.
  func retiringStopped(_ upstream: Int, signer: Int, _ isStopped: Bool)
  /// The gateway's own provider token for the upstream cannot be made.
  func cannotSign(_ upstream: Int, _ error: CryptoError)
}

/// All upstreams of one loop: pushes in, outcomes out.
///
/// Each upstream has connections and a queue of its own for each of the gateway's keys: one that is down or slow never holds up another,
/// and Apple's servers take the tokens of one team, and of related keys, on a connection (Apple, "Establishing a token-based connection
/// to APNs").
public final class Forwarder {
  /// Who is told; must live as long as it is set. Not a weak reference, since those make every retain and release of what
  /// they refer to slow, and there are several a push.
  public unowned var delegate: (any ForwarderDelegate)?

  let authorization: UpstreamAuthorization
  /// The bytes of queued pushes.
  let blocks = BlockPool(bytesMax: Limits.upstreamQueueBytes)
  private let transport: TransportLoop
  private let state: Confined<State>
  private let senders: TimeScale

  private struct State {
    var upstreams: [Upstream]
    /// By the numbers of upstream and key; made when first needed.
    var links: [[UpstreamLink?]]
    var isDraining = false
    /// What the queues of the upstreams hold.
    var shares: UpstreamShares
  }

  /// A forwarder to `upstreams`, which pushes name by their index.
  ///
  /// - Parameter senders: The clock by which senders write dates, and upstreams read them.
  public init(
    _ upstreams: [Upstream], authorization: UpstreamAuthorization, senders: TimeScale = .real, on transport: TransportLoop
  ) {
    self.authorization = authorization
    self.senders = senders
    self.transport = transport
    state = Confined(
      State(
        upstreams: upstreams, links: Array(repeating: [], count: upstreams.count),
        shares: UpstreamShares(of: Limits.upstreamQueueBytes, upstreams: upstreams.count)))
  }

  deinit { for link in links { link.abandon() } }

  /// Those that there are.
  private var links: [UpstreamLink] { state.value.links.flatMap { $0.compactMap(\.self) } }

  /// The link to an upstream for what a key signs; nil where there is no such upstream, or no key.
  @inline(__always)
  private func link(_ upstream: Int, signer: Int) -> UpstreamLink? {
    guard upstream < state.value.links.count, signer != PushSigners.none else { return nil }
    if signer < state.value.links[upstream].count, let link = state.value.links[upstream][signer] { return link }
    return makeLink(upstream, signer: signer)
  }

  private func makeLink(_ upstream: Int, signer: Int) -> UpstreamLink {
    while state.value.links[upstream].count <= signer { state.value.links[upstream].append(nil) }
    let link = UpstreamLink(upstream, state.value.upstreams[upstream], signer: signer, on: transport, self)
    if state.value.isDraining { link.drain() }
    state.value.links[upstream][signer] = link
    return link
  }

  /// Sends `pushes`, whose ranges lie in `bytes`, each now or when a stream is free.
  ///
  /// Most often all go to one upstream and are signed by one key, and are sent in one go. A number that no upstream has is one that the configuration
  /// does not know any more: the push waits for its return.
  public func send(_ pushes: Span<ForwardedPush>, _ bytes: RawSpan) {
    var start = 0
    while start < pushes.count {
      let (number, signer) = (pushes[start].upstream, pushes[start].signer)
      var end = start + 1
      while end < pushes.count, pushes[end].upstream == number, pushes[end].signer == signer { end += 1 }
      let run = pushes.extracting(start..<end)
      if let link = link(Int(number), signer: signer) {
        link.send(run, bytes)
      } else {
        let cause = obstacle(number)
        for place in run.indices { delegate?.completed(run[place].ticket, .notAttempted(cause), nil, detail: RawSpan()) }
      }
      start = end
    }
  }

  /// Sends a broadcast, now or when a stream is free.
  public func send(_ broadcast: ForwardedBroadcast) {
    guard let link = link(Int(broadcast.ticket.upstream), signer: broadcast.signer) else {
      delegate?.broadcastCompleted(broadcast.ticket, .notAttempted(obstacle(broadcast.ticket.upstream)), nil, detail: "")
      return
    }
    link.send(broadcast)
  }

  /// A copy of a push for the queue of its upstream; nil when what waits for that upstream holds all that it may, or all that there is.
  func queue(_ push: ForwardedPush, _ bytes: RawSpan) -> QueuedPush? {
    let byteCount = BlockPool.capacity(for: QueuedPush.byteCount(of: push))
    guard state.value.shares.room(for: push.upstream) >= byteCount, let queued = QueuedPush(push, bytes, in: blocks) else { return nil }
    state.value.shares.add(queued.capacity, to: push.upstream)
    return queued
  }

  /// Gives the memory of a push back that was queued.
  func release(_ queued: QueuedPush) {
    state.value.shares.add(-queued.capacity, to: queued.push.upstream)
    queued.release(to: blocks)
  }

  /// Bytes that are kept for pushes to come.
  public var spareBytes: Int { blocks.bytes - blocks.lentBytes + links.reduce(0) { $0 + $1.spareBytes } }

  /// Frees them, when a burst is over.
  public func releaseSpare() {
    blocks.releaseKept()
    for link in links { link.releaseSpare() }
  }

  /// Why there is no link to an upstream of that number, or none for what no key may sign.
  private func obstacle(_ upstream: UInt16) -> Cause {
    if Int(upstream) < state.value.upstreams.count { return .noSigningKey }
    return upstream == ForwardedPush.upstreamOfNoApp ? .appNotConfigured : .upstreamNotConfigured
  }

  /// Trusts the upstreams, in their order, by these contexts from the next connection on.
  public func replaceTLS(_ contexts: [TLSContext]) {
    for number in state.value.upstreams.indices.prefix(contexts.count) {
      state.value.upstreams[number].tls = contexts[number]
      for link in state.value.links[number] { link?.tls = contexts[number] }
    }
  }

  /// Sends nothing more; what is on its way may still be answered, then the connections close.
  public func drain() {
    state.value.isDraining = true
    for link in links { link.drain() }
  }

  /// Ends every connection at once; what was on its way is reported as a failed attempt.
  public func abort() { for link in links { link.abort() } }

  /// Pushes of all upstreams that are written and not answered, and that wait for a stream.
  public var load: (inFlight: Int, queued: Int) {
    links.reduce((0, 0)) { ($0.0 + $1.load.inFlight, $0.1 + $1.load.queued) }
  }

  /// How far the product's dates are ahead of those that upstreams read.
  var shift: TimeSpan { senders == .real ? transport.loop.moment.lead : .zero }

  func cannotSign(upstream: Int, _ error: CryptoError) { delegate?.cannotSign(upstream, error) }
}
