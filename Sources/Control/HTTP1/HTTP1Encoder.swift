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
    var head = "HTTP/1.1 \(response.status) \(phrase(response.status))\r\n"
    for line in response.fields.lines { head += "\(line.name): \(oneLine(line.value))\r\n" }
    head += "date: \(date)\r\n"
    if hasContent { head += "content-length: \(response.body.count)\r\n" }
    if !keepsAlive { head += "connection: close\r\n" } else if minorVersion == 0 { head += "connection: keep-alive\r\n" }
    var bytes = Array((head + "\r\n").utf8)
    if hasContent && !withoutBody { bytes += response.body }
    return bytes
  }

  /// The value without what would end its line: a handler may echo what a client sent.
  static func oneLine(_ value: String) -> String {
    guard value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 }) else { return value }
    return String(decoding: value.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
  }

  private static func phrase(_ status: Int) -> String {
    String(cString: http_status_str(http_status(rawValue: numericCast(status))))
  }
}
