import JSON
import Primitives
import Push
import Rules
import Testing

@Suite("Error bodies") struct ErrorBodyTests {
  private func body(_ reason: Reason, since: Instant? = nil, detail: String? = nil) -> String {
    var bytes = [UInt8](repeating: 0, count: Limits.errorBodyBytes)
    let count = bytes.withUnsafeMutableBytes { buffer in
      var output = OutputRawSpan(buffer: buffer, initializedCount: 0)
      ErrorBody.append(reason, since: since, detail: detail, to: &output)
      return output.finalize(for: buffer)
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  @Test(arguments: Reason.allCases) func isApples(reason: Reason) {
    #expect(body(reason) == "{\"reason\":\"\(reason.text)\"}")
    let plain = reason.status != 410 && reason != .badPayload
    #expect((body(reason, since: now, detail: "x") == body(reason)) == plain)
  }

  @Test func tellsSinceWhenATokenIsGone() {
    #expect(
      body(.unregistered, since: Instant(unixMilliseconds: 1_454_948_015_990)) == #"{"reason":"Unregistered","timestamp":1454948015990}"#)
    #expect(body(.expiredToken, since: Instant(unixMilliseconds: 0)) == #"{"reason":"ExpiredToken","timestamp":0}"#)
    #expect(body(.unregistered, since: Instant(unixMilliseconds: -15)) == #"{"reason":"Unregistered","timestamp":-15}"#)
  }

  @Test func tellsWhatIsWrongWithAPayload() {
    #expect(
      body(.badPayload, detail: "aps.content-changed must be the JSON value true")
        == #"{"reason":"BadPayload","detail":"aps.content-changed must be the JSON value true","origin":"widgetpush"}"#)
  }

  @Test func nothingSteersATerminal() throws {
    let detail = "a\u{1B}b\u{85}c\u{9B}d\u{202E}e\u{2066}f\u{7F}"
    let text = body(.badPayload, detail: detail)
    #expect(text.contains(#"a\u001bb\u0085c\u009bd\u202ee\u2066f\u007f"#), "\(text)")
    #expect(try JSONValue.parse(text)["detail"]?.stringValue == detail)
  }

  @Test(arguments: ["\"quoted\" \\ \u{1}\u{1F}\n", String(repeating: "é", count: 2000), String(repeating: "\u{1}", count: 2000), "😀"])
  func staysJSONWithinItsBound(detail: String) throws {
    let text = body(.badPayload, detail: detail)
    #expect(text.utf8.count <= Limits.errorBodyBytes)
    let value = try JSONValue.parse(text)
    let shown = try #require(value["detail"]?.stringValue)
    #expect(detail.hasPrefix(shown))
    #expect(shown.count >= min(detail.count, 100))
    #expect(value["origin"] == "widgetpush")
  }
}
