import Control
import JSON
import Push
import Testing

@Suite("Control API: reset") struct ResetAPITests {
  /// A stage with a push and a refusal for each of two apps.
  private func stage() async throws -> APIStage {
    let stage = try APIStage()
    for (number, bundle) in [(1, APIStage.bundle), (2, APIStage.other)] {
      try await stage.register(number, bundle: bundle)
      try await stage.push(number, to: number, bundle: bundle)
      try await stage.refuse(10 + number, .badTopic, token: number, bundle: bundle)
      #expect(try await stage.call(.put, "/v1/budgets/\(APIStage.token(number))", ["remaining": 3]).status == 200)
    }
    return stage
  }

  private func left(_ stage: APIStage, _ bundle: String) async throws -> (pushes: Int?, remaining: Int64?) {
    let pushes = try await stage.call(.get, "/v1/pushes?bundleID=\(bundle)").json["pushes"]?.arrayValue?.count
    let number = bundle == APIStage.bundle ? 1 : 2
    let budgets = try await stage.call(.get, "/v1/budgets/\(APIStage.token(number))").json["budgets"]
    return (pushes, budgets?[0]?["remaining"]?.intValue)
  }

  /// The scope admin, for all apps or for one, and then for that one only.
  @Test(arguments: ["admin", APIStage.bundle]) func oneAppIsReset(caller: String) async throws {
    let stage = try await stage()
    let answer = try await stage.call(.post, "/v1/reset?bundleID=\(APIStage.bundle)", as: caller)
    #expect(answer.status == 200)
    #expect(answer.json == ["bundleID": .string(APIStage.bundle), "pushes": 2, "tokens": 1])
    #expect(try await left(stage, APIStage.bundle) == (0, 12))
    #expect(try await left(stage, APIStage.other) == (2, 3))
    #expect(try await stage.call(.get, "/v1/registrations/\(APIStage.token(1))").status == 200)
  }

  @Test func everyAppIsResetAtOnce() async throws {
    let stage = try await stage()
    #expect(try await stage.call(.post, "/v1/reset").json == ["pushes": 4, "tokens": 2])
    #expect(try await left(stage, APIStage.bundle) == (0, 12))
    #expect(try await left(stage, APIStage.other) == (0, 12))
  }

  @Test(arguments: [
    ("/v1/reset?bundleID=\(APIStage.other)", APIStage.bundle, 403, "bundleID"), ("/v1/reset", APIStage.bundle, 403, "bundleID"),
    ("/v1/reset?bundleID=a%20b", "admin", 400, "bundleID"), ("/v1/reset?bundle=a", "admin", 400, "bundle"),
    ("/v1/reset?bundleID=\(APIStage.bundle)", "read", 403, nil), ("/v1/reset?bundleID=\(APIStage.bundle)", "reload", 403, nil),
  ]) func whatIsNotOnesOwnStays(target: String, caller: String, status: Int, field: String?) async throws {
    let stage = try await stage()
    let answer = try await stage.call(.post, target, as: caller)
    #expect(answer.status == status && answer.field == field, "\(answer.text)")
    #expect(try await left(stage, APIStage.bundle) == (2, 3))
    #expect(try await left(stage, APIStage.other) == (2, 3))
  }
}
