import Delivery
import Forwarding
import Primitives
import Push
import Security
import Storage
import Transport

// What the upstreams answer, and how they are.
extension ProviderLoop: ForwarderDelegate {
  func completed(_ ticket: PushTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: RawSpan) {
    let batch = state.value.batch
    batch.completions.append(
      CompleteOperation(
        ticket: ticket, outcome: outcome, detail: detail.isEmpty ? .empty : batch.append(detail), isFault: answer?.cause == .fault))
    metrics.forwarded(outcome, shard: index)
    if batch.operationCount >= Limits.batchOperations { submit() }
  }

  func upstreamOpened(_ upstream: Int) {
    store.upstreamAvailable(UInt16(upstream))
    conditions.set("signing \(upstream)", nil)
    observer?(.upstreamOpened(name: upstreamNames[upstream]))
  }

  func upstreamFailed(_ upstream: Int, _ end: ConnectionEnd) {
    observer?(.upstreamFailed(name: upstreamNames[upstream], end))
  }

  func upstreamRefusesCredentials(_ upstream: Int, _ refuses: Bool) {
    let name = upstreamNames[upstream]
    let sentence = "The upstream \(name) refuses the gateway's own provider token; check the key, its team and its environment."
    conditions.set("credentials \(upstream)", refuses ? sentence : nil)
  }

  func retiringStopped(_ upstream: Int, _ isStopped: Bool) {
    let name = upstreamNames[upstream]
    let sentence =
      "More than 20 % of the last answers of the upstream \(name) were 400 or 410, so no token is retired; check environment and key."
    conditions.set("retiring \(upstream)", isStopped ? sentence : nil)
  }

  func cannotSign(_ upstream: Int, _ error: CryptoError) {
    conditions.set("signing \(upstream)", "The gateway cannot sign for the upstream \(upstreamNames[upstream]): \(error).")
    observer?(.cannotSign(upstream: upstreamNames[upstream], error))
  }
}
