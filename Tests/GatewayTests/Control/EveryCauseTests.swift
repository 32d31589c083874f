import Control
import Delivery
import JSON
import Primitives
import Push
import Storage
import Testing

@Suite("Control API: every cause and every step") struct EveryCauseTests {
  /// Whatever a device may say of a push: it is kept, and told with what happened, what to do and how sure that is.
  @Test(arguments: Cause.allCases) func whatADeviceSays(cause: Cause) async throws {
    let stage = try APIStage()
    try await stage.register(1)
    for (id, disposition) in [Disposition.applied, .ignored].enumerated() {
      let batch = try await stage.push(id)
      let forward = try #require(batch.forwards.first)
      try await stage.settle { $0.completions.append(CompleteOperation(ticket: forward.ticket, outcome: .finished(disposition, cause))) }
      let told = try await stage.call(.get, "/v1/pushes/\(APIStage.id(id))").json
      let remedy = Remedy(disposition, cause: cause)
      #expect(told["disposition"]?.stringValue == disposition.name && told["cause"]?.stringValue == (cause == .none ? nil : cause.name))
      #expect(told["happened"]?.stringValue == remedy.happened && told["remedy"]?.stringValue == remedy.advice)
      #expect(told["certainty"]?.stringValue == remedy.certainty.name)
      let step = try #require(told["steps"]?.arrayValue?.last)
      #expect(step["happened"]?.stringValue == remedy.happened && step["remedy"]?.stringValue == remedy.advice)
      #expect(step["certainty"]?.stringValue == remedy.certainty.name && step["at"] != nil)
      _ = try await stage.call(.delete, "/v1/budgets/\(APIStage.token(1))")
      stage.now.value = stage.now.value + .seconds(600)
    }
  }

  /// The mock device has no person and no App Store; a device of one's own that stands behind the gateway may say what they do.
  @Test(arguments: [Cause.appRemoved, .permissionDenied, .noSuchActivity, .noSuchApp]) func whatAnotherDeviceReports(cause: Cause)
    async throws
  {
    let stage = try APIStage()
    try await stage.register(1)
    let batch = try await stage.push(1)
    try await stage.settle { $0.completions.append(CompleteOperation(ticket: batch.forwards[0].ticket, outcome: .pending)) }
    let target = "/v1/pushes/\(APIStage.id(1))"
    let outcome: JSONValue = ["disposition": "ignored", "cause": .string(cause.name)]
    #expect(try await stage.call(.post, target + "/outcome", as: "register", outcome).status == 204)
    let told = try await stage.call(.get, target).json
    #expect(told["cause"]?.stringValue == cause.name && told["remedy"]?.stringValue == cause.remedy.advice)
  }

  /// Every disposition, each reached as it is in life.
  @Test func everyDisposition() async throws {
    let stage = try APIStage()
    for token in 1...6 { try await stage.register(token) }
    let outcomes: [UpstreamOutcome] = [
      .accepted, .finished(.applied, .reloaded), .finished(.ignored, .noSuchWidget), .refused(status: 400, .badTopic),
    ]
    for (index, outcome) in outcomes.enumerated() {
      let batch = try await stage.push(index, to: index + 1)
      let forward = try #require(batch.forwards.first)
      try await stage.settle { $0.completions.append(CompleteOperation(ticket: forward.ticket, outcome: outcome)) }
    }
    for id in 10...12 { try await stage.push(id, to: 5) }
    try await stage.push(13, to: 99)
    let received = stage.now.value
    let late = try await stage.settle { batch in
      batch.admits.append(
        AdmitOperation(
          reply: 0, id: APIStage.id(14), token: DeviceToken(hex: APIStage.token(6))!, type: .widgets,
          expiration: .at(received - .seconds(1)), traits: .reload, received: received,
          topic: batch.append("\(APIStage.bundle)\(PushType.widgets.topicSuffix)"), bundleID: batch.append(APIStage.bundle),
          payload: batch.append("{}")))
    }
    // A date that has passed is one attempt.
    let attempt = try #require(late.forwards.first)
    try await stage.settle {
      $0.completions.append(CompleteOperation(ticket: attempt.ticket, outcome: .retry(.upstreamUnavailable)))
    }
    var told: Set<String> = []
    for id in Array(0..<4) + Array(10...14) {
      let push = try await stage.call(.get, "/v1/pushes/\(APIStage.id(id))").json
      told.insert(push["disposition"]?.stringValue ?? "")
      #expect(push["remedy"]?.stringValue?.isEmpty == false && push["happened"]?.stringValue?.isEmpty == false)
      for step in push["steps"]?.arrayValue ?? [] { #expect(step["remedy"] != nil && step["certainty"] != nil && step["at"] != nil) }
    }
    #expect(told == Set(Disposition.allCases.map(\.name)))
  }
}
