import Primitives
import Push
import Reactor
import Transport

/// An HTTP/1.1 connection: its session, and its requests at the desk.
final class HTTP1Driver: ConnectionDriver, RequestOwner {
  private unowned let connection: Connection
  private let desk: RequestDesk
  private let clock: HTTPClock
  private let timeouts: HTTP1Timeouts
  private var session: HTTP1Session
  private var place: SlabKey?
  /// Answers that are not sent yet.
  private var unread: [AnswerLedger.Entry] = []
  private var hasPeerEnded = false
  /// Since when the request that is being received has been on the way, or none has.
  private var since: Uptime

  init(_ connection: Connection, desk: RequestDesk, clock: HTTPClock, limits: HTTP1Limits, timeouts: HTTP1Timeouts) {
    self.connection = connection
    self.desk = desk
    self.clock = clock
    self.timeouts = timeouts
    session = HTTP1Session(limits: limits)
    since = clock.loop.uptime
  }

  var wantsRead: Bool { session.wantsRead }
  var isDone: Bool { session.isDone }
  var isIdle: Bool { session.isIdle && !session.wantsWrite }
  var end: ConnectionEnd { hasPeerEnded ? .peerEnded : .finished }

  func receive(_ bytes: RawSpan) -> Int {
    proceed(session.receive(bytes, date: clock.date))
    return bytes.byteCount
  }

  /// Whoever sends no more may still read, but seldom does: what is being answered is hurried, and sent.
  func receiveEnd() {
    hasPeerEnded = true
    if let place { desk.hurry(place) }
    session.close()
  }

  func drain(into queue: inout ByteQueue) -> Bool {
    guard session.drain(into: &queue) else { return false }
    unread.removeAll()
    if session.isHeldBack { proceed(session.resume(date: clock.date)) }
    return true
  }

  func sweep(_ uptime: Uptime) {
    if session.isReceiving && uptime - since >= timeouts.request {
      session.refuse(.stalled(timeouts.request), date: clock.date)
      connection.setNeedsFlush()
    } else if session.isIdle && uptime - since >= timeouts.idle {
      connection.close(.finished)
    }
  }

  func finish() { session.close() }

  func ended(_ end: ConnectionEnd) {
    if let place { desk.abandon(place) }
    place = nil
  }

  func admitted(_ stream: UInt64) { connection.prove() }

  func connection(of stream: UInt64) -> ObjectIdentifier? { ObjectIdentifier(connection) }

  func answer(_ stream: UInt64, _ response: HTTPResponse, _ entry: AnswerLedger.Entry?) {
    place = nil
    if let entry { unread.append(entry) }
    proceed(session.answer(response, date: clock.date))
    connection.resumeReading()
  }

  func begin(_ stream: UInt64, _ response: HTTPResponse) -> Bool {
    session.begin(response, date: clock.date)
    connection.setNeedsFlush()
    return true
  }

  func write(_ stream: UInt64, _ bytes: [UInt8]) -> BodyWriter.Outcome {
    guard session.unsentBytes + bytes.count <= Limits.streamedBytes else { return .full }
    session.write(bytes)
    connection.setNeedsFlush()
    return .taken
  }

  func endBody(_ stream: UInt64) {
    place = nil
    proceed(session.endBody(date: clock.date))
    connection.resumeReading()
  }

  /// Hands requests on; those that the desk does not take are answered here, one after the other.
  private func proceed(_ first: HTTP1Session.Action) {
    let wasReceiving = session.isReceiving
    var action = first
    while case .handle(let message) = action {
      guard let refusal = open(message) else { break }
      action = session.answer(HTTPResponse(refusal), date: clock.date)
    }
    if !(wasReceiving && session.isReceiving) { since = clock.loop.uptime }
    connection.setNeedsFlush()
  }

  private func open(_ message: HTTP1Message) -> ControlError? {
    do throws(ControlError) {
      let request = try HTTPRequest(
        method: message.method, target: message.target, fields: message.fields, body: message.body, peer: connection.peer,
        face: connection.isSecure ? .tls : .plain)
      place = try desk.open(request, for: self, stream: 0)
      return nil
    } catch {
      return error
    }
  }
}

/// How long an HTTP/1.1 connection may take, beside what every connection is given.
struct HTTP1Timeouts {
  /// From the first byte of a request to its last.
  var request: TimeSpan
  /// Between two requests.
  var idle: TimeSpan
}

extension ControlError {
  /// 408: the request did not come in time.
  static func stalled(_ span: TimeSpan) -> ControlError {
    ControlError(status: 408, code: "timeout", message: "the request was not complete within \(durationText(span)) of its first byte")
  }
}
