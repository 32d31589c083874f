import DeviceModel
import HTTP2
import Primitives
import ProviderAPI
import Push
import Rules

/// The HTTP/2 side of `POST /3/device/<token>` and `POST /4/broadcasts/apps/<bundle>`: answers on the loop, in the round in which the request came.
final class PushFace {
  private let desk: PushDesk
  private var fields = FieldList()
  private var outcomeHeader = OutcomeHeader()
  /// Where a push that was held is found again.
  var exchanges: ExchangePool?

  init(_ desk: PushDesk) { self.desk = desk }

  /// Answers a request for the path that APNs serves; false when it is for another path, and somebody else answers.
  func answer(_ exchange: Exchange) -> Bool {
    guard let path = exchange.value(of: .path) else { return false }
    if RequestRules.isBroadcast(path) { return answerBroadcast(exchange) }
    guard path.isPushPath else { return false }
    settle(exchange, isHeld: false)
    return true
  }

  private func settle(_ exchange: Exchange, isHeld: Bool) {
    let settlement = desk.settle(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal,
      isHeld: isHeld)
    switch settlement {
    case .answered(let answer): respond(to: exchange, answer)
    case .unknown(let token):
      let key = exchange.key
      desk.hold(token) { [weak self] in
        guard let self, let exchange = exchanges?.exchange(for: key) else { return }
        settle(exchange, isHeld: true)
      }
    }
  }

  private func respond(to exchange: Exchange, _ answer: PushAnswer) {
    fields.removeAll()
    fields.append(.apnsID, bytesMax: PushID.textCount) { answer.id.write(to: &$0) }
    if case .refused(let reason, let since, let detail) = answer.outcome {
      let body = ErrorBody.bytes(reason, since: since, detail: detail)
      unsafe exchange.respond(status: reason.status, fields, body: body.span.bytes)
      return
    }
    outcomeHeader.write(answer.outcome)
    fields.append(.widgetpushOutcome, outcomeHeader.value)
    exchange.respond(status: 200, fields)
  }

  private func answerBroadcast(_ exchange: Exchange) -> Bool {
    let answer = desk.settleBroadcast(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal)
    fields.removeAll()
    fields.append(.apnsRequestID, bytesMax: PushID.textCount) { answer.id.write(to: &$0) }
    switch answer.result {
    case .refused(let reason, let detail):
      let body = ErrorBody.bytes(reason, since: nil, detail: detail)
      unsafe exchange.respond(status: reason.status, fields, body: body.span.bytes)
    case .taken(let outcome):
      outcomeHeader.write(outcome)
      fields.append(.widgetpushOutcome, outcomeHeader.value)
      exchange.respond(status: 200, fields)
    }
    return true
  }
}

extension RawSpan {
  /// Whether the bytes begin with `/3/`, where APNs serves devices.
  fileprivate var isPushPath: Bool { byteCount >= 3 && extracting(first: 3).equals("/3/") }
}

extension ErrorBody {
  /// The body for `reason` as bytes of its own.
  static func bytes(_ reason: Reason, since: Instant?, detail: String?) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Limits.errorBodyBytes) { buffer, count in
      var output = unsafe OutputRawSpan(buffer: UnsafeMutableRawBufferPointer(buffer), initializedCount: 0)
      append(reason, since: since, detail: detail, to: &output)
      count = unsafe output.finalize(for: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
