import HTTP2
import Primitives
import Testing

/// One HTTP/2 frame, apart from any codec: what a test writes by hand or reads back byte by byte.
struct Frame: Equatable, CustomStringConvertible {
  enum Kind: UInt8 { case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation }
  var kind: Kind
  var flags: UInt8 = 0
  var stream: UInt32 = 0
  var payload: [UInt8] = []

  static let endStream: UInt8 = 1
  static let ack: UInt8 = 1
  static let endHeaders: UInt8 = 4
  static let padded: UInt8 = 8

  var bytes: [UInt8] {
    let length = payload.count
    return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), kind.rawValue, flags] + big(stream) + payload
  }
  var description: String { "\(kind)(flags \(flags), stream \(stream), \(payload.count) bytes)" }
  var errorCode: UInt32 { payload[(kind == .goAway ? 4 : 0)...].prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

  /// Every frame of `bytes`, which must end with one.
  static func parse(_ bytes: [UInt8]) -> [Frame] {
    var frames: [Frame] = []
    var rest = bytes[...]
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let payload = Array(rest.dropFirst(9).prefix(length))
      guard payload.count == length, let kind = Kind(rawValue: head[3]) else { break }
      frames.append(Frame(kind: kind, flags: head[4], stream: stream, payload: payload))
      rest = rest.dropFirst(9 + length)
    }
    #expect(rest.isEmpty, "bytes that are no frame: \(rest.count)")
    return frames
  }
}

func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> UInt32(24 - 8 * $0) & 255) } }

/// A header block of literals without indexing and without Huffman coding (RFC 7541 section 6.2.2).
func headerBlock(_ fields: [(String, String)]) -> [UInt8] {
  fields.flatMap { [0] + literal($0) + literal($1) }
}

private func literal(_ text: String) -> [UInt8] {
  var length = text.utf8.count
  guard length >= 127 else { return [UInt8(length)] + Array(text.utf8) }
  var bytes: [UInt8] = [127]
  length -= 127
  while length >= 128 {
    bytes.append(UInt8(length & 127 | 128))
    length >>= 7
  }
  return bytes + [UInt8(length)] + Array(text.utf8)
}

let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Frame(kind: .settings).bytes

/// The fields of an ordinary reload push.
func pushFields(token: String = String(repeating: "ab", count: 32)) -> [(String, String)] {
  [
    (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "api.push.apple.com"),
    ("authorization", "bearer " + String(repeating: "x", count: 260)), ("apns-push-type", "widgets"),
    ("apns-topic", "com.example.app.push-type.widgets"), ("apns-priority", "5"),
    ("apns-id", "8a2b36f1-5f0e-4c62-b8a6-3a4f3d1c2b10"), ("x-other", "kept"),
  ]
}

let payload = Array(#"{"aps":{"content-changed":true}}"#.utf8)

/// The frames of a request with a body, in one DATA frame.
func request(_ stream: UInt32, _ fields: [(String, String)] = pushFields(), body: [UInt8] = payload) -> [UInt8] {
  let end = body.isEmpty ? Frame.endStream : 0
  let headers = Frame(kind: .headers, flags: Frame.endHeaders | end, stream: stream, payload: headerBlock(fields))
  guard !body.isEmpty else { return headers.bytes }
  return headers.bytes + Frame(kind: .data, flags: Frame.endStream, stream: stream, payload: body).bytes
}
