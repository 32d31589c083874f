import HTTP2
import Primitives
import Testing

/// What is told of a request that nobody is given.
@Suite("Malformed requests") struct MalformedRequestTests {
  private typealias Fields = [(String, String)]

  private static let good: Fields = [(":method", "POST"), (":scheme", "https"), (":path", "/p"), (":authority", "a")]

  private static func without(_ name: String) -> Fields { good.filter { $0.0 != name } }

  /// Each fault, and the field that is named.
  private static let cases: [(Fields, MalformedRequest.Fault, String)] = [
    (good + [("authorization", "bearer ")], .trailingSpace, "authorization"), (good + [("x", "y\t")], .trailingSpace, "x"),
    (good + [("x", " ")], .trailingSpace, "x"), (good + [("apns-topic", " y")], .leadingSpace, "apns-topic"),
    (good + [("host", "a ")], .trailingSpace, "host"), (good + [("content-length", " 1")], .leadingSpace, "content-length"),
    (good + [("authorization", "bearer x\n")], .controlCharacter, "authorization"), (good + [("x", "a\0b")], .controlCharacter, "x"),
    (good + [("Apns-Topic", "y")], .uppercaseName, "Apns-Topic"), (good + [("", "y")], .badName, ""),
    (good + [("apns-topic : x", "y")], .badName, "apns-topic"), (good + [("x:", "y")], .badName, "x"), (good + [("ü", "y")], .badName, ""),
    (good + [("connection", "close")], .connectionField, "connection"), (good + [("te", "gzip")], .connectionField, "te"),
    (good + [("transfer-encoding", "chunked")], .connectionField, "transfer-encoding"),
    (good + [(":status", "200")], .unknownPseudoField, ":status"), (good + [(":protocol", "x")], .unknownPseudoField, ":protocol"),
    (without(":path") + [("x", "y"), (":path", "/")], .latePseudoField, ":path"), (good + [(":path", "/")], .repeatedField, ":path"),
    (good + [("host", "a"), ("host", "a")], .repeatedField, "host"),
    (good + [("content-length", "0"), ("content-length", "0")], .repeatedField, "content-length"),
    (good + [("content-length", "1x")], .badValue, "content-length"), (good + [("host", "a/b")], .badValue, "host"),
    (without(":path") + [(":path", "/a b")], .badValue, ":path"), (without(":path") + [(":path", "p")], .badValue, ":path"),
    (without(":method") + [(":method", "")], .badValue, ":method"), (without(":method"), .missingField, ":method"),
    (without(":scheme"), .missingField, ":scheme"), (without(":path"), .missingField, ":path"),
    ([(":method", "CONNECT")], .missingField, ":authority"),
    ([(":method", "CONNECT"), (":authority", "a"), (":path", "/")], .unknownPseudoField, ":path"),
    (good + [("content-length", "7")], .bodyLength, "content-length"),
    (good + [("x", String(repeating: "y", count: 8000))], .listTooLarge, "x"),
  ]

  @Test(arguments: cases.indices) func theFaultAndItsFieldAreTold(index: Int) {
    let (fields, fault, field) = Self.cases[index]
    let server = TestServer()
    server.receive(preface + request(1, fields, body: []))
    #expect(server.malformed() == [MalformedRequest(fault, field: field)], "\(fields)")
  }

  @Test func everyFaultIsTested() {
    let others: [MalformedRequest.Fault] = [.trailingPseudoField, .unendedTrailers]
    #expect(Set(Self.cases.map(\.1) + others) == Set(MalformedRequest.Fault.allCases))
  }

  @Test func trailersAreTold() {
    func told(_ fields: Fields, endsStream: Bool) -> [MalformedRequest] {
      let server = TestServer()
      let flags = Frame.endHeaders | (endsStream ? Frame.endStream : 0)
      server.receive(
        preface
          + [
            Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(Self.good)),
            Frame(kind: .headers, flags: flags, stream: 1, payload: headerBlock(fields)),
          ].flatMap(\.bytes))
      return server.malformed()
    }
    #expect(told([(":path", "/")], endsStream: true) == [MalformedRequest(.trailingPseudoField, field: ":path")])
    #expect(told([("x", "y")], endsStream: false) == [MalformedRequest(.unendedTrailers, field: "")])
    #expect(told([("x", " y")], endsStream: true) == [MalformedRequest(.leadingSpace, field: "x")])
  }

  @Test func aBodyThatIsTooLongIsToldOnce() {
    let server = TestServer()
    server.receive(preface + request(1, Self.good + [("content-length", "1")], body: [1, 2, 3]))
    #expect(server.malformed() == [MalformedRequest(.bodyLength, field: "content-length")])
  }

  /// Of many at once each is there to be counted, and the first to be named.
  @Test func manyCostLittle() {
    let server = TestServer()
    let name = String(repeating: "N", count: 100)
    server.receive(preface + (0..<60).flatMap { request(1 + 2 * $0, Self.good + [(name, "y")], body: []) })
    let told = server.malformed()
    #expect(told.map(\.fault) == Array(repeating: .uppercaseName, count: 60))
    #expect(told.map(\.field.count) == [32] + Array(repeating: 0, count: 59))
  }

  /// No value is ever told: it may be a credential.
  @Test func noValueIsTold() {
    for value in ["bearer SECRET ", " SECRET", "SECRET\n"] {
      let server = TestServer()
      server.receive(preface + request(1, Self.good + [("authorization", value), (":SECRET", "x")], body: []))
      #expect(server.malformed().map { "\($0)" }.allSatisfy { !$0.contains("SECRET") })
    }
  }
}
