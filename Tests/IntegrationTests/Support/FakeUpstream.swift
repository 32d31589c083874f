import Foundation
import Testing

/// An upstream that misbehaves on command.
final class FakeUpstream: Sendable {
  let process: ChildProcess
  let port: Int

  /// Starts one that gives `answers` in order, the last one for ever: `200`, `410:{"reason":…}`, `hang`, `reset`, `refuse`, `goaway`, `close`.
  ///
  /// - Parameters:
  ///   - state: The state folder whose server certificate it uses.
  ///   - port: 0 takes a free one.
  static func start(_ answers: [String], state: Folder, port: Int = 0, streams: Int = 1000) async throws -> FakeUpstream {
    let process = try ChildProcess(
      [python, wireScript("upstream.py"), state.path("server.pem"), state.path("server.key"), "\(port)", "--streams", "\(streams)"]
        + answers)
    try await eventually("the upstream listens: \(process.errors.text)") { !process.output.lines.isEmpty || process.exitStatus != nil }
    guard let line = process.output.lines.first, let port = Int(line.dropFirst("port ".count)) else {
      throw HarnessError("no upstream: \(process.errors.text)")
    }
    return FakeUpstream(process: process, port: port)
  }

  private init(process: ChildProcess, port: Int) {
    self.process = process
    self.port = port
  }

  deinit { process.signal(SIGKILL) }

  /// The requests that it got: `connection`, `fields`, `body`, `answer`.
  var requests: [Document] { process.output.lines.dropFirst().compactMap { try? Document(Data($0.utf8)) } }

  /// How many requests it got.
  var requestCount: Int { process.output.lineCount - 1 }

  /// Waits until it has told of so many requests, which it does after it has answered them, and holds that there are no more.
  func hasSeen(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await eventually("the upstream tells of \(count) requests") { self.requestCount >= count }
    #expect(requestCount == count, sourceLocation: sourceLocation)
  }
}
