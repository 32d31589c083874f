import HTTP2
import Primitives
import Testing

/// An answer as a value that outlives its slot.
struct AnswerRecord: Equatable {
  var tag: UInt64
  var failure: StreamFailure?
  var status = 0
  var fields: [[String]] = []
  var body: [UInt8] = []
}

/// A client session and what a loop does with it, in a shape that the testing macros can look into.
final class TestClient {
  let memory: SessionMemory
  private var session: ClientSession
  private var fields = FieldList()

  init(memory: SessionMemory = SessionMemory(blockBytesMax: 64 << 20), settings: ClientSettings = ClientSettings()) {
    self.memory = memory
    session = ClientSession(memory: memory, settings: settings)
  }

  @discardableResult
  func send(_ list: [(HeaderName, String)] = clientPush(), body: [UInt8] = payload, tag: UInt64 = 1, at time: Int64 = 0) -> RequestKey? {
    fields.removeAll()
    for (name, value) in list { fields.append(name, Array(value.utf8).span.bytes) }
    return session.send(fields, body: body.span.bytes, tag: tag, at: time)
  }

  /// Sends the fields that `fill` appends.
  @discardableResult
  func send(body: [UInt8], _ fill: (inout FieldList) -> Void) -> RequestKey? {
    fields.removeAll()
    fill(&fields)
    return session.send(fields, body: body.span.bytes, tag: 1)
  }

  @discardableResult func receive(_ bytes: [UInt8]) -> SessionFailure? { session.receive(bytes.span.bytes) }

  func drained() -> [UInt8] {
    var bytes: [UInt8] = []
    var queue = ByteQueue(capacity: 1 << 16)
    while true {
      let done = session.drain(into: &queue)
      bytes += queue.bytes.array
      queue.consume(queue.count)
      if done { return bytes }
    }
  }

  func answers() -> [AnswerRecord] {
    var records: [AnswerRecord] = []
    while let answer = session.takeAnswer() {
      records.append(
        AnswerRecord(
          tag: answer.tag, failure: answer.failure, status: answer.status,
          fields: (0..<answer.fieldCount).map { [answer.name(ofField: $0).string, answer.value(ofField: $0).string] },
          body: answer.body.array))
    }
    return records
  }

  @discardableResult func cancel(_ key: RequestKey) -> Bool { session.cancel(key) }
  func cancelStalled(sentBefore time: Int64) -> Int { session.cancelStalled(sentBefore: time) }
  func ping(_ data: UInt64) { session.ping(data) }
  func goAway() { session.goAway() }
  func disconnect() { session.disconnect() }
  var availableStreams: Int { session.availableStreams }
  var peerConcurrentStreams: Int { session.peerConcurrentStreams }
  var openStreams: Int { session.openStreams }
  var lastPong: UInt64? { session.lastPong }
  var peerGoAway: PeerGoAway? { session.peerGoAway }
  var isEstablished: Bool { session.isEstablished }
  var isDone: Bool { session.isDone }
  var failure: SessionFailure? { session.failure }
}

/// A push as the gateway forwards it.
func clientPush(_ number: Int = 0) -> [(HeaderName, String)] {
  let token = String(repeating: "ab", count: 30) + String(1000 + number % 9000)
  return [
    (.method, "POST"), (.scheme, "https"), (.authority, "api.push.apple.com"), (.path, "/3/device/\(token)"),
    (.authorization, "bearer " + String(repeating: "x", count: 240)), (.apnsID, "8A2B36F1-5F0E-4C62-B8A6-3A4F3D1C\(1000 + number % 9000)"),
    (.apnsPushType, "widgets"), (.apnsTopic, "com.example.app.push-type.widgets"), (.apnsPriority, "5"),
  ]
}

/// Lets both sides talk until neither has anything to say.
func converse(_ client: TestClient, _ server: TestServer) {
  while true {
    let (up, down) = (client.drained(), server.drained())
    if up.isEmpty, down.isEmpty { return }
    server.receive(up)
    client.receive(down)
  }
}
