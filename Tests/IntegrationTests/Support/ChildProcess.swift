import Foundation
import Synchronization

/// A process that a test started, with its output gathered as it comes.
final class ChildProcess: Sendable {
  /// The process id.
  let pid: pid_t
  /// What it wrote to standard output.
  let output: ByteStream
  /// What it wrote to standard error.
  let errors: ByteStream
  private let status = Mutex<Int32?>(nil)

  /// Starts `command`, whose first word is looked up in PATH unless it has a slash.
  ///
  /// - Parameters:
  ///   - environment: Set on top of this process's environment, from which every `WIDGETPUSH_` variable is taken away.
  ///   - input: What it reads from standard input, which then ends.
  init(_ command: [String], environment: [String: String] = [:], input: Data = Data()) throws {
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("WIDGETPUSH_") }
    variables.merge(environment) { _, new in new }
    let child = try Spawning.start(command, environment: variables)
    pid = child.pid
    output = ByteStream(reading: child.output, name: "stdout of \(child.pid)")
    errors = ByteStream(reading: child.errors, name: "stderr of \(child.pid)")
    Reaper.shared.watch(pid)
    Self.feed(input, to: child.input)
    waitForExit()
  }

  /// Sends a signal, unless it has exited.
  func signal(_ number: Int32) {
    status.withLock { if $0 == nil { kill(pid, number) } }
  }

  /// The exit status, or 128 and the signal's number; nil while it runs.
  var exitStatus: Int32? { status.withLock { $0 } }

  /// Waits for the exit and for the end of both outputs.
  func waitForExit(within limit: Duration = .seconds(120)) async throws -> Int32 {
    try await eventually(within: limit, "process \(pid) exits") {
      self.exitStatus != nil && self.output.isClosed && self.errors.isClosed
    }
    return exitStatus ?? -1
  }

  private func waitForExit() {
    let thread = Thread { [self] in
      var raw: Int32 = 0
      // The process stays a zombie, and its id its own, until the status is noted under the lock.
      var info = siginfo_t()
      while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      status.withLock {
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
        $0 = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
      }
      Reaper.shared.forget(pid)
    }
    thread.stackSize = 256 << 10
    thread.start()
  }

  private static func feed(_ input: Data, to descriptor: Int32) {
    guard !input.isEmpty else {
      close(descriptor)
      return
    }
    Thread.detachNewThread {
      var rest = [UInt8](input)
      while !rest.isEmpty {
        let count = write(descriptor, rest, rest.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        rest.removeFirst(count)
      }
      close(descriptor)
    }
  }
}
