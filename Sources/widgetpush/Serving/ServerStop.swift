import Push
import Reactor

/// What a server's main thread waits for: a signal that asks it to end, or the end of the command it runs for.
///
/// Made before any other thread, so that the signals reach nobody else.
final class ServerStop {
  private let loop: EventLoop
  private var signals: SignalSource?
  private var child: ChildProcess?
  private var childStatus: Int32?
  private var signalsSeen = 0
  /// What SIGHUP asks for; nil has it end the wait.
  var onHangup: (() -> Void)?
  /// Whether the wait ends when the terminal does that the process was started in, of which SIGHUP tells, too.
  var endsWithTerminal = false

  /// Keeps the signals from their default effect in this thread and all it starts.
  ///
  /// - Throws: `CommandError` where the process may have so few descriptors that a server cannot run.
  init() throws {
    guard DescriptorLimit.count >= Limits.descriptorsMin else {
      throw CommandError(
        "a process here may open only \(DescriptorLimit.count) files, and a server needs at least \(Limits.descriptorsMin); raise it with ulimit -n"
      )
    }
    // What nohup, or a shell that started this in the background, has switched off stays off.
    let wanted = Signal.allCases.filter { !Machine.ignores($0.rawValue) }
    SignalSource.block(wanted)
    loop = try EventLoop(descriptors: 4, clock: { Machine.now })
    signals = try SignalSource(on: loop, wanted) { [unowned self] in receive($0) }
  }

  /// Waits; returns the status to end with, once what was started has been drained.
  ///
  /// A signal ends the wait; with a child it is passed on and the child's own end awaited, unless a second signal comes.
  func wait(for child: ChildProcess? = nil) throws -> Int32 {
    self.child = child
    if let child {
      let ended = loop.makeMailbox(capacity: 1) { [unowned self] (status: Int32) in
        childStatus = status
        loop.stop()
      }
      try Thread.start(name: "child") { ended.post(child.wait()) }
    }
    loop.run()
    signals?.close()
    return childStatus ?? 0
  }

  private func receive(_ signal: Signal) {
    if signal == .hangup, let onHangup, !(endsWithTerminal && Machine.hasLostTerminal) {
      onHangup()
      return
    }
    signalsSeen += 1
    guard let child, signalsSeen == 1 else {
      loop.stop()
      return
    }
    // The terminal sends an interrupt to the child as well.
    if signal != .interrupt { child.terminate() }
  }
}
