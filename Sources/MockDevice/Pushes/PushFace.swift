import DeviceModel
import Faults
import HTTP2
import Primitives
import ProviderAPI
import Push
import Rules
import Transport

/// The HTTP/2 side of `POST /3/device/<token>` and `POST /4/broadcasts/apps/<bundle>`: answers on the loop, in the round in which the request came.
final class PushFace {
  private let desk: PushDesk
  private let book: FaultBook
  private var faults: FaultInjector?
  private var fields = FieldList()
  private var outcomeHeader = OutcomeHeader()
  /// Where a push that was held is found again.
  private var exchanges: ExchangePool?

  init(_ desk: PushDesk, faults: FaultBook) {
    self.desk = desk
    book = faults
  }

  /// Is to answer what comes on the loop of `transport`.
  func begin(on transport: TransportLoop) {
    exchanges = transport.exchanges
    let faults = FaultInjector(book, on: transport)
    faults.resume = { [unowned self] exchange, connection, strike in
      if let path = exchange.value(of: .path), RequestRules.isBroadcast(path) {
        settleBroadcast(exchange, on: connection, .informed, after: strike)
      } else {
        settle(exchange, on: connection, .informed, after: strike)
      }
    }
    self.faults = faults
  }

  /// Answers a request for the path that APNs serves; false when it is for another path, and somebody else answers.
  func answer(_ exchange: Exchange, on connection: HTTP2ServerConnection) -> Bool {
    guard let path = exchange.value(of: .path) else { return false }
    if RequestRules.isBroadcast(path) {
      settleBroadcast(exchange, on: connection, .new)
      return true
    }
    guard path.isPushPath else { return false }
    settle(exchange, on: connection, .new)
    return true
  }

  /// - Parameter strike: The fault that has held the push back, if one has.
  private func settle(
    _ exchange: Exchange, on connection: HTTP2ServerConnection, _ progress: PushProgress, after strike: FaultStrike? = nil
  ) {
    let settlement = desk.settle(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal, progress)
    switch settlement {
    case .answered(let answer): respond(to: exchange, answer)
    case .unknown(let token):
      let key = exchange.key
      desk.hold(token) { [weak self, weak connection] in
        guard let self, let connection, let exchange = exchanges?.exchange(for: key) else { return }
        settle(exchange, on: connection, .held)
      }
    case .uninformed(let bundleID):
      hold(exchange, on: connection, schemasOf: bundleID) { $0.settle($1, on: $2, .informed) }
    case .exposed(let push):
      expose(push, exchange, on: connection, after: strike) { self.settle(exchange, on: connection, .spared) }
    }
  }

  /// - Parameter strike: The fault that has held the broadcast back, if one has.
  private func settleBroadcast(
    _ exchange: Exchange, on connection: HTTP2ServerConnection, _ progress: PushProgress, after strike: FaultStrike? = nil
  ) {
    let settlement = desk.settleBroadcast(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal,
      progress)
    switch settlement {
    case .answered(let answer): respond(to: exchange, answer)
    case .uninformed(let bundleID):
      hold(exchange, on: connection, schemasOf: bundleID) { $0.settleBroadcast($1, on: $2, .informed) }
    case .exposed(let broadcast):
      expose(broadcast, exchange, on: connection, after: strike) {
        self.settleBroadcast(exchange, on: connection, .spared)
      }
    }
  }

  /// Holds a request until the gateway has told the schemas of its app, then goes on with it, unless it has gone.
  private func hold(
    _ exchange: Exchange, on connection: HTTP2ServerConnection, schemasOf bundleID: String,
    _ resume: @escaping (PushFace, Exchange, HTTP2ServerConnection) -> Void
  ) {
    let key = exchange.key
    desk.hold(schemasOf: bundleID) { [weak self, weak connection] in
      guard let self, let connection, let exchange = exchanges?.exchange(for: key) else { return }
      resume(self, exchange, connection)
    }
  }

  /// Lets a fault strike the push, if one does; else goes on with it.
  private func expose(
    _ push: ExposedPush, _ exchange: Exchange, on connection: HTTP2ServerConnection, after strike: FaultStrike?, goOn: () -> Void
  ) {
    guard let faults else { return goOn() }
    let effect =
      strike.map { faults.apply($0, to: exchange, on: connection) }
      ?? faults.strike(exchange, on: connection, token: push.token, bundleID: unsafe push.bundleID.span.bytes, push.type)
    switch effect {
    case .none: goOn()
    case .passes(let strike):
      desk.note(strike, push)
      goOn()
    case .held: break
    case .answer(let strike, let reason, let timestamp):
      desk.note(strike, push)
      respond(to: exchange, push, strike, reason, since: reason.status == 410 ? timestamp ?? desk.now : nil)
    case .ended(let strike): desk.note(strike, push)
    }
  }

  /// Answers as the fault says, and tells the gateway that it was one.
  private func respond(to exchange: Exchange, _ push: ExposedPush, _ strike: FaultStrike, _ reason: Reason, since: Instant?) {
    fields.removeAll()
    fields.append(push.token == nil ? .apnsRequestID : .apnsID, bytesMax: PushID.textCount) { push.id.write(to: &$0) }
    outcomeHeader.write(strike)
    fields.append(.widgetpushOutcome, outcomeHeader.value)
    let body = ErrorBody.bytes(reason, since: since, detail: nil)
    unsafe exchange.respond(status: reason.status, fields, body: body.span.bytes)
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

  private func respond(to exchange: Exchange, _ answer: BroadcastAnswer) {
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
