import Control
import Faults
import JSON
import Primitives
import Push
import Testing

@Suite("Control API: faults") struct FaultAPITests {
  @Test func aFaultIsSetShownCountedAndRemoved() async throws {
    let stage = try APIStage()
    let set = try await stage.call(.post, "/v1/faults", ["then": ["status": 503], "times": 2])
    #expect(set.status == 201)
    #expect(
      set.json == [
        "id": 1, "match": [:], "then": ["status": 503, "reason": "ServiceUnavailable"], "times": 2, "probability": 1.0, "seed": 1,
        "matched": 0, "applied": 0, "spent": false,
      ], "\(set.text)")
    let bundle = Array(APIStage.bundle.utf8)
    for _ in 0..<3 { _ = stage.faults.strike(DeviceToken(hex: "aa")!, bundleID: bundle.span.bytes, .alert, at: stage.now.value) }
    let shown = try await stage.call(.get, "/v1/faults/1").json
    #expect(shown["applied"] == 2 && shown["spent"] == true)
    #expect(try await stage.call(.get, "/v1/faults").json["faults"]?.arrayValue?.count == 1)
    #expect(try await stage.call(.delete, "/v1/faults/1").status == 204)
    #expect(try await stage.call(.delete, "/v1/faults/1").status == 404)
    #expect(try await stage.call(.get, "/v1/faults/1").status == 404)
    #expect(!stage.faults.isArmed)
  }

  @Test func allAreRemovedAtOnce() async throws {
    let stage = try APIStage()
    for _ in 0..<3 { #expect(try await stage.call(.post, "/v1/faults", ["then": ["stall": true]]).status == 201) }
    #expect(try await stage.call(.delete, "/v1/faults").json == ["removed": 3])
    #expect(!stage.faults.isArmed)
  }

  @Test func whatIsWrongIsNamed() async throws {
    let stage = try APIStage()
    for (body, field) in [
      (["then": ["status": 502]], "then.status"), (["than": ["status": 503]], "then"), ([:], "then"),
      (["then": ["stall": true], "match": ["bundle": "a"]], "match.bundle"),
    ] as [(JSONValue, String)] {
      let answer = try await stage.call(.post, "/v1/faults", body)
      #expect(answer.status == 400 && answer.field == field, "\(answer.text)")
    }
    #expect(try await stage.call(.get, "/v1/faults/one").status == 400)
  }

  @Test func thereAreOnlySoMany() async throws {
    let stage = try APIStage()
    for _ in 0..<Limits.faultRules { _ = stage.faults.add(FaultSpecification(.stall)) }
    #expect(try await stage.call(.post, "/v1/faults", ["then": ["stall": true]]).status == 409)
  }

  /// An access token of one app has that app's faults to itself, and cannot end connections that others share.
  @Test func appsAreApart() async throws {
    let stage = try APIStage()
    let (own, other) = (APIStage.bundle, APIStage.other)
    func set(_ then: JSONValue, _ bundleID: String?, as secret: String) async throws -> APIStage.Answer {
      let match: JSONValue = bundleID.map { ["bundleID": .string($0)] } ?? [:]
      return try await stage.call(.post, "/v1/faults", as: secret, ["match": match, "then": then])
    }
    #expect(try await set(["status": 503], nil, as: own).field == "match.bundleID")
    #expect(try await set(["status": 503], other, as: own).status == 403)
    for then in [["close": true], ["goaway": true], ["concurrentStreams": 1], ["outage": true]] as [JSONValue] {
      let answer = try await set(then, own, as: own)
      #expect(answer.status == 403 && answer.field == "then", "\(answer.text)")
    }
    #expect(try await set(["reset": true], own, as: own).status == 201)
    #expect(try await set(["status": 500], other, as: other).status == 201)
    #expect(try await set(["status": 500], nil, as: "admin").status == 201)
    #expect(try await stage.call(.get, "/v1/faults", as: own).json["faults"]?.arrayValue?.compactMap { $0["id"] } == [1])
    for (method, target) in [
      (HTTPMethod.get, "/v1/faults/2"), (.delete, "/v1/faults/2"), (.get, "/v1/faults/3"), (.delete, "/v1/faults/3"),
    ] {
      #expect(try await stage.call(method, target, as: own).status == 404, "\(method) \(target)")
    }
    #expect(try await stage.call(.delete, "/v1/faults", as: own).json == ["removed": 1])
    #expect(stage.faults.rules.map(\.id) == [2, 3])
  }
}
