import Glibc
import Reactor

/// What Ctrl-C and SIGTERM do to a command that runs until then.
enum Interruption {
  /// From now on they end the process with the status 0, at once: nothing is open that would have to be closed.
  ///
  /// Call it before any thread is started, so that the signals reach nobody else.
  static func endProcess() throws {
    let wanted = [Signal.interrupt, .terminate].filter { !Machine.ignores($0.rawValue) }
    SignalSource.block(wanted)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in wanted { unsafe sigaddset(&set, signal.rawValue) }
    let waited = set
    try Thread.start(name: "signals") {
      var (set, signal) = (waited, Int32(0))
      // Not `exit`, whose clean-up would meet a main thread in the middle of its work.
      while true { if unsafe sigwait(&set, &signal) == 0 { _exit(0) } }
    }
  }
}
