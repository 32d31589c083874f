import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Content-states and registrations") struct ContentStateTests {
  private static let verdicts: [(attributesType: String, problem: SchemaProblem?)] = [
    ("Ride", problem("no stops")), ("Game", nil), ("Tour", problem("no guide", .dateMisread, .dateMisread)),
  ]

  private static func problem(
    _ detail: String, _ cause: Cause = .contentStateNotDecodable, _ warning: PushWarning = .contentStateMismatch
  ) -> SchemaProblem {
    SchemaProblem(
      cause, field: "aps.content-state", detail: detail,
      warnings: [WarningDetail(warning, field: "aps.content-state", detail: detail)])
  }

  @Test func theRegistrationSaysWhichTypeCounts() {
    let question = ContentStateQuestion(admit: 0, isStrict: true, verdicts: Self.verdicts)
    #expect(question.problem(of: "Ride")?.detail == "no stops" && question.problem(of: "Game") == nil)
    #expect(question.problem(of: "Other") == nil, "of a type without a schema nothing is known")
    #expect(question.problem(of: nil) == nil, "it may be a Game")
    let none = ContentStateQuestion(admit: 0, isStrict: true, verdicts: [Self.verdicts[0], Self.verdicts[2]])
    #expect(none.problem(of: nil)?.detail == "no stops")
  }

  private func harness() async throws -> Harness {
    let harness = try Harness()
    for (number, type) in [(1, "Ride"), (2, "Game"), (3, "Tour")] {
      var registration = Bench.registration(number, .liveactivity)
      registration.activity = Registration.Activity(id: "a", attributesType: type)
      _ = try await harness.store.register(registration)
    }
    return harness
  }

  private func batch(_ harness: Harness, to token: Int, id: Int, isStrict: Bool) -> Batch {
    let batch = harness.store.makeBatch()
    batch.questions.append(ContentStateQuestion(admit: 0, isStrict: isStrict, verdicts: Self.verdicts))
    batch.admits.append(
      Bench.operation(
        batch, id: id, token: Bench.token(token), type: .liveactivity, at: harness.now,
        traits: PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true)))
    return batch
  }

  @Test func strictRefusesAndNamesTheKey() async throws {
    let harness = try await harness()
    defer { harness.store.stop() }
    let refused = try #require(harness.settle(batch(harness, to: 1, id: 1, isStrict: true)))
    #expect(refused.admits.map(\.result) == [.refused(.badPayload, .contentStateNotDecodable)])
    #expect(refused.bytes[refused.admits[0].detail].string == "no stops")
    let record = try #require(try await harness.store.push(Bench.id(1)).first)
    #expect(record.reason == .badPayload && record.cause == .contentStateNotDecodable && record.detail == "no stops")
    #expect(record.warnings == [], "what it is refused for is no warning besides")
    let taken = try #require(harness.settle(batch(harness, to: 2, id: 2, isStrict: true)))
    #expect(taken.admits.map(\.result) == [.forwarded])
    #expect(try await harness.store.push(Bench.id(2)).first?.warnings == [])
    let misread = try #require(harness.settle(batch(harness, to: 3, id: 4, isStrict: true)))
    #expect(misread.admits.map(\.result) == [.refused(.badPayload, .dateMisread)])
    // An unknown token is refused as such.
    let unknown = try #require(harness.settle(batch(harness, to: 9, id: 3, isStrict: true)))
    #expect(unknown.admits.map(\.result) == [.refused(.badDeviceToken, .tokenUnknown)])
  }

  @Test func appleRecordsTheWarning() async throws {
    let harness = try await harness()
    defer { harness.store.stop() }
    let taken = try #require(harness.settle(batch(harness, to: 1, id: 1, isStrict: false)))
    #expect(taken.admits.map(\.result) == [.forwarded])
    let record = try #require(try await harness.store.push(Bench.id(1)).first)
    #expect(record.warnings == PushWarnings(.contentStateMismatch) && record.detail == "no stops")
    #expect(record.warningDetails == [WarningDetail(.contentStateMismatch, field: "aps.content-state", detail: "no stops")])
  }

  @Test func theQuestionsGoWithTheBatch() async throws {
    let harness = try await harness()
    defer { harness.store.stop() }
    let used = try #require(harness.settle(batch(harness, to: 1, id: 1, isStrict: true)))
    used.reset()
    #expect(used.questions.isEmpty)
    used.admits.append(
      Bench.operation(used, id: 2, token: Bench.token(1), type: .liveactivity, at: harness.now, traits: PushTraits(lane: .keep)))
    #expect(try #require(harness.settle(used)).admits.map(\.result) == [.forwarded])
  }

  @Test func aPreviewSaysTheSame() async throws {
    let harness = try await harness()
    defer { harness.store.stop() }
    let now = harness.now
    let preview = try await harness.store.preview { batch in
      batch.questions.append(ContentStateQuestion(admit: 0, isStrict: true, verdicts: Self.verdicts))
      return Bench.operation(batch, id: 1, token: Bench.token(1), type: .liveactivity, at: now, traits: PushTraits(lane: .keep))
    }
    #expect(preview.result == .refused(.badPayload, .contentStateNotDecodable) && preview.detail == "no stops")
  }
}
