import Glibc
import Reactor
import Synchronization

/// What Ctrl-C and SIGTERM do to a command that runs until then.
enum Interruption {
  /// From now on they end the process with the status 0, once `last` has been done.
  ///
  /// Call it before any thread is started, so that the signals reach nobody else.
  static func endProcess(_ last: @escaping @Sendable () -> Void = {}) throws {
    try watch {
      last()
      // Not `exit`, whose clean-up would meet a main thread in the middle of its work.
      _exit(0)
    }
  }

  /// From now on the first of them sets the flag that is returned, for a command that has to put something back; the second ends the process
  /// at once.
  ///
  /// Call it before any thread is started, so that the signals reach nobody else.
  static func flag() throws -> Flag {
    let flag = Flag()
    try watch { if flag.isRaised.exchange(true, ordering: .relaxed) { _exit(128 + SIGINT) } }
    return flag
  }

  /// Whether somebody wants the command to end.
  final class Flag: Sendable {
    fileprivate let isRaised = Atomic<Bool>(false)

    /// Whether it is set.
    var isSet: Bool { isRaised.load(ordering: .relaxed) }
  }

  private static func watch(_ body: @escaping @Sendable () -> Void) throws {
    let wanted = [Signal.interrupt, .terminate].filter { !Machine.ignores($0.rawValue) }
    SignalSource.block(wanted)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in wanted { unsafe sigaddset(&set, signal.rawValue) }
    let waited = set
    try Thread.start(name: "signals") {
      var (set, signal) = (waited, Int32(0))
      while true { if unsafe sigwait(&set, &signal) == 0 { body() } }
    }
  }
}
