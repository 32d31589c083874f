import Foundation
import Synchronization

/// Sees to it that nothing is left behind, however the tests end: a small process that reads what to watch from a pipe, and
/// when the pipe closes (because the tests are done, failed or were killed) kills what still runs and removes what still lies.
final class Reaper: Sendable {
  static let shared = Reaper()

  private let pipe: Mutex<Int32>

  private static let program = """
    import os, shutil, signal, sys, time
    signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pids, folders = set(), set()
    for line in sys.stdin:
        verb, value = line.rstrip("\\n").split(" ", 1)
        {"watch": pids.add, "forget": pids.discard, "folder": folders.add, "removed": folders.discard}[verb](value)
    for pid in pids:
        try: os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError: pass
    for _ in range(200):
        if not any(os.path.exists("/proc/" + pid) for pid in pids): break
        time.sleep(0.01)
    for folder in folders: shutil.rmtree(folder, ignore_errors=True)
    """

  private init() {
    // A test that writes to a process which has just ended must not end the tests.
    signal(SIGPIPE, SIG_IGN)
    guard let child = try? Spawning.start(["python3", "-c", Self.program], environment: ProcessInfo.processInfo.environment) else {
      preconditionFailure("the integration tests need python3")
    }
    pipe = Mutex(child.input)
  }

  func watch(_ pid: pid_t) { tell("watch \(pid)") }
  func forget(_ pid: pid_t) { tell("forget \(pid)") }
  func watch(folder: String) { tell("folder \(folder)") }
  func forget(folder: String) { tell("removed \(folder)") }

  private func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    pipe.withLock { _ = write($0, bytes, bytes.count) }
  }
}
