import HTTP2
import Primitives
import Testing

@Suite("Header names") struct HeaderNameTests {
  /// The token that a server finds for a name that is sent in a request, next to what every request must have.
  private func token(of name: String) throws -> (HeaderName?, String) {
    let server = TestServer()
    let needed = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "a")]
    server.receive(preface + request(1, needed + [(name, "v")], body: []))
    let exchange = try server.next()
    return (exchange.knownName(ofField: 4), exchange.list[4][0])
  }

  @Test(arguments: HeaderName.allCases) func everyNameIsFound(name: HeaderName) throws {
    guard !"\(name.wireName)".hasPrefix(":") else { return }
    // nghttp2 checks what these two say.
    guard name != .contentLength, name != .host else { return }
    let (token, wire) = try token(of: "\(name.wireName)")
    #expect(token == name && wire == "\(name.wireName)")
  }

  @Test func pseudoHeadersHostAndLengthAreFound() throws {
    let server = TestServer()
    let fields = [
      (":method", "GET"), (":scheme", "https"), (":path", "/p"), (":authority", "a"), ("host", "a"), ("content-length", "0"),
    ]
    server.receive(preface + request(1, fields, body: []))
    let exchange = try server.next()
    let expected: [HeaderName] = [.method, .scheme, .path, .authority, .host, .contentLength]
    #expect((0..<6).map { exchange.knownName(ofField: $0) } == expected)
    #expect(exchange.names == HeaderNames(expected.map { HeaderNames($0) }))
  }

  /// A name that differs from a known one in a single byte, or is one shorter or longer, is not taken for it.
  @Test(arguments: HeaderName.allCases) func neighboursAreNotTaken(name: HeaderName) throws {
    let wire = Array("\(name.wireName)".utf8)
    guard wire[0] != UInt8(ascii: ":") else { return }
    let known = Set(HeaderName.allCases.map { "\($0.wireName)" })
    var neighbours = wire.indices.map { index in
      var changed = wire
      changed[index] = changed[index] == UInt8(ascii: "z") ? UInt8(ascii: "y") : UInt8(ascii: "z")
      return changed
    }
    neighbours += [Array(wire.dropLast()), wire + [UInt8(ascii: "s")]]
    for neighbour in neighbours.map({ String(decoding: $0, as: UTF8.self) }) where !known.contains(neighbour) {
      let (token, wire) = try token(of: neighbour)
      #expect(token == nil && wire == neighbour, "\(neighbour)")
    }
  }

  @Test func shortNamesAreUnknown() throws {
    for name in ["a", "te", "age", "x"] where name != "te" {
      #expect(try token(of: name).0 == nil)
    }
  }

  @Test(arguments: [HeaderName.apnsID, .apnsTopic, .authorization, .apnsPriority, .apnsExpiration, .apnsPushType, .apnsCollapseID])
  func repeatedNamesAreMarkedAndTheFirstCounts(name: HeaderName) throws {
    let server = TestServer()
    let once = pushFields().filter { $0.0 != "\(name.wireName)" }
    server.receive(preface + request(1, once + [("\(name.wireName)", "first"), ("x", "y"), ("\(name.wireName)", "second")]))
    let exchange = try server.next()
    #expect(exchange.duplicates == HeaderNames(name))
    #expect(exchange.text(name) == "first")
    #expect(exchange.list.filter { $0[0] == "\(name.wireName)" }.map { $0[1] } == ["first", "second"])
  }

  @Test func repeatedUnknownNamesAreKeptInOrder() throws {
    let server = TestServer()
    server.receive(preface + request(1, pushFields() + [("x-a", "1"), ("x-a", "2")]))
    let exchange = try server.next()
    #expect(exchange.duplicates.isEmpty)
    #expect(exchange.list.suffix(2) == [["x-a", "1"], ["x-a", "2"]])
  }
}
