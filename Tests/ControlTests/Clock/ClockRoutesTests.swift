import Control
import JSON
import Primitives
import Testing

@Suite("/v1/clock") struct ClockRoutesTests {
  private let stage: ClockStage
  private let table: RouteTable

  init() {
    stage = ClockStage()
    let tokens = [
      AccessToken(name: "admin", scopes: [.admin], secret: "admin"), AccessToken(name: "read", scopes: [.read], secret: "read"),
      AccessToken(name: "register", scopes: [.register], secret: "register"),
      AccessToken(name: "other", scopes: [.admin], bundleIDs: ["com.example.other"], secret: "other"),
    ]
    let stage = stage
    table = RouteTable(
      ClockRoutes(stage.driver).routes, authorizer: Authorizer(AccessTokens(tokens)), now: { stage.clock.real })
  }

  private func call(_ method: HTTPMethod, _ path: String, _ body: String = "", as secret: String = "admin") async throws -> (
    status: Int, json: JSONValue
  ) {
    let request = try HTTPRequest(
      method: method, target: path, fields: ["authorization": "Bearer \(secret)"], body: Array(body.utf8))
    let response = await table.respond(to: request)
    return (response.status, try JSONValue.parse(response.body))
  }

  @Test func itShowsBothClocksAndWhatComesNext() async throws {
    _ = stage.part(30)
    let shown = try await call(.get, "/v1/clock", as: "read")
    #expect(shown.status == 200 && shown.json["now"] == .string(ClockStage.noon.description) && shown.json["real"] == shown.json["now"])
    #expect(shown.json["offsetSeconds"]?.doubleValue == 0 && shown.json["frozen"] == false && shown.json["permitted"] == true)
    #expect(shown.json["next"]?["at"] == .string((ClockStage.noon + .seconds(30)).description))
    #expect(shown.json["next"]?["what"] == "planned" && shown.json["next"]?["push"] == "1")
  }

  @Test func itIsSetStoppedAndMoved() async throws {
    let part = stage.part(90, 86_400)
    let set = try await call(.put, "/v1/clock", #"{"now":"2027-01-15T08:01:00Z","frozen":true}"#)
    #expect(set.status == 200 && set.json["frozen"] == true && set.json["now"] == "2027-01-15T08:01:00.000Z", "\(set)")
    #expect(set.json["advancedSeconds"]?.doubleValue == 60 && set.json["complete"] == true && part.happened.isEmpty)
    let next = try await call(.post, "/v1/clock/advance", #"{"to":"next"}"#)
    #expect(next.json["now"] == "2027-01-15T08:01:30.000Z" && next.json["steps"] == 1 && part.happened.count == 1)
    let day = try await call(.post, "/v1/clock/advance", #"{"by":"1d"}"#)
    #expect(day.json["now"] == "2027-01-16T08:01:30.000Z" && day.json["frozen"] == true && part.happened.count == 2)
    #expect(day.json["next"] == nil)
    let to = try await call(.post, "/v1/clock/advance", #"{"to":"2027-01-17T00:00:00+01:00"}"#)
    #expect(to.json["now"] == "2027-01-16T23:00:00.000Z")
    #expect(try await call(.put, "/v1/clock", #"{"frozen":false}"#).json["frozen"] == false)
  }

  @Test(arguments: [
    ("PUT", "/v1/clock", "{}", "now"), ("PUT", "/v1/clock", #"{"now":"noon"}"#, "now"), ("PUT", "/v1/clock", #"{"now":5}"#, "now"),
    ("PUT", "/v1/clock", #"{"frozen":"yes"}"#, "frozen"), ("PUT", "/v1/clock", #"{"frozne":true,"frozen":true}"#, "frozne"),
    ("POST", "/v1/clock/advance", "{}", "by"), ("POST", "/v1/clock/advance", #"{"by":"5"}"#, "by"),
    ("POST", "/v1/clock/advance", #"{"by":"-5m"}"#, "by"), ("POST", "/v1/clock/advance", #"{"by":"5m","to":"next"}"#, "by"),
    ("POST", "/v1/clock/advance", #"{"to":"tomorrow"}"#, "to"), ("POST", "/v1/clock/advance", #"{"by":"5m","until":1}"#, "until"),
  ])
  func whatIsWrongIsNamed(method: String, path: String, body: String, field: String) async throws {
    let answer = try await call(HTTPMethod(method), path, body)
    #expect(answer.status == 400 && answer.json["error"]?["field"] == .string(field), "\(answer)")
    #expect(stage.clock.setting.isReal)
  }

  /// Dates beyond what an instant holds are as far as one goes: refused, and nothing breaks.
  @Test(arguments: [
    ("9999-12-31T23:59:59.999999999Z", 400), ("2262-04-11T23:47:16.854775807Z", 400), ("0001-01-01T00:00:00.5Z", 409),
    ("1677-09-21T00:12:43.145224192Z", 409),
  ])
  func datesBeyondAllBounds(text: String, status: Int) async throws {
    #expect(try await call(.put, "/v1/clock", #"{"now":"\#(text)"}"#).status == status)
    #expect(try await call(.post, "/v1/clock/advance", #"{"to":"\#(text)"}"#).status == status)
    for span in ["9223372036854775807ms", "9223372036s", "99999999999999999999h", "106751d"] {
      #expect(try await call(.post, "/v1/clock/advance", #"{"by":"\#(span)"}"#).status == 400)
    }
    #expect(stage.clock.setting.isReal)
    #expect(Instant.distantFuture.preciseDescription.hasSuffix("854775807Z") && Instant.distantPast.preciseDescription.hasSuffix("Z"))
  }

  @Test func whoMayDoWhat() async throws {
    #expect(try await call(.get, "/v1/clock", as: "register").status == 403)
    #expect(try await call(.put, "/v1/clock", #"{"frozen":true}"#, as: "read").status == 403)
    #expect(try await call(.post, "/v1/clock/advance", #"{"by":"5m"}"#, as: "read").status == 403)
    #expect(try await call(.get, "/v1/clock", as: "nobody").status == 401)
  }

  /// The clock is all apps' own: who is limited to some reads it, moves nothing, and learns of no other app's pushes.
  @Test func appsAreApart() async throws {
    let part = stage.part(30)
    part.state.withLock { $0.stuck = 1 }
    let seen = try await call(.get, "/v1/clock", as: "other")
    #expect(seen.status == 200 && seen.json["next"] == nil && seen.json["outstanding"] == [])
    #expect(try await call(.put, "/v1/clock", #"{"frozen":true}"#, as: "other").status == 403)
    #expect(try await call(.post, "/v1/clock/advance", #"{"by":"5m"}"#, as: "other").status == 403)
    #expect(stage.clock.setting.isReal)
  }
}
