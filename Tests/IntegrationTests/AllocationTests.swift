import Foundation
import Testing

private let release = repository + "/.build/release/widgetpush"
private let isBuilt = FileManager.default.isExecutableFile(atPath: release)

/// The accept path allocates nothing per push; whatever a connection or a batch needs is made once.
///
/// Measured on the release build, which `scripts/test` makes first: a debug build allocates what an optimised one keeps on the stack.
@Suite("Allocations", .processes, .enabled(if: isBuilt, "there is no release build; scripts/build makes it"))
struct AllocationTests {

  /// Most pushes of a burst merge.
  @Test func pushesThatMergeAllocateNothing() async throws {
    let counter = try await AllocationCounter()
    let gateway = try await Deployment.behind(["200"], environment: counter.environment, executable: release)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let first = try await gateway.send(.widgets(token))
    try await gateway.settled(try #require(first["apns-id"]), as: "accepted")
    try await gateway.load(4000, to: [token])

    // What a connection costs is in both.
    let extra = try await counter.leastExtra(ours: 20, nghttp2: 2) { many in try await gateway.load(many ? 2100 : 100, to: [token]) }
    #expect(extra.ours <= 20 && extra.nghttp2 <= 2, "2,000 pushes more: \(extra)")
    #expect(try await gateway.terminate() == 0)
  }

  /// Every push is charged, journaled, forwarded and answered by the upstream.
  @Test func pushesThatAreForwardedAllocateNothing() async throws {
    let counter = try await AllocationCounter()
    let gateway = try await Deployment.behind(
      ["200"],
      app: ["unknownTokens: adopt", "budgets: {widgets: {allowance: 2000000, burst: 1000000, minimumIntervalSeconds: 0}}"],
      environment: counter.environment, executable: release)
    // A load never comes to a token twice, so none has two pushes at once and none merge.
    let tokens = (0..<2000).map { _ in newToken() }
    var sent = 0
    func forward(_ count: Int) async throws {
      try await gateway.load(count, to: tokens)
      sent += count
      try await eventually("the upstream has \(sent) pushes") { gateway.upstream?.requestCount == sent }
    }
    for _ in 0..<2 { try await forward(2000) }

    // A batch that is used for the first time, or for more than ever, still grows; a push has no allocation of its own.
    let extra = try await counter.leastExtra(ours: 250, nghttp2: 2) { many in try await forward(many ? 1100 : 100) }
    #expect(extra.ours <= 250 && extra.nghttp2 <= 2, "1,000 pushes more: \(extra)")
    #expect(try await gateway.terminate() == 0)
  }
}

extension AllocationCounter {
  /// How many allocations more a long load makes than a short one, at the best of five tries, ended early by one within the bounds.
  ///
  /// What each push allocates is in every try. A batch that grows because more pushes than ever met in it is in the tries where the
  /// scheduler had them meet, and each of those leaves the batch large enough for the next.
  fileprivate func leastExtra(ours: Int, nghttp2: Int, of load: (_ isLong: Bool) async throws -> Void) async throws -> Counts {
    var least: Counts?
    for _ in 0..<5 {
      let few = try await allocations { try await load(false) }
      let extra = try await allocations { try await load(true) } - few
      if extra.ours < least?.ours ?? .max { least = extra }
      if extra.ours <= ours, extra.nghttp2 <= nghttp2 { return extra }
    }
    return least!
  }

  /// How many allocations happen while `work` runs.
  fileprivate func allocations(during work: () async throws -> Void) async throws -> Counts {
    let before = try counts()
    try await work()
    return try counts() - before
  }
}

extension Deployment {
  /// Sends `count` reload pushes over one connection, to the tokens in turn; every one must be answered 200.
  func load(_ count: Int, to tokens: [String]) async throws {
    let folder = try Folder()
    let body = try folder.write("body.json", #"{"aps":{"content-changed":true}}"#)
    let base = try url("provider")
    let paths = try folder.write("paths", tokens.map { "\(base)/3/device/\($0)" }.joined(separator: "\n") + "\n")
    let result = try await run([
      "h2load", "-t1", "-c1", "-m50", "-n", "\(count)", "-d", body, "-i", paths, "-H",
      "authorization: bearer \(try await ProviderToken.of(self))",
      "-H", "apns-topic: com.example.app.push-type.widgets", "-H", "apns-push-type: widgets",
    ])
    guard result.text.contains("\(count) 2xx") else { throw HarnessError("h2load: \(result.text) \(result.standardError)") }
  }
}
