import Control
import Testing

@Suite("Router") struct RouterTests {
  private static let patterns: [(HTTPMethod, String)] = [
    (.get, "/"), (.put, "/v1/registrations/{token}"), (.get, "/v1/registrations/{token}"), (.get, "/v1/registrations"),
    (.get, "/v1/pushes/{id}"), (.get, "/v1/pushes"), (.post, "/v1/pushes/{id}/outcome"), (.get, "/livez"),
  ]
  private let router = Router(RouterTests.patterns.map { ($0.0, $0.1, "\($0.0) \($0.1)") })

  private func match(_ method: HTTPMethod, _ path: String) throws -> String {
    switch router.match(method, try HTTPRequest(method: method, target: path).segments) {
    case .found(let endpoint, let values):
      "\(endpoint) \(values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ","))"
    case .methodNotAllowed(let methods): "allow \(methods.map(\.text).joined(separator: " "))"
    case .notFound(let nearest): "nearest \(nearest ?? "none")"
    }
  }

  /// Every route is found by a path of its form, and gets the values of its names.
  @Test func everyRouteIsFound() throws {
    for (method, pattern) in Self.patterns {
      let path = pattern.replacing("{token}", with: "A%2Fb").replacing("{id}", with: "7")
      let values = pattern.contains("{token}") ? "token=A/b" : pattern.contains("{id}") ? "id=7" : ""
      #expect(try match(method, path) == "\(method) \(pattern) \(values)")
    }
  }

  @Test func headIsServedByGet() throws {
    #expect(try match(.head, "/livez") == "GET /livez ")
    #expect(try match(.head, "/v1/pushes/1/outcome") == "allow POST")
  }

  @Test func otherMethodsAreListed() throws {
    #expect(try match(.post, "/v1/registrations/aa") == "allow PUT GET HEAD")
    #expect(try match(HTTPMethod("FETCH"), "/livez") == "allow GET HEAD")
  }

  @Test(arguments: [
    ("/v1/push", "/v1/pushes"), ("/v1/pushs/\(String(repeating: "ab", count: 100))", "/v1/pushes/{id}"),
    ("/v1/pushes/", "/v1/pushes"), ("/v1/registration/aa", "/v1/registrations/{token}"), ("/pushes", "/v1/pushes"),
    ("/livez/", "/livez"), ("/v1/pushes/7/outcomes", "/v1/pushes/{id}/outcome"), ("/V1/Pushes", "/v1/pushes"),
    ("/something/else/altogether/and/more", "none"),
  ])
  func unknownPathsNameTheNearest(path: String, nearest: String) throws {
    #expect(try match(.get, path) == "nearest \(nearest)")
  }

  /// An empty segment is no name.
  @Test func namesAreNotEmpty() throws {
    #expect(try match(.get, "/v1/pushes/").hasPrefix("nearest"))
    #expect(try match(.post, "/v1/pushes//outcome").hasPrefix("nearest"))
  }
}
