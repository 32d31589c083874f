import CNghttp2
import HTTP2
import Primitives
import Seeds
import Testing

/// What of RFC 9113 section 8 a message may break, and what comes of it, as nghttp2 has it.
@Suite("Message rules") struct MessageRulesTests {
  private typealias Fields = [(String, String)]

  private static let good: Fields = [(":method", "POST"), (":scheme", "https"), (":path", "/p"), (":authority", "a")]

  private static func changed(_ name: String, to value: String?) -> Fields {
    good.compactMap { $0.0 == name ? value.map { (name, $0) } : $0 }
  }

  // MARK: Requests

  /// Requests that are malformed, each for one reason.
  private static let malformed: [(String, Fields)] =
    [
      ("no method", changed(":method", to: nil)), ("no scheme", changed(":scheme", to: nil)), ("no path", changed(":path", to: nil)),
      ("empty method", changed(":method", to: "")), ("empty scheme", changed(":scheme", to: "")),
      ("empty path", changed(":path", to: "")), ("empty authority", changed(":authority", to: "")),
      ("method with a space", changed(":method", to: "PO ST")), ("method with a newline", changed(":method", to: "GET\n")),
      ("scheme that begins with a digit", changed(":scheme", to: "1x")), ("scheme with a colon", changed(":scheme", to: "https:")),
      ("relative path", changed(":path", to: "p")), ("asterisk without OPTIONS", changed(":path", to: "*")),
      ("path with a space", changed(":path", to: "/a b")), ("path with a tab", changed(":path", to: "/a\tb")),
      ("path with NUL", changed(":path", to: "/a\0")), ("path with DEL", changed(":path", to: "/a\u{7f}")),
      ("authority with a slash", changed(":authority", to: "a/b")), ("authority with a space", changed(":authority", to: "a b")),
      ("status", good + [(":status", "200")]), ("unknown pseudo-header field", good + [(":x", "y")]),
      ("protocol", good + [(":protocol", "websocket")]), ("only a colon", good + [(":", "y")]),
      ("pseudo-header field after another", Array(good.dropLast()) + [("x", "y"), good[3]]),
      ("pseudo-header field after a known one", Array(good.dropLast()) + [("apns-id", "y"), good[3]]),
      ("capital pseudo-header field", Array(good.dropLast()) + [(":Authority", "a")]),
      ("capital name", good + [("X", "y")]), ("capital known name", good + [("Apns-id", "y")]),
      ("name with a space", good + [("x y", "y")]), ("name with a colon", good + [("x:", "y")]), ("empty name", good + [("", "y")]),
      ("name in UTF-8", good + [("ü", "y")]), ("name with NUL", good + [("x\0", "y")]), ("value with NUL", good + [("x", "a\0b")]),
      ("value with CR", good + [("x", "a\rb")]), ("value with LF", good + [("apns-id", "a\nb")]),
      ("value with DEL", good + [("x", "\u{7f}")]),
      ("value that begins with a space", good + [("x", " y")]), ("value that ends with a space", good + [("apns-topic", "y ")]),
      ("value that begins with a tab", good + [("x", "\ty")]), ("value that ends with a tab", good + [("x", "y\t")]),
      ("value of a space", good + [("x", " ")]),
      ("long value with LF", good + [("authorization", "bearer xxxxxxxxxxxxxxxxxxxxxxx\nxxxxxxx")]),
      ("host with a slash", good + [("host", "a/b")]), ("content-length with a space", good + [("content-length", " 0")]),
      ("connection", good + [("connection", "close")]), ("keep-alive", good + [("keep-alive", "1")]),
      ("proxy-connection", good + [("proxy-connection", "x")]), ("transfer-encoding", good + [("transfer-encoding", "chunked")]),
      ("upgrade", good + [("upgrade", "h2c")]), ("te", good + [("te", "gzip")]), ("te with more", good + [("te", "trailers, gzip")]),
      ("content-length that is no number", good + [("content-length", "1x")]),
      ("negative content-length", good + [("content-length", "-1")]), ("empty content-length", good + [("content-length", "")]),
      ("content-length beyond 63 bits", good + [("content-length", "9223372036854775808")]),
      ("content-length twice", good + [("content-length", "0"), ("content-length", "0")]),
      ("content-length without content", good + [("content-length", "1")]),
      ("empty host", good + [("host", "")]), ("host twice", good + [("host", "a"), ("host", "a")]),
      ("CONNECT with a path", [(":method", "CONNECT"), (":authority", "a"), (":path", "/")]),
      ("CONNECT with a scheme", [(":method", "CONNECT"), (":authority", "a"), (":scheme", "https")]),
      ("CONNECT without an authority", [(":method", "CONNECT")]),
    ] + good.map { ("\($0.0) twice", good + [$0]) }

  /// Requests that are good.
  private static let passing: [(String, Fields)] = [
    ("as it should be", good), ("any order", good.reversed()), ("no authority", changed(":authority", to: nil)),
    ("host", changed(":authority", to: nil) + [("host", "a:1")]), ("host with authority", good + [("host", "b")]),
    ("asterisk with OPTIONS", [(":method", "OPTIONS"), (":scheme", "https"), (":path", "*"), (":authority", "a")]),
    ("another scheme has other paths", [(":method", "GET"), (":scheme", "coap+x.1-2"), (":path", "p"), (":authority", "a")]),
    ("scheme in capitals", changed(":scheme", to: "HTTPS")), ("path in UTF-8", changed(":path", to: "/ä")),
    ("CONNECT", [(":method", "CONNECT"), (":authority", "a:1")]),
    ("CONNECT with content-length", [(":method", "CONNECT"), (":authority", "a:1"), ("content-length", "7")]),
    ("te: trailers", good + [("te", "Trailers")]), ("content-length 0", good + [("content-length", "000")]),
    ("empty value", good + [("x", ""), ("apns-id", "")]),
    ("tab inside", good + [("x", "a\tb"), ("apns-id", "a\tbcdefghijklmnopq")]),
    ("UTF-8 value", good + [("x", "ü")]),
  ]

  @Test(arguments: malformed.indices) func malformedRequest(index: Int) throws {
    let (reason, fields) = Self.malformed[index]
    let server = TestServer()
    server.receive(preface + request(1, fields, body: []))
    #expect(server.stalled(before: 1000) == nil && server.ready() == nil, "\(reason)")
    server.receive(request(3))
    #expect(resets(server.frames()) == [[1, HTTP2ErrorCode.protocolError]], "\(reason)")
    #expect(try server.next().bodyBytes == payload && server.ready() == nil && server.failure == nil, "\(reason)")
    #expect(server.malformed().count == 1 && server.malformed() == [], "\(reason)")
    #expect(server.pool.openExchanges == 1, "\(reason)")
    let reference = ReferenceSession(isServer: true)
    reference.receive(preface + request(1, fields, body: []))
    #expect(resets(reference.frames()) == [[1, 1]], "\(reason)")
  }

  @Test(arguments: passing.indices) func goodRequest(index: Int) throws {
    let (reason, fields) = Self.passing[index]
    let server = TestServer()
    server.receive(preface + request(1, fields, body: []))
    #expect(resets(server.frames()).isEmpty, "\(reason)")
    #expect(try server.next().list == fields.map { [$0.0, $0.1] } && server.malformed() == [], "\(reason)")
  }

  /// `content-length` next to every length of body, in frames cut everywhere, with trailers or without.
  @Test(arguments: 0...6) func contentLength(length: Int) throws {
    for sent in 0...7 {
      for cut in 0...sent {
        for hasTrailers in [false, true] {
          let server = TestServer()
          let body = [UInt8](repeating: 7, count: sent)
          let fields = Self.good + [("content-length", "\(length)")]
          var frames = [Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(fields))]
          frames.append(Frame(kind: .data, stream: 1, payload: Array(body.prefix(cut))))
          frames.append(Frame(kind: .data, flags: hasTrailers ? 0 : Frame.endStream, stream: 1, payload: Array(body.dropFirst(cut))))
          if hasTrailers {
            frames.append(
              Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: headerBlock([("x", "y")])))
          }
          server.receive(preface + frames.flatMap(\.bytes))
          #expect(resets(server.frames()) == (sent == length ? [] : [[1, HTTP2ErrorCode.protocolError]]))
          #expect(server.ready()?.bodyBytes == (sent == length ? body : nil))
        }
      }
    }
  }

  @Test(
    arguments: [
      ([("x", "y")], true, true), ([("x", "y")], false, false), ([(":path", "/")], true, false), ([("connection", "x")], true, false),
      ([("content-length", "2")], true, true), ([("content-length", "3")], true, false), ([("X", "y")], true, false),
      ([("x", " y")], true, false), ([("host", "a")], true, true), ([("te", "x")], true, false),
    ] as [([(String, String)], Bool, Bool)])
  func trailers(fields: [(String, String)], endsStream: Bool, isGood: Bool) throws {
    let server = TestServer()
    let bytes =
      preface
      + [
        Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(Self.good)),
        Frame(kind: .data, stream: 1, payload: [1, 2]),
        Frame(
          kind: .headers, flags: Frame.endHeaders | (endsStream ? Frame.endStream : 0), stream: 1, payload: headerBlock(fields)),
      ].flatMap(\.bytes)
    server.receive(bytes)
    let reference = ReferenceSession(isServer: true)
    reference.receive(bytes)
    let resets = resets(server.frames())
    #expect(resets == (isGood ? [] : [[1, 1]]) && resets == self.resets(reference.frames()))
    #expect((server.ready() != nil) == isGood)
  }

  // MARK: Responses

  private func responseFrames(_ lists: [Fields], body: [UInt8]?, endsWithHeaders: Bool = false) -> [UInt8] {
    var frames = lists.enumerated().map { index, list in
      let ends = body == nil && index == lists.count - 1
      return Frame(kind: .headers, flags: Frame.endHeaders | (ends ? Frame.endStream : 0), stream: 1, payload: headerBlock(list))
    }
    if let body { frames.append(Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: body)) }
    return frames.flatMap(\.bytes)
  }

  /// What our client and nghttp2's make of a response: the error code of the reset, and the response.
  private func judge(_ bytes: [UInt8], method: String = "GET") -> (
    ours: [[UInt32]], reference: [[UInt32]], answer: AnswerRecord?, same: Bool
  ) {
    let client = TestClient()
    client.receive(Frame(kind: .settings).bytes)
    client.send([(.method, method), (.scheme, "https"), (.path, "/"), (.authority, "a")], body: [])
    _ = client.drained()
    let reference = ReferenceSession(isServer: false, method: method)
    reference.receive(Frame(kind: .settings).bytes)
    _ = reference.frames()
    client.receive(bytes)
    reference.receive(bytes)
    let (ours, theirs) = (resets(Frame.parse(client.drained())), resets(reference.frames()))
    let answer = client.answers().first
    let good = answer?.failure == nil ? answer : nil
    return (ours, theirs, answer, good?.fields == reference.message(1)?.fields && good?.body == reference.message(1)?.body)
  }

  private static let malformedResponses: [(String, [Fields], [UInt8]?)] = [
    ("value with a space before", [[(":status", "200"), ("x", " y")]], nil),
    ("name with a space", [[(":status", "200"), ("x y", "y")]], nil),
    ("no status", [[("x", "y")]], nil), ("no fields", [[]], nil), ("status of two digits", [[(":status", "20")]], nil),
    ("status of four digits", [[(":status", "2000")]], nil), ("status with a letter", [[(":status", "2x0")]], nil),
    ("empty status", [[(":status", "")]], nil), ("101", [[(":status", "101")]], nil),
    ("status twice", [[(":status", "200"), (":status", "200")]], nil), ("status after a field", [[("x", "y"), (":status", "200")]], nil),
    ("path", [[(":status", "200"), (":path", "/")]], nil), ("capital", [[(":status", "200"), ("X", "y")]], nil),
    ("connection", [[(":status", "200"), ("connection", "close")]], nil), ("te", [[(":status", "200"), ("te", "x")]], nil),
    ("transfer-encoding", [[(":status", "200"), ("transfer-encoding", "chunked")]], nil),
    ("informational that ends", [[(":status", "103")]], nil), ("body after informational", [[(":status", "103")]], [1]),
    ("informational with content-length", [[(":status", "103"), ("content-length", "1")], [(":status", "200")]], nil),
    ("204 with content-length", [[(":status", "204"), ("content-length", "1")]], nil), ("204 with content", [[(":status", "204")]], [1]),
    ("304 with content", [[(":status", "304"), ("content-length", "1")]], [1]),
    ("content-length too small", [[(":status", "200"), ("content-length", "1")]], [1, 2]),
    ("content-length too large", [[(":status", "200"), ("content-length", "3")]], [1, 2]),
    ("content-length without content", [[(":status", "200"), ("content-length", "3")]], nil),
    ("content-length twice", [[(":status", "200"), ("content-length", "2"), ("content-length", "2")]], [1, 2]),
    ("pseudo-header field in trailers", [[(":status", "200")], [(":status", "200")]], nil),
    ("trailers that do not end", [[(":status", "200")], [("x", "y")]], [1]),
  ]

  @Test(arguments: malformedResponses.indices) func malformedResponse(index: Int) throws {
    let (reason, lists, body) = Self.malformedResponses[index]
    let (ours, reference, answer, _) = judge(responseFrames(lists, body: body))
    #expect(ours == [[1, HTTP2ErrorCode.protocolError]] && ours == reference, "\(reason)")
    #expect(answer?.failure == .reset(code: HTTP2ErrorCode.protocolError), "\(reason)")
  }

  private static let goodResponses: [(String, String, [Fields], [UInt8]?)] = [
    ("as it should be", "GET", [[(":status", "200"), ("content-length", "2")]], [1, 2]),
    ("informational before", "GET", [[(":status", "103"), ("x", "y")], [(":status", "100")], [(":status", "400"), ("y", "z")]], [1]),
    ("content-length of a HEAD", "HEAD", [[(":status", "200"), ("content-length", "2")]], nil),
    ("304 with content-length", "GET", [[(":status", "304"), ("content-length", "2")]], nil),
    ("204 with content-length 0", "GET", [[(":status", "204"), ("content-length", "0"), ("x", "y")]], nil),
    ("any host", "GET", [[(":status", "200"), ("host", "a/b c")]], nil),
    ("host twice", "GET", [[(":status", "200"), ("host", ""), ("host", "a")]], nil),
    ("trailers", "GET", [[(":status", "200")], [("x", "y"), ("host", "a b"), ("host", "")]], nil),
    ("any status", "GET", [[(":status", "799")]], nil),
  ]

  @Test(arguments: goodResponses.indices) func goodResponse(index: Int) {
    let (reason, method, lists, body) = Self.goodResponses[index]
    let (ours, reference, answer, same) = judge(responseFrames(lists, body: body), method: method)
    #expect(ours.isEmpty && reference.isEmpty && same && answer != nil, "\(reason): \(String(describing: answer))")
  }

  // MARK: Every byte

  /// Each byte at the beginning, in the middle and at the end of each part, and at each place of a long value, next to what
  /// nghttp2 says.
  @Test(arguments: 0...255) func everyByte(byte: UInt8) throws {
    for name in ["x", "apns-id", ":path", ":method", ":authority", ":scheme", "host", "name"] {
      for (before, after) in [
        (0, 0), (0, 1), (1, 0), (1, 1), (3, 3), (6, 1), (1, 6), (7, 8), (15, 0), (16, 0), (15, 16), (0, 33), (20, 20),
      ] {
        let text: [UInt8] =
          (name == ":path" ? [0x2f] : []) + [UInt8](repeating: 0x61, count: before) + [byte] + [UInt8](repeating: 0x62, count: after)
        var fields: [([UInt8], [UInt8])] = Self.good.filter { $0.0 != name }.map { (Array($0.0.utf8), Array($0.1.utf8)) }
        if name == "name" { fields.append((text, [0x76])) } else { fields.append((Array(name.utf8), text)) }
        var block: [UInt8] = []
        for (name, value) in fields {
          block.append(0)
          block.append(UInt8(name.count))
          block += name
          block.append(UInt8(value.count))
          block += value
        }
        let bytes = preface + Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: block).bytes
        let (server, reference) = (TestServer(), ReferenceSession(isServer: true))
        server.receive(bytes)
        reference.receive(bytes)
        let (ours, theirs) = (resets(server.frames()), resets(reference.frames()))
        #expect(
          ours == theirs && server.ready()?.list == reference.message(1)?.fields, "\(byte) in \(name), \(before) before, \(after) after")
      }
    }
  }

  // MARK: At random

  /// Lists of good and bad fields in any order, as requests with bodies and trailers, next to what nghttp2 makes of them.
  @Test(arguments: seeds(24)) func anyRequest(seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    let outcomes = (0..<300).map { _ -> Bool in
      let fields = anyFields(&numbers)
      let body = [UInt8](repeating: 1, count: numbers.chance(50) ? 0 : numbers.below(4))
      var frames = [
        Frame(
          kind: .headers, flags: Frame.endHeaders | (body.isEmpty ? Frame.endStream : 0), stream: 1, payload: headerBlock(fields))
      ]
      let trailers = numbers.chance(30) ? anyFields(&numbers, isTrailers: true) : nil
      if !body.isEmpty { frames.append(Frame(kind: .data, flags: trailers == nil ? Frame.endStream : 0, stream: 1, payload: body)) }
      if let trailers, !body.isEmpty {
        let end = numbers.chance(90) ? Frame.endStream : 0
        frames.append(Frame(kind: .headers, flags: Frame.endHeaders | end, stream: 1, payload: headerBlock(trailers)))
      }
      let bytes = preface + frames.flatMap(\.bytes)
      let (server, reference) = (TestServer(), ReferenceSession(isServer: true))
      server.receive(bytes)
      reference.receive(bytes)
      let (ours, theirs) = (resets(server.frames()), resets(reference.frames()))
      let exchange = server.ready()
      let message = reference.message(1)
      #expect(
        ours == theirs && exchange?.list == message?.fields && exchange?.bodyBytes == message?.body,
        "\(fields) \(body) \(String(describing: trailers))")
      return ours.isEmpty
    }
    #expect(outcomes.contains(true) && outcomes.contains(false))
  }

  private func anyFields(_ numbers: inout SplitMix64, isTrailers: Bool = false) -> Fields {
    let values: [String: [String]] = [
      ":method": ["POST", "POST", "GET", "HEAD", "OPTIONS", "CONNECT", "PO ST"], ":scheme": ["https", "https", "http", "HTTPS", "x", "1"],
      ":path": ["/a", "/", "/3/device/abcdef0123456789", "*", "a", "/a b"], ":authority": ["a", "a:1", "a b"],
      "host": ["a", "", "a b"], "content-length": ["0", "1", "2", "3", "x", " 1"], "te": ["trailers", "x"], "connection": ["close", " x"],
      "x": ["y", " y", "y\n", ""], "apns-id": ["y", "y ", "a\tb"], "X": ["y"], "x y": ["y"], ":x": ["y"], ":status": ["200"],
    ]
    let any = { (name: String, numbers: inout SplitMix64) in
      (name, values[name]![numbers.chance(75) ? 0 : numbers.below(values[name]!.count)])
    }
    var fields = isTrailers ? [] : [":method", ":scheme", ":path", ":authority"].map { any($0, &numbers) }
    for name in ["x", "apns-id"] where numbers.chance(50) { fields.append(any(name, &numbers)) }
    let names = values.keys.sorted()
    for _ in 0..<(numbers.chance(40) ? 0 : 1 + numbers.below(3)) {
      switch numbers.below(4) {
      case 0 where !fields.isEmpty: fields.remove(at: numbers.below(fields.count))
      case 1 where !fields.isEmpty: fields.swapAt(numbers.below(fields.count), numbers.below(fields.count))
      default: fields.insert(any(names[numbers.below(names.count)], &numbers), at: numbers.below(fields.count + 1))
      }
    }
    // The one thing that nghttp2 asks for and we do not.
    let hasHost = fields.contains { ($0.0 == ":authority" || $0.0 == "host") && !$0.1.isEmpty && !$0.1.contains(" ") }
    return hasHost || isTrailers ? fields : fields + [("host", "a")]
  }

  private func resets(_ frames: [Frame]) -> [[UInt32]] {
    frames.filter { $0.kind == .reset }.map { [$0.stream, $0.errorCode] }
  }
}
