import Primitives
import Push
import Testing

@testable import Storage

/// A refused request that names no app which may be sent to is one of the app for which its token is registered.
@Suite("Whose a refused request is") struct RefusedAppTests {
  private func refuse(_ bench: Bench, _ id: Int, bundleID: String = "com.example.ap", isAppKnown: Bool = false, token: Int? = 1) throws {
    let batch = Batch()
    batch.refusals.append(
      RefusedOperation(
        id: Bench.id(id), token: token.map { Bench.token($0) }, type: .widgets, bundleID: batch.append(bundleID), isAppKnown: isAppKnown,
        reason: .topicDisallowed, detail: batch.append("why"), received: bench.now))
    try bench.settle(batch)
  }

  private func ids(_ bench: Bench, of bundleID: String) -> [Int] {
    bench.state.page(PushQuery(bundleID: bundleID, visibleBundleIDs: [bundleID])).pushes.map { Int($0.id.low) }
  }

  @Test func theTokensAppHasItAndKeepsItThroughARestart() throws {
    let bench = try Bench()
    bench.refusedBytes = .max
    try bench.register(Bench.registration(1))
    try refuse(bench, 1)
    try refuse(bench, 2, bundleID: "")
    try refuse(bench, 3, bundleID: "com.other", isAppKnown: true)
    try refuse(bench, 4, token: 2)
    try refuse(bench, 5, token: nil)
    for _ in 0..<2 {
      #expect(ids(bench, of: Bench.bundle) == [2, 1])
      #expect(ids(bench, of: "com.other") == [3])
      #expect(ids(bench, of: "com.example.ap") == [5, 4], "nobody knows whose they are")
      #expect(bench.record(1)?.isOfTokensApp == true && bench.record(1)?.detail == "why")
      #expect(bench.record(3)?.isOfTokensApp == false)
      try bench.crash()
    }
    let forgotten = bench.state.forgetRefused(of: Bench.bundle)
    #expect(forgotten == 2)
    #expect(ids(bench, of: Bench.bundle).isEmpty)
  }

  @Test func aTokenThatIsNoLongerRegisteredIsNobodys() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(1)
    let isRemoved = bench.state.unregister(Bench.token(1), at: bench.now)
    #expect(isRemoved)
    try bench.commit()
    try refuse(bench, 2)
    #expect(ids(bench, of: Bench.bundle) == [1])
  }

  /// A sender may write whatever it likes into a header that holds 8000 bytes.
  @Test func aBundleIDOfAnyLengthIsCut() throws {
    let bench = try Bench()
    bench.refusedBytes = .max
    let long = String(repeating: "a", count: 3 * Limits.topicBytes)
    try refuse(bench, 1, bundleID: long, token: nil)
    for _ in 0..<2 {
      #expect(bench.record(1)?.bundleID == String(long.prefix(Limits.topicBytes)) && bench.record(1)?.detail == "why")
      try bench.crash()
    }
  }

  /// What an earlier build has saved is read, which counted none as one of its token's app.
  @Test func theFirstLayoutIsRead() throws {
    let bench = try Bench()
    try refuse(bench, 1, bundleID: Bench.bundle, isAppKnown: true)
    let arena = ByteArena(capacity: 64)
    _ = bench.state.writeRefused(to: arena, bytesMax: .max)
    var bytes = Array(arena.buffer)
    bytes[0] = 1
    var state = StoreState(settings: bench.settings, resolver: Bench.resolver(bench.apps))
    var loader = StateLoader(logCapacity: 256)
    try bytes.withUnsafeBytes { try loader.take(.refusedPage(number: 0, $0), &state, at: .distantPast) }
    let bundleIDs = state.page(PushQuery()).pushes.map(\.bundleID)
    #expect(bundleIDs == [Bench.bundle])
  }
}
