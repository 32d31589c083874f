import Delivery
import HTTP2
import Primitives
import Push
import Reactor
import Transport

// What comes back on a link's connections.
extension UpstreamLink: HTTP2ClientDelegate {
  func clientMaySend(_ client: HTTP2Client) {
    if client === connecting {
      connecting = nil
      state.value.clients.append(client)
      state.value.window.connected()
      if state.value.clients.count == 1 { forwarder.delegate?.upstreamOpened(index) }
    }
    pump()
  }

  func clientMayHaveAnswers(_ client: HTTP2Client) {
    guard let delegate = forwarder.delegate else { return }
    let now = loop.now
    while let answer = client.takeAnswer() {
      guard let flight = state.value.flights.remove(SlabKey(packed: answer.tag)) else { continue }
      if let failure = answer.failure {
        let outcome = Self.meaning(of: failure)
        if let broadcast = flight.broadcast {
          delegate.broadcastCompleted(broadcast, outcome, nil, detail: "")
        } else {
          delegate.completed(flight.ticket, outcome, nil, detail: RawSpan())
        }
        continue
      }
      client.tag = Self.hasAnswered
      var detail = ByteRange.empty
      let read = UpstreamAnswer(answer, detail: &detail)
      note(read, on: client, at: loop.steadyNow, delegate)
      let outcome = read.meaning(at: now, mayRetire: state.value.window.mayRetire)
      if let broadcast = flight.broadcast {
        var text = ""
        if !detail.isEmpty, let header = answer.value(of: .widgetpushOutcome) { text = header[detail].string }
        delegate.broadcastCompleted(broadcast, outcome, read, detail: text)
      } else if !detail.isEmpty, let header = answer.value(of: .widgetpushOutcome) {
        delegate.completed(flight.ticket, outcome, read, detail: header[detail])
      } else {
        delegate.completed(flight.ticket, outcome, read, detail: RawSpan())
      }
    }
  }

  private static func meaning(of failure: StreamFailure) -> UpstreamOutcome {
    switch failure {
    case .refused: .notAttempted(.upstreamBusy)
    case .unprocessed: .notAttempted(.upstreamUnavailable)
    case .reset, .cancelled, .connectionLost, .outOfMemory: .retry(.upstreamUnavailable)
    }
  }

  /// Counts the answer, and tells when it changes what is thought of the upstream.
  private func note(_ answer: UpstreamAnswer, on client: HTTP2Client, at now: Instant, _ delegate: any ForwarderDelegate) {
    let mightRetire = state.value.window.mayRetire
    state.value.window.answered(answer, at: now)
    let mayRetire = state.value.window.mayRetire
    if mightRetire != mayRetire { delegate.retiringStopped(index, signer: signer, mightRetire) }
    let refuses = answer.ofUpstream == .refusesSender
    if refuses != state.value.refusesCredentials { delegate.upstreamRefusesCredentials(index, signer: signer, refuses) }
    state.value.refusesCredentials = refuses
    if answer.reason == .expiredProviderToken {
      // The machine's clock was set, or the token rested: the next one is new, and so is its connection, since that goes on refusing.
      authorization.renewNext(signer: signer)
      client.close()
    }
    if case .open = state.value.window.breaker.state {
      state.value.wasLeftAlone = true
      returnQueue(refuses ? .upstreamPaused : .upstreamFailed)
    } else if state.value.wasLeftAlone {
      state.value.wasLeftAlone = false
      delegate.upstreamOpened(index)
    }
  }

  func client(_ client: HTTP2Client, isGoingAway goAway: PeerGoAway) { connectIfNeeded() }

  func client(_ client: HTTP2Client, ended end: ConnectionEnd) {
    let now = loop.steadyNow
    var isOfUse = false
    if client === connecting {
      connecting = nil
      state.value.window.connectFailed(at: now, jitter: .random(in: 0...1))
    } else {
      state.value.clients.removeAll { $0 === client }
      isOfUse = client.tag == Self.hasAnswered
      state.value.window.disconnected(at: now, orderly: end.isRegular, hasAnswered: isOfUse, jitter: .random(in: 0...1))
    }
    if state.value.clients.isEmpty {
      if !isDraining && !(end.isRegular && isOfUse) { forwarder.delegate?.upstreamFailed(index, at: address, end) }
      if case .unavailable(_, let cause) = state.value.window.availability(at: now) { return returnQueue(cause) }
    }
    connectIfNeeded()
  }
}
