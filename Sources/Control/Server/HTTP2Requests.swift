import HTTP2
import Primitives
import Push
import Reactor
import Transport

/// The requests that came by HTTP/2 and are at the desk, of all connections of a server.
final class HTTP2Requests: RequestOwner {
  private struct Waiting {
    let place: SlabKey
    weak var connection: HTTP2ServerConnection?
    var isHurried = false
  }

  private let desk: RequestDesk
  private let clock: HTTPClock
  private let exchanges: ExchangePool
  private let bodyBytesMax: Int
  private var waiting: [ExchangeKey: Waiting] = [:]
  /// Answers that are not sent yet.
  private var unread: [ExchangeKey: AnswerLedger.Entry] = [:]

  init(desk: RequestDesk, clock: HTTPClock, exchanges: ExchangePool, bodyBytesMax: Int) {
    self.desk = desk
    self.clock = clock
    self.exchanges = exchanges
    self.bodyBytesMax = bodyBytesMax
  }

  /// Has a complete request answered.
  func open(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    do throws(ControlError) {
      guard exchange.bodyBytesTotal <= bodyBytesMax else { throw .tooLarge(bytesMax: bodyBytesMax) }
      let request = try HTTPRequest(exchange, peer: connection.peer, face: connection.isSecure ? .tls : .plain)
      let place = try desk.open(request, for: self, stream: exchange.key.packed)
      waiting[exchange.key] = Waiting(place: place, connection: connection)
    } catch {
      respond(exchange, HTTPResponse(error))
    }
  }

  /// Looks for clients that have gone: a stream that was reset or lost needs no answer, and one whose client sends no more
  /// gets it soon.
  func findDeparted() {
    for key in unread.keys where exchanges.exchange(for: key) == nil { unread[key] = nil }
    for (key, entry) in waiting {
      if exchanges.exchange(for: key) == nil {
        desk.abandon(entry.place)
        waiting[key] = nil
      } else if !entry.isHurried && entry.connection?.hasPeerEnded != false {
        desk.hurry(entry.place)
        waiting[key]?.isHurried = true
      }
    }
  }

  func admitted(_ stream: UInt64) { waiting[ExchangeKey(packed: stream)]?.connection?.prove() }

  func connection(of stream: UInt64) -> ObjectIdentifier? {
    waiting[ExchangeKey(packed: stream)]?.connection.map { ObjectIdentifier($0) }
  }

  func answer(_ stream: UInt64, _ response: HTTPResponse, _ entry: AnswerLedger.Entry?) {
    let key = ExchangeKey(packed: stream)
    waiting[key] = nil
    unread[key] = entry
    if let exchange = exchanges.exchange(for: key) { respond(exchange, response) }
  }

  func begin(_ stream: UInt64, _ response: HTTPResponse) -> Bool {
    guard let exchange = exchanges.exchange(for: ExchangeKey(packed: stream)) else { return false }
    return exchange.beginResponse(status: response.status, fields(response))
  }

  func write(_ stream: UInt64, _ bytes: [UInt8]) -> BodyWriter.Outcome {
    guard let exchange = exchanges.exchange(for: ExchangeKey(packed: stream)) else { return .gone }
    return exchange.writeBody(bytes.span.bytes, unsentBytesMax: Limits.streamedBytes) ? .taken : .full
  }

  func endBody(_ stream: UInt64) {
    let key = ExchangeKey(packed: stream)
    waiting[key] = nil
    exchanges.exchange(for: key)?.endBody()
  }

  private func fields(_ response: HTTPResponse) -> FieldList {
    var fields = FieldList()
    for line in response.fields.lines { fields.append(line.name, HTTP1Encoder.oneLine(line.value)) }
    fields.append("date", clock.date)
    return fields
  }

  func respond(_ exchange: Exchange, _ response: HTTPResponse) {
    let hasContent = response.status != 204 && response.status != 304
    let withoutBody = exchange.value(of: .method)?.equals("HEAD") ?? false
    var fields = fields(response)
    if hasContent && response.stream == nil { fields.append("content-length", "\(response.body.count)") }
    exchange.respond(status: response.status, fields, body: hasContent && !withoutBody ? response.body.span.bytes : RawSpan())
  }
}

extension FieldList {
  fileprivate mutating func append(_ name: String, _ value: String) {
    append(name: Array(name.utf8).span.bytes, Array(value.utf8).span.bytes)
  }
}

extension HTTPRequest {
  /// The request of an HTTP/2 exchange that is complete.
  init(_ exchange: Exchange, peer: SocketAddress, face: Face) throws(ControlError) {
    var fields = HTTPFields()
    for index in 0..<exchange.fieldCount {
      let name = exchange.name(ofField: index).string
      if !name.hasPrefix(":") { fields.append(name, exchange.value(ofField: index).string) }
    }
    try self.init(
      method: HTTPMethod(exchange.value(of: .method)?.string ?? ""), target: exchange.value(of: .path)?.string ?? "",
      fields: fields, authority: exchange.value(of: .authority)?.string, body: exchange.body.array, peer: peer, face: face)
  }
}
