import CLinux
import Glibc
import Primitives

/// The signals a server answers to.
public enum Signal: Int32, Sendable, CaseIterable {
  /// Please end, finishing what is begun.
  case terminate = 15
  /// Ctrl-C at the terminal.
  case interrupt = 2
  /// Read the configuration again.
  case hangup = 1
}

/// Signals as events of a loop, instead of handlers that interrupt any thread at any instruction.
public final class SignalSource: ReadinessHandler {
  private let descriptor: Descriptor
  private let action: (Signal) -> Void
  private let loop: EventLoop
  private var key: SlabKey?

  /// Gives each of `signals` to `action` on `loop`. Call `block(_:)` before any thread is started, or the system
  /// may deliver a signal to a thread that does not know of it.
  public init(on loop: EventLoop, _ signals: [Signal], action: @escaping (Signal) -> Void) throws(SystemError) {
    var set = Self.set(of: signals)
    descriptor = Descriptor(owning: try syscallNow("signalfd") { signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC)) })
    self.action = action
    self.loop = loop
    key = try loop.watch(descriptor, self)
  }

  /// Keeps `signals` from their default effect in this thread and those it starts, and a closed pipe (SIGPIPE) from
  /// ending the process: writing to one fails with an error anyway.
  public static func block(_ signals: [Signal]) {
    var set = Self.set(of: signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Reads the signals that came.
  public func ready(_ readiness: Readiness) {
    var info = signalfd_siginfo()
    while read(descriptor.raw, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size {
      if let signal = Signal(rawValue: Int32(info.ssi_signo)) { action(signal) }
    }
  }

  /// Stops listening for signals.
  public func close() {
    if let key { loop.forget(key) }
    key = nil
  }

  private static func set(of signals: [Signal]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal.rawValue) }
    return set
  }
}
