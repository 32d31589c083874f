import Faults
import HTTP2
import Primitives
import ProviderAPI
import Push
import Reactor
import Rules
import Storage
import Transport

// Faults that somebody has set, and those who record: they see pushes that the rules have passed, before the store hears of them.
extension ProviderLoop {
  /// The push where it is to go on, marked if a fault has touched it; nil where a fault has dealt with it, or holds it back. Those who
  /// record are told of it once it is not held back.
  ///
  /// - Parameter strike: The fault that has held it back before; no other strikes it then.
  func spared(
    _ push: ParsedPush, _ exchange: Exchange, on connection: HTTP2ServerConnection, after strike: FaultStrike?
  ) -> ParsedPush? {
    let remembered = state(of: connection)
    // Told now: what ends the connection takes the request's bytes along.
    let (id, bundleID) = (push.id ?? makeID(), bundleID(of: push, exchange, from: remembered))
    var push = push
    push.id = id
    let copy =
      recordings.isArmed ? recorded(exchange, id: id, defaultTopic: push.hasDefaultTopic ? topic(of: remembered) : nil) : nil
    let received = exchange.received
    let effect =
      strike.map { faults.apply($0, to: exchange, on: connection) }
      ?? faults.strike(exchange, on: connection, token: push.token, bundleID: unsafe bundleID.span.bytes, push.type)
    if let copy {
      if case .held = effect { return nil }
      recordings.take(copy, bundleID: String(decoding: bundleID, as: UTF8.self), at: received)
    }
    switch effect {
    case .none: return push
    case .passes:
      push.warnings.insert(.struckByFault)
      return push
    case .held: return nil
    case .answer(let strike, let reason, let timestamp):
      var refusal = Refusal(reason: reason, field: "", detail: strike.sentence)
      (refusal.id, refusal.token, refusal.type, refusal.topic) = (id, push.token, push.type, push.hasDefaultTopic ? nil : push.topic)
      let since = reason.status == 410 ? timestamp ?? loop.now : nil
      refuse(refusal, exchange, environment: remembered.environment, cause: .fault, since: since)
      return nil
    case .ended(let strike):
      let batch = openBatch
      batch.refusals.append(
        RefusedOperation(
          id: id, token: push.token, type: push.type, bundleID: unsafe batch.append(bundleID.span.bytes), reason: nil, cause: .fault,
          detail: batch.append(strike.sentence), received: loop.now))
      if batch.operationCount >= Limits.batchOperations { submit() }
      return nil
    }
  }

  /// The request about broadcasts or channels where it is to go on; nil where a fault has dealt with it, or holds it back. It counts as a
  /// push of its app to no token.
  func spared(
    _ request: BroadcastRequest, _ exchange: Exchange, on connection: HTTP2ServerConnection, after strike: FaultStrike?
  ) -> BroadcastRequest? {
    let (id, bundleID) = (request.id ?? makeID(), exchange.headerBytes[request.bundle].array)
    let effect =
      strike.map { faults.apply($0, to: exchange, on: connection) }
      ?? faults.strike(exchange, on: connection, token: nil, bundleID: unsafe bundleID.span.bytes, .liveactivity)
    switch effect {
    case .none: return request
    case .passes:
      var request = request
      if case .send(var push) = request.action {
        push.warnings.insert(.struckByFault)
        request.action = .send(push)
      }
      return request
    case .held: return nil
    case .answer(let strike, let reason, timestamp: _):
      let app = String(decoding: bundleID, as: UTF8.self)
      refuse(exchange, id, reason, field: "", detail: strike.sentence, bundleID: app, cause: .fault)
      return nil
    case .ended(let strike):
      let batch = openBatch
      batch.refusals.append(
        RefusedOperation(
          id: id, token: nil, type: .liveactivity, bundleID: unsafe batch.append(bundleID.span.bytes), reason: nil, cause: .fault,
          detail: batch.append(strike.sentence), received: loop.now))
      if batch.operationCount >= Limits.batchOperations { submit() }
      return nil
    }
  }

  /// Goes on with a request that a fault has held back.
  func resume(_ exchange: Exchange, on connection: HTTP2ServerConnection, after strike: FaultStrike) {
    judge(exchange, on: connection, after: strike)
  }

  /// The topic of a connection's certificate.
  private func topic(of connection: ProviderConnection) -> [UInt8] { connection.credentials.value.certificate?.defaultTopic ?? [] }

  private func bundleID(of push: ParsedPush, _ exchange: Exchange, from connection: ProviderConnection) -> [UInt8] {
    guard push.hasDefaultTopic else { return exchange.headerBytes[push.bundle].array }
    let topic = topic(of: connection)
    return Array(topic[Int(push.bundle.offset)..<Int(push.bundle.offset) + Int(push.bundle.count)])
  }
}
