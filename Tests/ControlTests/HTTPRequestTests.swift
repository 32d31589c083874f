import Control
import Primitives
import Testing

@Suite("Request") struct HTTPRequestTests {
  @Test(arguments: [
    ("/", []), ("/v1/pushes", ["v1", "pushes"]), ("/v1/", ["v1", ""]), ("//", ["", ""]), ("/a%2Fb/c%20d", ["a/b", "c d"]),
    ("/caf%C3%A9?x", ["café"]), ("http://h:1/a", ["a"]), ("HTTPS://h", []), ("http://h?q", []), ("/a#f", ["a"]), ("/a+b", ["a+b"]),
  ])
  func segments(target: String, segments: [String]) throws {
    #expect(try HTTPRequest(method: .get, target: target).segments == segments)
  }

  @Test(arguments: ["", "v1", "*", "/a b", "/caf\u{e9}", "/%", "/%4", "/%zz", "/%ff", "/?a=%f", "/?%=1", "host:443", "/a\u{7f}"])
  func badTargets(target: String) throws {
    do {
      let request = try HTTPRequest(method: .get, target: target)
      Issue.record("\(target) was read as \(request.segments)")
    } catch {
      #expect(error.status == 400)
      #expect(error.field == (target.hasPrefix("/?") ? "query" : "path"))
    }
  }

  @Test func thePathKeepsItsForm() throws {
    let request = try HTTPRequest(method: .get, target: "/a%2Fb?c=d")
    #expect(request.path == "/a%2Fb")
  }

  @Test(arguments: [
    ("localhost:8025", "localhost"), ("LocalHost", "localhost"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("127.0.0.1:1", "127.0.0.1"),
    ("", ""), ("localhost.evil.example", "localhost.evil.example"),
  ])
  func host(authority: String, host: String) throws {
    #expect(try HTTPRequest(method: .get, target: "/", authority: authority).host == host)
    #expect(try HTTPRequest(method: .get, target: "/", fields: ["Host": authority]).host == host)
  }

  /// The target's own name counts, not the host field's (RFC 9112 section 3.2.2).
  @Test func absoluteTargetsNameTheHost() throws {
    #expect(try HTTPRequest(method: .get, target: "http://other/", fields: ["host": "localhost"]).host == "other")
  }

  @Test func below() throws {
    let inner = try #require(try HTTPRequest(method: .get, target: "/device/v1/state?x=1").below("device"))
    #expect(inner.segments == ["v1", "state"])
    #expect(inner.path == "/v1/state")
    #expect(inner.query.parameters.count == 1)
    for target in ["/device", "/device/"] {
      let inner = try HTTPRequest(method: .get, target: target).below("device")
      #expect(inner?.path == "/" && inner?.segments == [], "\(target)")
    }
    #expect(try HTTPRequest(method: .get, target: "/devices").below("device") == nil)
  }

  @Test func fieldsKeepOrderAndIgnoreCase() {
    var fields: HTTPFields = ["B": "1", "a": "2"]
    fields.append("b", "3")
    #expect(fields["b"] == "1")
    #expect(fields.all("b") == ["1", "3"])
    #expect(fields.lines.map(\.name) == ["b", "a", "b"])
  }
}

@Suite("Query") struct QueryTests {
  private func reader(_ text: String) throws -> QueryReader { try HTTPQuery(text).reader() }

  private func error(_ read: () throws(ControlError) -> Void) -> ControlError? {
    do throws(ControlError) {
      try read()
      return nil
    } catch {
      return error
    }
  }

  @Test func decodes() throws {
    let query = try HTTPQuery("a=1&b=x+y%2B%26&c&=d&&e==f")
    #expect(query.parameters.map(\.name) == ["a", "b", "c", "", "e"])
    #expect(query.parameters.map(\.value) == ["1", "x y+&", "", "d", "=f"])
  }

  @Test func readsEveryKind() throws {
    var reader = try reader("type=widgets&limit=10&wait=500ms&all=1&app=&x=%C3%A9")
    #expect(try reader.choice("type", of: ["alert", "widgets"]) == "widgets")
    #expect(try reader.integer("limit", in: 1...10) == 10)
    #expect(try reader.duration("wait", max: .seconds(1)) == .milliseconds(500))
    #expect(try reader.flag("all"))
    #expect(try reader.text("app") == nil)
    #expect(try reader.text("x") == "é")
    #expect(try !reader.flag("other"))
    try reader.finish()
  }

  @Test(arguments: [("all", true), ("all=1", true), ("all=true", true), ("all=0", false), ("all=false", false), ("", false)])
  func flags(text: String, isSet: Bool) throws {
    var reader = try reader(text)
    #expect(try reader.flag("all") == isSet)
  }

  @Test func errorsNameTheParameterAndTheRightForm() throws {
    var reader = try reader("type=widget&limit=0&wait=10&all=yes&twice=1&twice=2&after=%21&dispositon=x")
    let errors = [
      error { () throws(ControlError) in _ = try reader.choice("type", of: ["alert", "widgets"]) },
      error { () throws(ControlError) in _ = try reader.integer("limit", in: 1...10) },
      error { () throws(ControlError) in _ = try reader.duration("wait", max: .seconds(300)) },
      error { () throws(ControlError) in _ = try reader.flag("all") },
      error { () throws(ControlError) in _ = try reader.text("twice") },
      error { () throws(ControlError) in _ = try reader.cursor("after") { $0 } },
    ]
    #expect(errors.map { $0?.field } == ["type", "limit", "wait", "all", "twice", "after"])
    #expect(
      errors.map { $0?.message } == [
        "type must be one of alert, widgets, not \"widget\"", "limit must be an integer from 1 to 10, not \"0\"",
        "wait must be a length of time such as 500ms, 10s or 5m, at most 5m, not \"10\"", "all must be 1 or 0, not \"yes\"",
        "twice is given 2 times; give it once", "after must be the \"next\" of an earlier page, not \"!\"",
      ])
    _ = try reader.text("disposition")
    let unknown = error { () throws(ControlError) in try reader.finish() }
    #expect(unknown?.message == "dispositon is not a known query parameter; did you mean disposition?")
    #expect(unknown?.field == "dispositon")
  }

  @Test func nothingIsKnownHere() throws {
    var reader = try reader("zz=1")
    #expect(error { () throws(ControlError) in try reader.finish() }?.message == "zz is not a known query parameter; none is known here")
    _ = try reader.flag("all")
    #expect(
      error { () throws(ControlError) in try reader.finish() }?.message == "zz is not a known query parameter; the only one known is `all`")
  }

  @Test(
    arguments: [
      ("500ms", 500), ("10s", 10_000), ("5m", 300_000), ("1h", 3_600_000), ("0s", 0), ("", nil), ("10", nil), ("s", nil), ("-1s", nil),
      ("1.5s", nil), ("1d", 86_400_000), ("1w", nil), ("1 s", nil), ("٣s", nil), ("9223372036854775807h", nil),
      ("99999999999999999999s", nil),
    ] as [(String, Int64?)])
  func durations(text: String, milliseconds: Int64?) {
    #expect(parseDuration(text)?.milliseconds == milliseconds)
  }

  /// Every position comes back from its cursor, and the cursor needs no escaping.
  @Test(arguments: 0..<40) func cursorsComeBack(length: Int) throws {
    let position = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ length) }
    let text = PageCursor.text(of: position)
    #expect(text.utf8.allSatisfy { byte in byte != UInt8(ascii: "+") && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "=") })
    #expect(PageCursor.position(of: text) == position)
  }
}
