import Foundation
import Testing

/// A disk that takes long for some of its syncs: senders wait, and nobody is refused what the machine can take.
@Suite("Slow disks", .processes) struct SlowDiskTests {
  private static let isLong = ProcessInfo.processInfo.environment["WIDGETPUSH_LONG"] != nil
  private static let release = repository + "/.build/release/widgetpush"

  /// A push in each write, and once a second a sync of half a second: 5,000 a second for 20 s with WIDGETPUSH_LONG, which only the
  /// optimised build keeps up with, and else a few seconds of less.
  @Test func oneSlowSyncASecondRefusesNothing() async throws {
    let disk = try await SlowDisk(milliseconds: 500, every: 1000)
    let gateway = try await disk.gateway(executable: Self.isLong ? Self.release : Deployment.executable)
    let (rate, seconds) = Self.isLong ? (5000, 20) : (1000, 3)
    let sent = try await gateway.sendSteadily(rate * seconds, rate: rate, connections: 8)
    #expect(sent["statuses"].description == #"{"200":\#(rate * seconds)}"#, "\(sent)")
    #expect(sent["reset"].int == 0 && sent["lost"].int == 0, "\(sent)")
    #expect(disk.delays >= seconds, "the disk was slow")
    #expect(try await gateway.terminate() == 0)
  }

  /// More than a loop holds while every sync takes seconds: the rest is not read before some of it is saved, and readiness tells.
  @Test func beyondWhatALoopHoldsClientsWait() async throws {
    let disk = try await SlowDisk(milliseconds: 3000, every: 0)
    let gateway = try await disk.gateway(executable: Deployment.executable)
    async let all = gateway.sendSteadily(15_000, rate: 0, connections: 15)
    try await eventually("readiness warns") {
      let answer = try await gateway.control("GET", "/readyz", as: nil)
      return answer.status == 200 && answer.text.contains("has been saving for") && answer.text.contains("pushes wait for it")
    }
    let sent = try await all
    #expect(sent["statuses"].description == #"{"200":15000}"# && sent["reset"].int == 0 && sent["lost"].int == 0, "\(sent)")
    gateway.process.signal(SIGKILL)
  }
}

/// A library that delays the syncs of a server that is started with it, compiled on the spot.
private struct SlowDisk {
  private let folder: Folder
  private let milliseconds: Int
  private let every: Int

  init(milliseconds: Int, every: Int) async throws {
    folder = try Folder()
    (self.milliseconds, self.every) = (milliseconds, every)
    let source = repository + "/Tests/Support/SlowSync/slow_sync.c"
    _ = try await output(["clang", "-shared", "-fPIC", "-O2", "-o", folder.path("slow.so"), source, "-ldl"])
  }

  /// How many syncs were delayed.
  var delays: Int { (try? folder.read("delays").count) ?? 0 }

  /// A gateway on this disk that takes pushes for any token, with nothing behind it.
  func gateway(executable: String) async throws -> Deployment {
    let state = try await Deployment.newState()
    let configuration = GatewayConfiguration(upstream: "https://localhost:9", app: ["unknownTokens: adopt"])
    return try await Deployment.start(
      ["gateway"] + configuration.options(in: state), in: state,
      environment: [
        "LD_PRELOAD": folder.path("slow.so"), "SLOW_SYNC_MS": "\(milliseconds)", "SLOW_SYNC_EVERY_MS": "\(every)",
        "SLOW_SYNC_COUNT": folder.path("delays"),
      ], executable: executable, within: .seconds(120))
  }
}

extension Deployment {
  /// Sends pushes, each in a write of its own and to a token of its own; 0 for the rate is as fast as can be.
  fileprivate func sendSteadily(_ count: Int, rate: Int, connections: Int) async throws -> Document {
    let fields = try await fields(to: "").filter { $0.0 != ":path" }
    let specification: [String: Any] = [
      "port": try port("provider"), "ca": state.path("ca.pem"), "headers": fields.map { [$0.0, $0.1] },
      "body": #"{"aps":{"content-changed":true}}"#, "connections": connections, "rate": rate, "count": count,
    ]
    let input = try JSONSerialization.data(withJSONObject: specification)
    return try Document(await output([python, wireScript("pushes.py")], input: input))
  }
}
