import Primitives
import Testing

@testable import Control

@Suite("HTTP/1.1 encoder") struct HTTP1EncoderTests {
  private func encode(
    _ response: HTTPResponse, withoutBody: Bool = false, keepsAlive: Bool = true, minorVersion: Int = 1
  ) -> String {
    String(
      decoding: HTTP1Encoder.encode(
        response, withoutBody: withoutBody, keepsAlive: keepsAlive, minorVersion: minorVersion, date: Instant(unixSeconds: 0).httpDate),
      as: UTF8.self)
  }

  private static let date = "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"

  @Test func withBody() {
    #expect(
      encode(.text("hi"))
        == "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\n\(Self.date)content-length: 2\r\n\r\nhi")
  }

  @Test func headKeepsTheLength() {
    #expect(encode(.text("hi"), withoutBody: true).hasSuffix("content-length: 2\r\n\r\n"))
  }

  @Test(arguments: [204, 304]) func statusesWithoutContent(status: Int) {
    let text = encode(HTTPResponse(status: status, body: [1]))
    #expect(!text.contains("content-length") && text.hasSuffix("\(Self.date)\r\n"))
  }

  @Test func connections() {
    #expect(encode(.text("")).contains("connection:") == false)
    #expect(encode(.text(""), keepsAlive: false).contains("\r\nconnection: close\r\n"))
    #expect(encode(.text(""), minorVersion: 0).contains("\r\nconnection: keep-alive\r\n"))
    #expect(encode(.text(""), keepsAlive: false, minorVersion: 0).contains("\r\nconnection: close\r\n"))
  }

  /// A value that a client chose cannot end its line.
  @Test(arguments: [
    ("a\r\nset-cookie: b\u{0}", "a  set-cookie: b"), (" a b ", "a b"), ("\ta", "a"), ("a\u{7F}é", "a\u{7F}é"), ("  ", ""), ("", ""),
  ])
  func valuesStayOnOneLine(value: String, sent: String) {
    #expect(encode(HTTPResponse(status: 200, fields: ["x": value])).contains("\r\nx: \(sent)\r\n"))
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 GMT"),
    (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
  ])
  func dates(seconds: Int64, text: String) {
    #expect(Instant(unixSeconds: seconds).httpDate == text)
  }
}
