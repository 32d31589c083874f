import Control
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
    let batch = openBatch
    var operation = CompleteOperation(
      ticket: ticket, outcome: outcome, detail: detail.isEmpty ? .empty : batch.append(detail), isFault: answer?.cause == .fault)
    if !awaited.isEmpty, let push = awaited.take(ticket) {
      (operation.passedOn, operation.passedOnReason) = self.answer(push, outcome, answer)
    }
    batch.completions.append(operation)
    metrics.forwarded(outcome, shard: index)
    if batch.operationCount >= Limits.batchOperations { submit() }
  }

  func upstreamOpened(_ upstream: Int) {
    store.upstreamAvailable(UInt16(upstream))
    // A mock device that has been started anew shows the machine's time.
    if clockSettings.permitted { Task { [clock] in await clock.announce() } }
    conditions.set("signing \(upstream)", nil)
    conditions.setUnreachable(upstreamNames[upstream], nil)
    observer?(.upstreamOpened(name: upstreamNames[upstream]))
  }

  func upstreamFailed(_ upstream: Int, at address: String, _ end: ConnectionEnd) {
    conditions.setUnreachable(upstreamNames[upstream], "the upstream \(upstreamNames[upstream]) at \(address) cannot be reached (\(end))")
    observer?(.upstreamFailed(name: upstreamNames[upstream], address: address, end))
  }

  func upstreamRefusesCredentials(_ upstream: Int, signer: Int, _ refuses: Bool) {
    let sentence =
      "The upstream \(upstreamNames[upstream]) refuses the provider tokens of the gateway's own key \(keyName(signer)); check the key, its team and its environment."
    conditions.set("credentials \(upstream) \(signer) \(index)", refuses ? sentence : nil)
  }

  func retiringStopped(_ upstream: Int, signer: Int, _ isStopped: Bool) {
    let sentence =
      "More than 20 % of the last answers of the upstream \(upstreamNames[upstream]) to the key \(keyName(signer)) were 400 or 410, so no token is retired; check environment and key."
    conditions.set("retiring \(upstream) \(signer) \(index)", isStopped ? sentence : nil)
  }

  private func keyName(_ signer: Int) -> String {
    let key = signers.all[signer]
    return "\(key.keyID) of the team \(key.teamID)"
  }

  func cannotSign(_ upstream: Int, _ error: CryptoError) {
    conditions.set("signing \(upstream)", "The gateway cannot sign for the upstream \(upstreamNames[upstream]): \(error).")
    observer?(.cannotSign(upstream: upstreamNames[upstream], error))
  }
}
