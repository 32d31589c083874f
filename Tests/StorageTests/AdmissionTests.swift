import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Admission") struct AdmissionTests {
  private static let start = PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true)
  private static let update = PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true)

  @Test func theOrderOfTheChecks() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    #expect(try bench.push(0, to: 99) == .refused(.badDeviceToken, .tokenUnknown))
    #expect(try bench.push(1, bundleID: "com.other") == .refused(.deviceTokenNotForTopic, .otherApp))
    #expect(try bench.push(2, bundleID: "com.example.ap") == .refused(.deviceTokenNotForTopic, .otherApp))
    #expect(try bench.push(3, .controls) == .refused(.deviceTokenNotForTopic, .otherKind))
    #expect(try bench.push(4, .alert) == .refused(.deviceTokenNotForTopic, .otherKind))
    #expect(
      bench.record(3)?.detail
        == "this token is a widgets token of \(Bench.bundle): topic \(Bench.bundle).push-type.widgets and push type widgets, not \(Bench.bundle).push-type.controls and controls"
    )
    try bench.push(5)
    bench.now = bench.now + .seconds(1)
    try bench.complete(.unregistered(bench.now))
    // The topic comes before the 410.
    #expect(try bench.push(6, .controls) == .refused(.deviceTokenNotForTopic, .otherKind))
    #expect(try bench.push(7) == .refused(.unregistered, .unregistered, since: bench.now, retryAt: nil))
    #expect(bench.record(7)?.status == 410)
    #expect(bench.record(0)?.token == Bench.token(99))
    #expect(bench.record(0)?.bundleID == Bench.bundle)
  }

  @Test func everyKindTakesItsOwnTypesOnly() throws {
    for kind in TokenKind.allCases {
      for type in PushType.allCases {
        let bench = try Bench()
        try bench.register(Bench.registration(1, kind))
        let traits = kind == .pushToStart ? Self.start : Self.update
        let result = try bench.push(1, type, traits: type == .liveactivity ? traits : nil)
        #expect(result == (kind.takes(type) ? .forwarded : .refused(.deviceTokenNotForTopic, .otherKind)), "\(kind) \(type)")
      }
    }
  }

  @Test func theEnvironmentMustBeTheTokens() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    for (environment, result) in [
      (PushEnvironment.production, Admission.refused(.badDeviceToken, .otherEnvironment)), (.development, .forwarded),
    ] {
      let batch = Batch()
      var operation = Bench.operation(batch, id: 1, token: Bench.token(1), type: .alert, at: bench.now)
      operation.environment = environment
      batch.admits.append(operation)
      try bench.settle(batch)
      #expect(batch.admits[0].result == result)
    }
  }

  /// A server name that says nothing leaves it to the token.
  @Test func theEnvironmentIsTheTokensWhereNoneIsAsked() throws {
    let bench = try Bench()
    for (number, environment) in PushEnvironment.allCases.enumerated() {
      var registration = Bench.registration(number, .app)
      registration.environment = environment
      try bench.register(registration)
      let batch = Batch()
      batch.admits.append(Bench.operation(batch, id: number, token: Bench.token(number), type: .alert, at: bench.now))
      try bench.settle(batch)
      #expect(batch.admits[0].environment == environment)
    }
  }

  @Test func aStartNeedsAPushToStartToken() throws {
    for validation in AppPolicy.Validation.allCases {
      var policy = AppPolicy()
      policy.validation = validation
      let bench = try Bench(policy: policy)
      try bench.register(Bench.registration(1, .liveactivity))
      try bench.register(Bench.registration(2, .pushToStart))
      let refusal = Admission.refused(.badPayload, .tokenKindMismatch)
      let expected = validation == .strict ? refusal : .forwarded
      #expect(try bench.push(1, to: 1, .liveactivity, traits: Self.start) == expected)
      #expect(try bench.push(2, to: 2, .liveactivity, traits: Self.update) == expected)
      #expect(try bench.push(3, to: 2, .liveactivity, traits: Self.start) != refusal)
    }
  }

  @Test func unknownTokensAreAdoptedWhereThePolicySaysSo() throws {
    var policy = AppPolicy()
    policy.unknownTokens = .adopt
    let bench = try Bench(policy: policy)
    let kinds: [(PushType, PushTraits?, TokenKind)] = [
      (.widgets, nil, .widgets), (.controls, nil, .controls), (.liveactivity, Self.start, .pushToStart),
      (.liveactivity, Self.update, .liveactivity), (.alert, nil, .app), (.background, nil, .app), (.voip, nil, .voip), (.mdm, nil, .mdm),
      (.location, nil, .location), (.pushtotalk, nil, .pushtotalk), (.complication, nil, .complication),
      (.fileprovider, nil, .fileprovider),
    ]
    for (number, (type, traits, kind)) in kinds.enumerated() {
      #expect(try bench.push(number, to: number, type, traits: traits) == .forwarded)
      let registration = try #require(try bench.engine.registration(Bench.token(number))).0
      #expect(registration.kind == kind)
      #expect(registration.bundleID == Bench.bundle)
    }
    let before = bench.state.durable()
    try bench.crash()
    #expect(bench.state.durable() == before)
    #expect(bench.record(0)?.bundleID == Bench.bundle)
  }

  @Test func payloadsAreSentAsTheyCame() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    let batch = Batch()
    var operation = Bench.operation(batch, id: 1, token: Bench.token(1), type: .alert, at: bench.now, payload: "first \u{0} bytes")
    operation.collapseID = batch.append("fold me")
    operation.priority = .considerate
    operation.prioritySent = true
    batch.admits.append(operation)
    batch.admits.append(Bench.operation(batch, id: 2, token: Bench.token(1), type: .alert, at: bench.now, payload: ""))
    try bench.settle(batch)
    let sent = try #require(batch.forwards.first)
    #expect(sent.admit == 0 && batch.bytes[sent.payload].string == "first \u{0} bytes")

    // Not attempted, then sent again from the store's own copy.
    try bench.complete(.notAttempted(.upstreamBusy))
    try bench.crash()
    let again = Batch()
    try bench.releaseDue(into: again)
    let push = try #require(again.forwards.first)
    #expect(push.id == Bench.id(1) && push.admit == nil && push.priority == .considerate && push.prioritySent)
    #expect(again.bytes[push.payload].string == "first \u{0} bytes")
    #expect(again.bytes[push.collapseID].string == "fold me")
    #expect(again.bytes[push.topic].string == Bench.bundle)
  }

  @Test func bytesAreBounded() throws {
    let bench = try Bench { $0.waitingBytes = 20 * 256 }
    for number in 0..<30 { try bench.register(Bench.registration(number)) }
    var results: [Admission] = []
    for number in 0..<30 { results.append(try bench.push(number, to: number)) }
    #expect(results.prefix(20).allSatisfy { $0 == .forwarded })
    #expect(results.suffix(10).allSatisfy { $0 == .refused(.serviceUnavailable) })
    try bench.complete(.accepted, token: 3)
    #expect(try bench.push(100, to: 29) == .forwarded)
  }

  @Test func registrationsAreBounded() throws {
    let bench = try Bench { $0.registrations = 3 }
    for number in 0..<3 { #expect(try bench.register(Bench.registration(number))) }
    #expect(throws: StoreError.full(registrations: 3)) { try bench.register(Bench.registration(3)) }
    #expect(try bench.register(Bench.registration(2)) == false)
    #expect(try bench.unregister(0))
    #expect(try bench.register(Bench.registration(3)))
  }
}

/// Many admissions in one batch, which are looked up in blocks before any of them is decided.
@Suite("Blocks of admissions") struct AdmissionBlockTests {
  private func results(_ bench: Bench, _ tokens: [Int], type: PushType = .alert) throws -> [Admission] {
    let batch = Batch()
    for (id, token) in tokens.enumerated() {
      batch.admits.append(Bench.operation(batch, id: id, token: Bench.token(token), type: type, at: bench.now))
    }
    try bench.settle(batch)
    return Array(batch.admits.map(\.result))
  }

  /// A token that the batch itself makes known is known to the rest of its block as well.
  @Test func aTokenAdoptedInTheBlockIsFound() throws {
    var policy = AppPolicy()
    policy.unknownTokens = .adopt
    let bench = try Bench(policy: policy)
    let results = try results(bench, (0..<200).map { $0 / 2 })
    for index in stride(from: 0, to: 200, by: 2) {
      #expect(results[index] == .forwarded)
      #expect(results[index + 1] == .waiting(due: nil, .inFlight))
    }
    #expect(bench.state.tokens.activeCount == 100)
  }

  @Test func theUnknownAndTheRemovedAreRefusedAmongOthers() throws {
    let bench = try Bench()
    for token in 0..<100 { try bench.register(Bench.registration(token, .app)) }
    for token in stride(from: 0, to: 100, by: 7) { _ = try bench.unregister(token) }
    let results = try results(bench, Array(0..<140))
    for token in 0..<140 {
      let isKnown = token < 100 && token % 7 != 0
      #expect(results[token] == (isKnown ? .forwarded : .refused(.badDeviceToken, .tokenUnknown)))
    }
  }

  /// One batch may bring more pushes than the log keeps.
  @Test func aBatchLargerThanTheLogIsTaken() throws {
    let bench = try Bench { $0.logEntries = 256 }
    for token in 0..<700 { try bench.register(Bench.registration(token, .app)) }
    let results = try results(bench, Array(0..<700))
    #expect(results.allSatisfy { $0 == .forwarded })
    #expect(bench.record(699)?.disposition == .forwarding)
    #expect(bench.record(699 - 256) == nil)
  }

  /// A batch that is used again allocates nothing, however full it was.
  @Test func aBatchHasRoomForAllItMayHold() {
    let batch = Batch()
    let capacity = batch.admits.capacity
    for id in 0..<Limits.batchOperations {
      batch.admits.append(Bench.operation(batch, id: id, token: Bench.token(id), type: .widgets, at: .distantPast))
    }
    #expect(batch.admits.capacity == capacity)
    #expect(batch.forwards.capacity >= 2 * Limits.batchOperations)
    #expect(batch.completions.capacity >= Limits.batchOperations)
    #expect(batch.arena.count <= Limits.batchArenaBytes)
  }
}
