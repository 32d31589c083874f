import Control
import Primitives
import Recorder
import Synchronization
import Testing

@Suite("Calls that last, and their access tokens", .timeLimit(.minutes(5))) struct GrantWatchTests {
  /// An API with a stream and a call that waits, both without end, whose tokens are looked at all the time.
  private final class Stage: Sendable {
    let events = Recorder<String>()
    let authorizer: Authorizer
    let now = Mutex(Instant(unixSeconds: 100))
    /// The times at which somebody looked at the clock.
    let looks = Recorder<Instant>()
    let gate = Gate()

    static func token(
      _ scopes: Set<AccessScope> = [.read], apps: Set<String>? = nil, expires: Instant? = nil
    ) -> AccessToken { AccessToken(name: "reader", scopes: scopes, bundleIDs: apps, expires: expires, secret: "secret") }

    init(_ token: AccessToken) {
      authorizer = Authorizer(AccessTokens([token, AccessToken(name: "other", scopes: [.read], secret: "other")]))
    }

    var table: RouteTable {
      let (events, gate) = (events, gate)
      return RouteTable(
        [
          Route(.get, "/stream", .scope(.read)) { _ in
            HTTPResponse(
              status: 200,
              stream: BodyStream { writer in
                events.append("began")
                await gate.pass()
                events.append(Task.isCancelled ? "ended" : "passed")
              })
          },
          Route(.get, "/waiting", .scope(.read)) { _ in
            events.append("began")
            await gate.pass()
            events.append(Task.isCancelled ? "ended" : "passed")
            return .text("waited")
          },
        ], authorizer: authorizer, recheck: .milliseconds(1),
        now: {
          let now = self.now.withLock { $0 }
          self.looks.append(now)
          return now
        })
    }

    func call(_ target: String, _ secret: String = "secret") async throws -> HTTPResponse {
      let response = await table.respond(
        to: try HTTPRequest(method: .get, target: target, fields: ["authorization": "Bearer \(secret)"]))
      await response.stream?.run(BodyWriter { _ in .taken })
      return response
    }
  }

  /// What happens to a token while its call is open.
  enum Change: CaseIterable, Sendable { case revoked, expired, narrowed, scopeTaken }

  private func make(_ change: Change, _ stage: Stage) {
    switch change {
    case .revoked: stage.authorizer.replace(AccessTokens([]))
    case .expired: stage.now.withLock { $0 = Instant(unixSeconds: 200) }
    case .narrowed: stage.authorizer.replace(AccessTokens([Stage.token(apps: ["com.a"], expires: Instant(unixSeconds: 200))]))
    case .scopeTaken: stage.authorizer.replace(AccessTokens([Stage.token([.register], expires: Instant(unixSeconds: 200))]))
    }
  }

  @Test(arguments: Change.allCases, ["/stream", "/waiting?wait=300s"]) func aCallEndsWithItsToken(change: Change, target: String)
    async throws
  {
    let stage = Stage(Stage.token(expires: Instant(unixSeconds: 200)))
    async let answer = stage.call(target)
    try await stage.events.until { $0 == ["began"] }
    make(change, stage)
    let response = try await answer
    #expect(stage.events.all == ["began", "ended"])
    if target != "/stream" { #expect(response.status == (change == .scopeTaken ? 403 : 401)) }
  }

  /// A token that stays as it is, whatever becomes of others, and a configuration that is re-read with it: the call goes on.
  @Test(arguments: ["/stream", "/waiting?wait=300s"]) func othersAreLeftAlone(target: String) async throws {
    let stage = Stage(Stage.token(expires: Instant(unixSeconds: 200)))
    async let answer = stage.call(target)
    try await stage.events.until { $0 == ["began"] }
    stage.authorizer.replace(AccessTokens([Stage.token(expires: Instant(unixSeconds: 200))]))
    stage.now.withLock { $0 = Instant(unixSeconds: 199) }
    _ = stage.looks.take()
    try await stage.looks.until { $0.count >= 5 }
    stage.gate.open()
    #expect(try await answer.status == 200)
    #expect(stage.events.all == ["began", "passed"])
  }
}
