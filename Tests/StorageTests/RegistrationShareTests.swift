import Primitives
import Push
import Testing

@testable import Storage

/// How many tokens of one app are registered, and how many may be where others stand beside it.
@Suite("Shares of registrations") struct RegistrationShareTests {
  private static let other = "com.example.other"

  private func registration(_ number: Int, _ bundleID: String, upstream: String? = nil) -> Registration {
    var registration = Registration(token: Bench.token(number), kind: .widgets, bundleID: bundleID, environment: .development)
    registration.upstream = upstream
    return registration
  }

  private func counts(_ bench: Bench) -> [Int] { [Bench.bundle, Self.other].map { bench.state.registrations(of: $0) } }

  /// The counts follow what is registered, moved, removed and registered again, and are the same after a crash.
  @Test func theCountsAreThoseOfTheTable() throws {
    let bench = try Bench { $0.upstreams = ["one", "two"] }
    for number in 0..<6 { try bench.register(registration(number, Bench.bundle, upstream: number < 3 ? "one" : "two")) }
    for number in 6..<8 { try bench.register(registration(number, Self.other)) }
    #expect(counts(bench) == [6, 2])
    try bench.register(registration(0, Bench.bundle, upstream: "two"))
    try bench.register(registration(1, Self.other))
    #expect(counts(bench) == [5, 3])
    #expect(try bench.unregister(2) && bench.unregister(6))
    #expect(counts(bench) == [4, 2])
    try bench.crash()
    #expect(counts(bench) == [4, 2])
    try bench.register(registration(2, Self.other))
    try bench.register(registration(6, Self.other))
    #expect(counts(bench) == [4, 4] && bench.state.tokens.activeCount == 8)
    try bench.crash()
    #expect(counts(bench) == [4, 4] && bench.state.tokens.activeCount == 8)
  }

  /// Pushes that adopt tokens take an app's share and no more, and the preview says the same; where there is one app, it has all.
  @Test(arguments: [true, false]) func adoptedTokensHaveAShare(isShared: Bool) throws {
    var policy = AppPolicy()
    policy.unknownTokens = .adopt
    let bench = try Bench(policy: policy) { $0.registrations = 16 }
    if !isShared {
      let app = AppDirectory.App(bundleID: Bench.bundle, policy: policy)
      bench.state.routes.reconfigure(Bench.resolver(AppDirectory([app])))
    }
    var adopted = 0
    for number in 0..<20 {
      let batch = Batch()
      let operation = Bench.operation(batch, id: number, token: Bench.token(number), type: .widgets, at: bench.now)
      let preview = bench.state.preview(operation, batch, at: bench.now)
      batch.admits.append(operation)
      try bench.settle(batch)
      if batch.admits[0].result == .refused(.badDeviceToken, .tokenUnknown) {
        if isShared { #expect(preview.result == .refused(.badDeviceToken, .tokenUnknown)) }
      } else {
        adopted += 1
      }
    }
    #expect(adopted == (isShared ? 4 : 16))
    // A token that is registered is pushed to as before.
    let hasShareLeft = bench.state.hasShareLeft(Bench.bundle, for: Bench.token(0))
    #expect(hasShareLeft)
  }
}
