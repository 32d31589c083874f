import Delivery
import Forwarding
import HTTP2
import Primitives

/// The forwarder's side of a connection, without its socket. The first byte of an input decides the pieces and what is sent.
enum AnswerEntry {
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  static func run(_ input: [UInt8]) {
    guard let how = input.first else { return }
    let memory = SessionMemory(blockBytesMax: 1 << 20)
    var sent = 0
    var answered = 0
    do {
      var session = ClientSession(memory: memory)
      var output = ByteQueue(capacity: 1 << 16)
      let bytes = (how & 1 == 0 ? settings : []) + input.dropFirst()
      let pieceSize = [Int.max, 1, 9, 100][Int(how >> 1 & 3)]
      var place = 0
      while place < bytes.count {
        let piece = Array(bytes[place..<min(bytes.count, place + min(pieceSize, bytes.count))])
        place += piece.count
        _ = session.receive(piece.span.bytes)
        answered += take(&session)
        if sent < 4 && session.canOpen && send(&session, sent) { sent += 1 }
        _ = session.drain(into: &output)
        output.removeAll()
      }
      if how & 8 != 0 { _ = session.cancelStalled(sentBefore: 1) }
      if how & 16 != 0 { session.goAway() }
      _ = session.drain(into: &output)
      session.disconnect()
      answered += take(&session)
    }
    precondition(sent == answered, "\(sent) requests have \(answered) answers")
    precondition(memory.blocks.lentBytes == 0 && memory.liveAllocations == 0, "something is left behind")
  }

  private static func send(_ session: inout ClientSession, _ tag: Int) -> Bool {
    var fields = FieldList()
    for (name, value) in [(HeaderName.method, "POST"), (.scheme, "https"), (.path, "/3/device/a1b2"), (.authority, "localhost")] {
      fields.append(name, Array(value.utf8).span.bytes)
    }
    return session.send(fields, body: Array("{}".utf8).span.bytes, tag: UInt64(tag)) != nil
  }

  private static func take(_ session: inout ClientSession) -> Int {
    var count = 0
    while let answer = session.takeAnswer() {
      count += 1
      var detail = ByteRange(offset: 0, count: 0)
      if answer.failure == nil { _ = UpstreamAnswer(answer, detail: &detail) }
    }
    return count
  }
}
