import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// One upstream that takes nothing: what waits for it leaves room for what goes to others.
@Suite("Shares of what waits") struct ShareTests {
  private static let upstreams = ["dead", "alive"]
  private static let bytes = 64 * 1024

  private func registration(_ number: Int, at upstream: String, _ kind: TokenKind = .app) -> Registration {
    var registration = Bench.registration(number, kind)
    registration.upstream = upstream
    return registration
  }

  private func bench(_ policy: AppPolicy = AppPolicy(), upstreams: [String] = upstreams) throws -> Bench {
    try Bench(policy: policy) {
      $0.waitingBytes = Self.bytes
      $0.upstreams = upstreams
    }
  }

  /// Sends pushes to tokens of one upstream until they are refused; how many were taken.
  private func fill(_ bench: Bench, _ upstream: String, from first: Int) throws -> Int {
    for number in first..<first + 1000 {
      try bench.register(registration(number, at: upstream))
      let result = try bench.push(number, to: number, .alert)
      if result.disposition == .refused {
        #expect(result == .refused(.serviceUnavailable, .upstreamFull))
        return number - first
      }
    }
    return 1000
  }

  @Test func oneThatIsDownLeavesTheOthersTheirPart() throws {
    let bench = try bench()
    // Of 256 blocks a quarter is kept for the other.
    #expect(try fill(bench, "dead", from: 1) == 192)
    #expect(bench.state.fullUpstreams() == [.upstreamFull("dead")])
    #expect(bench.state.detail(of: .serviceUnavailable, refused(bench), Batch()).contains("pushes for the upstream dead hold"))
    for number in 3000..<3060 { try bench.register(registration(number, at: "alive")) }
    var refused = 0
    for id in 0..<5000 {
      let token = 3000 + id % 60
      let result = try bench.push(20_000 + id, to: token, .alert)
      if result.disposition == .refused { refused += 1 } else { try bench.complete(.accepted, token: token) }
    }
    #expect(refused == 0)
    #expect(bench.state.shares.held[0] == 192 * 256 && bench.state.shares.held[1] == 0)
  }

  /// The operation of a push that was refused for want of room.
  private func refused(_ bench: Bench) -> AdmitOperation {
    let batch = Batch()
    var operation = Bench.operation(batch, id: 1, token: Bench.token(1), type: .alert, at: bench.now)
    operation.result = .refused(.serviceUnavailable, .upstreamFull)
    return operation
  }

  @Test func theOnlyOneHasAll() throws {
    let bench = try bench(upstreams: ["unused", "dead"].suffix(1))
    #expect(try fill(bench, "dead", from: 1) == 256)
  }

  /// Room comes back with what ends, and the warning goes.
  @Test func whatEndsMakesRoom() throws {
    let bench = try bench()
    let taken = try fill(bench, "dead", from: 1)
    for token in 1...taken { try bench.complete(.accepted, token: token) }
    #expect(bench.state.fullUpstreams() == [])
    #expect(bench.state.shares.heldInAll == 0)
    #expect(try bench.push(5000, to: 1, .alert) == .forwarded)
  }

  /// What a crash leaves is held by the upstream that it waits for, as before.
  @Test func aRestartCountsAnew() throws {
    let bench = try bench()
    let taken = try fill(bench, "dead", from: 1)
    let held = bench.state.shares.held
    try bench.crash()
    #expect(bench.state.shares.held == held)
    #expect(try bench.push(5000, to: taken + 1, .alert) == .refused(.serviceUnavailable, .upstreamFull))
  }

  /// Another configuration sends the app's tokens elsewhere, and what waits for them with them.
  @Test func anotherConfigurationMovesWhatIsHeld() throws {
    let bench = try bench()
    _ = try fill(bench, "dead", from: 1)
    bench.state.reconfigure(Bench.resolver(bench.apps, ["alive", "dead"]), at: bench.now)
    #expect(bench.state.shares.held[0] == 0 && bench.state.shares.held[1] == 192 * 256)
    try bench.register(registration(4000, at: "alive"))
    #expect(try bench.push(5000, to: 4000, .alert) == .forwarded)
  }

  /// A question what would become of a push says the same, and changes nothing.
  @Test func aPreviewIsRefusedAlike() throws {
    let bench = try bench()
    _ = try fill(bench, "dead", from: 1)
    bench.state.full = []
    let batch = Batch()
    let operation = Bench.operation(batch, id: 1, token: Bench.token(2), type: .alert, at: bench.now)
    #expect(bench.state.preview(operation, batch, at: bench.now).result == .refused(.serviceUnavailable, .upstreamFull))
    #expect(bench.state.full.isEmpty)
  }

  /// Reloads of an app go on while those of another wait for an upstream that is down.
  @Test func reloadsOfOthersGoOn() throws {
    let bench = try bench()
    _ = try fill(bench, "dead", from: 1)
    let (down, up) = (Bench.bundle, "com.example.other")
    var other = registration(4000, at: "alive", .widgets)
    other.bundleID = up
    try bench.register(other)
    func mayGoOn(_ bundleID: String) -> Bool {
      let reload = Reload(
        id: Bench.id(1), request: ReloadRequest(selector: ReloadSelector(bundleID: bundleID)), created: bench.now)
      return bench.state.mayGoOn(reload, at: bench.now).0
    }
    #expect(!mayGoOn(down) && mayGoOn(up))
  }

  /// Broadcasts that wait for an upstream that is down leave room for those to others.
  @Test func broadcastsLeaveRoomAsWell() throws {
    var casts = BroadcastState()
    let now = Instant(unixSeconds: 1_800_000_000)
    let owner = ChannelOwner(bundleID: Bench.bundle, environment: .development)
    func send(_ number: Int, to upstream: UInt16) -> ChannelAnswer {
      let route = BroadcastRoute(upstreams: [upstream], signer: 0, upstreamCount: 2, adopts: true)
      let submission = BroadcastSubmission(
        id: Bench.id(number), channel: BroadcastTests.channel(number), expiration: .at(now + .seconds(3600)), priority: .immediate,
        warnings: [], received: now, payload: [1])
      return casts.carryOut(.send(submission), of: owner, route: route, patience: .seconds(5), at: now)
    }
    var taken = 0
    while taken < Limits.broadcastsPending, send(taken, to: 0) == .done { taken += 1 }
    #expect(taken == Limits.broadcastsPending * 3 / 4)
    #expect(send(2000, to: 0) == .refused(.tooManyRequests))
    for number in 3000..<3100 { #expect(send(number, to: 1) == .done) }
  }
}
