import CHTTPParser

/// Responses as HTTP/1.1 writes them.
enum HTTP1Encoder {
  /// What a client waits for that has said `expect: 100-continue`.
  static let proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  /// The bytes of `response`, with its length; a 204 or 304 has neither length nor body (RFC 9110 section 8.6).
  ///
  /// - Parameters:
  ///   - withoutBody: Whether it answers a HEAD request: the length stands, the body does not follow.
  ///   - minorVersion: The request's minor version; a client of 1.0 must be told that the connection stays open.
  ///   - date: The value of the `date` field.
  static func encode(_ response: HTTPResponse, withoutBody: Bool, keepsAlive: Bool, minorVersion: Int, date: String) -> [UInt8] {
    let hasContent = response.status != 204 && response.status != 304
    // The length of a stream is known to nobody, not even when HEAD asks for it.
    let length = hasContent && response.stream == nil ? "content-length: \(response.body.count)\r\n" : ""
    var bytes = head(response, framing: length, keepsAlive: keepsAlive, minorVersion: minorVersion, date: date)
    if hasContent && !withoutBody { bytes += response.body }
    return bytes
  }

  /// The bytes before a body that is written bit by bit: in chunks, or for a client of 1.0 up to the end of the connection.
  static func beginning(_ response: HTTPResponse, keepsAlive: Bool, minorVersion: Int, date: String) -> [UInt8] {
    head(
      response, framing: minorVersion == 0 ? "" : "transfer-encoding: chunked\r\n", keepsAlive: keepsAlive, minorVersion: minorVersion,
      date: date)
  }

  /// Some of a body as a chunk (RFC 9112 section 7.1); of nothing, which would be the last one, nothing is made.
  static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    bytes.isEmpty ? [] : Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  /// The chunk that ends a body.
  static let lastChunk = Array("0\r\n\r\n".utf8)

  private static func head(_ response: HTTPResponse, framing: String, keepsAlive: Bool, minorVersion: Int, date: String) -> [UInt8] {
    var head = "HTTP/1.1 \(response.status) \(phrase(response.status))\r\n"
    for line in response.fields.lines { head += "\(line.name): \(oneLine(line.value))\r\n" }
    head += "date: \(date)\r\n\(framing)"
    if !keepsAlive { head += "connection: close\r\n" } else if minorVersion == 0 { head += "connection: keep-alive\r\n" }
    return Array((head + "\r\n").utf8)
  }

  /// The value without what would end its line, and without the white space around it, which HTTP/2 does not permit (RFC 9113 section
  /// 8.2.1): a handler may echo what a client sent.
  static func oneLine(_ value: String) -> String {
    let isWhite = { (byte: UInt8) in byte <= 0x20 }
    guard value.utf8.contains(where: { $0 < 0x20 }) || value.utf8.first.map(isWhite) == true || value.utf8.last.map(isWhite) == true else {
      return value
    }
    var bytes = value.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }[...].drop(while: isWhite)
    while bytes.last.map(isWhite) == true { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func phrase(_ status: Int) -> String {
    String(cString: http_status_str(http_status(rawValue: numericCast(status))))
  }
}
