import Control
import JSON
import Primitives
import Testing

@Suite("Routes and error forms") struct RouteTableTests {
  private let table: RouteTable

  init() {
    let tokens = AccessTokens(AccessScope.allCases.map { AccessToken(name: $0.rawValue, scopes: [$0], secret: $0.rawValue) })
    table = RouteTable(
      [
        Route(.get, "/open", .open) { _ in .text("open") },
        Route(.put, "/v1/things/{name}", .scope(.register)) { routed throws(ControlError) in
          let size = try routed.request.readJSON { reader throws(FieldError) in try reader.integer("size", in: 1...9) }
          return .json(["name": .string(routed["name"]), "size": .integer(size), "by": .string(routed.grant.name)], status: 201)
        },
        Route(.get, "/v1/things/{name}", .scope(.read)) { routed throws(ControlError) in throw .notFound("no \(routed["name"])") },
      ],
      authorizer: Authorizer(tokens), now: { Instant(unixSeconds: 0) })
  }

  private func respond(
    _ method: HTTPMethod, _ target: String, secret: String? = nil, body: String = ""
  ) async throws -> (status: Int, text: String, fields: HTTPFields) {
    let fields: HTTPFields = secret.map { ["authorization": "Bearer \($0)"] } ?? [:]
    let request = try HTTPRequest(method: method, target: target, fields: fields, body: Array(body.utf8))
    let response = await table.respond(to: request)
    return (response.status, String(decoding: response.body, as: UTF8.self), response.fields)
  }

  @Test func aRouteAnswers() async throws {
    #expect(try await respond(.get, "/open").text == "open")
    let made = try await respond(.put, "/v1/things/a%20b", secret: "admin", body: #"{"size": 3}"#)
    #expect(made.status == 201 && made.text == #"{"name":"a b","size":3,"by":"admin"}"# + "\n")
    #expect(made.fields["content-type"] == "application/json")
  }

  /// Each way to fail, with the whole body that comes back.
  @Test(arguments: [
    (
      "PUT", "/v1/things/a", "register", #"{"size": 0}"#, 400,
      #"{"code":"invalidField","message":"size must be an integer from 1 to 9, not 0","field":"size"}"#
    ),
    (
      "PUT", "/v1/things/a", "register", #"{"size": 1, "sise": 2}"#, 400,
      #"{"code":"invalidField","message":"sise is not a known field; did you mean \"size\"?","field":"sise"}"#
    ),
    (
      "PUT", "/v1/things/a", "register", #"{"size": 1,}"#, 400,
      #"{"code":"invalidJSON","message":"the body is not valid JSON: line 1, column 12: the last member or element must not be followed by a comma","field":"body"}"#
    ),
    (
      "PUT", "/v1/things/a", "register", "", 400,
      #"{"code":"invalidJSON","message":"the body is not valid JSON: line 1, column 1: there is no JSON value, only white space or nothing","field":"body"}"#
    ),
    (
      "PUT", "/v1/things/a", "register", "[]", 400,
      #"{"code":"invalidField","message":"body must be a JSON object, not an array","field":"body"}"#
    ),
    ("GET", "/v1/things/a", "read", "", 404, #"{"code":"notFound","message":"no a"}"#),
    (
      "GET", "/v1/thing/a", "read", "", 404,
      #"{"code":"unknownRoute","message":"there is nothing at /v1/thing/a; did you mean /v1/things/{name}?","field":"path"}"#
    ),
    (
      "DELETE", "/open", "", "", 405,
      #"{"code":"methodNotAllowed","message":"DELETE is not served at /open; served are GET, HEAD","field":"method"}"#
    ),
    (
      "GET", "/v1/things/a", "register", "", 403,
      #"{"code":"forbidden","message":"the access token \"register\" lacks the scope \"read\"; it has \"register\""}"#
    ),
    (
      "GET", "/v1/things/a", "", "", 401,
      #"{"code":"unauthorized","message":"an access token is missing; send it as Authorization: Bearer TOKEN"}"#
    ),
  ])
  func errorForms(method: String, target: String, secret: String, body: String, status: Int, error: String) async throws {
    let response = try await respond(HTTPMethod(method), target, secret: secret.isEmpty ? nil : secret, body: body)
    #expect(response.status == status)
    #expect(response.text == "{\"error\":\(error)}\n")
    #expect(response.fields["content-type"] == "application/json")
    #expect((response.fields["allow"] == "GET, HEAD") == (status == 405))
    #expect((response.fields["www-authenticate"] != nil) == (status == 401))
  }
}
