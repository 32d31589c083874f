import Delivery
import HTTP2
import Primitives
import Push
import Reactor
import Rules
import Storage

// Answers that wait for the upstream's own, where an app's `answer` says so, so that backends go on learning of dead tokens.
extension ProviderLoop {
  /// Remembers the pushes of a settled batch that go at once and are still to be answered. Their outcomes cannot come before.
  func expectAnswers(to batch: Batch) {
    for place in batch.forwards.indices {
      guard let index = batch.forwards[place].admit, let timeout = batch.admits[index].answerTimeout else { continue }
      let operation = batch.admits[index]
      awaited.add(
        AwaitedAnswers.Push(
          reply: operation.reply, id: operation.id, token: operation.token, type: operation.type, environment: operation.environment,
          expiration: operation.expiration, received: operation.received),
        batch.forwards[place].ticket, for: timeout)
    }
  }

  /// Answers a push whose attempt has this outcome: an error that ends it is passed on. What goes on to be tried is the gateway's
  /// business, and answered 200, as all else is.
  ///
  /// - Returns: The status and reason that were passed on; 0 where none was.
  func answer(_ push: AwaitedAnswers.Push, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?) -> (UInt16, Reason?) {
    guard case .final(let disposition, let cause) = outcome.completion(expiration: push.expiration, received: push.received) else {
      accept(push, .waiting, .none)
      return (0, nil)
    }
    guard let answer, answer.status >= 400 else {
      accept(push, disposition, cause)
      return (0, nil)
    }
    let status = min(answer.status, 599)
    if let reason = answer.reason { metrics.answered(push.type, reason, shard: index) }
    if let exchange = exchanges.exchange(for: ExchangeKey(packed: push.reply)) {
      if !rules.answers.raiseAfterRefusedPush, answer.reason?.isOfProviderToken != true { exchange.trustClient() }
      state.value.answers.pass(
        exchange, answerIDs(push.id, push.environment), status: status, answer.reason,
        since: answer.timestamp ?? (status == 410 ? loop.now : nil),
        explanation: isExplained(exchange) ? (disposition, cause.remedy.happened) : nil)
    }
    if let reason = answer.reason, let observer {
      let detail = "the upstream answered so; the app's answer is upstream, which passes it on"
      observer(.refused(RefusedRequest(id: push.id, token: push.token, type: push.type, reason: reason, field: "", detail: detail)))
    }
    return (UInt16(status), answer.reason)
  }

  /// Has every push that is on disk answered within `span`, whatever its upstream says and however long the app would wait for it: its
  /// sender must not take it for lost, and send it again.
  func answerAll(within span: TimeSpan) { awaited.end(after: span) }

  /// Answers 200.
  func accept(_ push: AwaitedAnswers.Push, _ disposition: Disposition, _ cause: Cause) {
    metrics.accepted(push.type, shard: index)
    guard let exchange = exchanges.exchange(for: ExchangeKey(packed: push.reply)) else { return }
    if !rules.answers.raiseAfterRefusedPush { exchange.trustClient() }
    let happened = cause == .none ? disposition.remedy.happened : cause.remedy.happened
    state.value.answers.accept(
      exchange, answerIDs(push.id, push.environment), explanation: isExplained(exchange) ? (disposition, happened) : nil)
  }
}
