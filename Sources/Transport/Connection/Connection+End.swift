import Primitives
import Reactor
import Security

extension Connection {
  /// Ends the connection: tells the layers above, sends what is gathered, and lingers for the peer to read it.
  func end(_ reason: ConnectionEnd) {
    guard self.reason == nil else { return }
    let wasConnecting = phase == .connecting
    self.reason = reason
    phase = .lingering
    held.removeAll()
    held.releaseStorage()
    let driver = self.driver
    self.driver = nil
    driver?.ended(reason)
    owner.ended(self, reason)
    guard !wasConnecting else {
      release()
      return
    }
    if saysCloseNotify, pending.free >= TLSSession.recordBytesMax { tls?.close(output: &pending) }
    if !pending.isEmpty && !isBlocked {
      unblock()
    } else if !isBlocked {
      endSending()
    }
    deadline = transport.loop.uptime + (isBlocked ? timeouts.stalledWrite : timeouts.linger)
  }

  /// Everything is sent: says so, and waits for the peer to close.
  func endSending() {
    socket?.shutdownSending()
    if hasReadEnd {
      release()
    } else {
      deadline = transport.loop.uptime + timeouts.linger
      // What came while nothing was read is told no more. Not read here: this may be the driver in the middle of it.
      resume()
    }
  }

  /// The socket is of no use any more.
  func broken(_ error: SystemError) {
    end(phase == .handshaking ? .closedInHandshake : .lost(error))
    release()
  }

  /// Has what is open finished, and nothing new begun.
  func finish() {
    driver?.finish()
    setNeedsFlush()
  }

  /// Ends it if it only waits for a peer that has been told the end, or that has never said a word; asked again and again while this side
  /// is shutting down.
  func hurry(at uptime: Uptime) {
    switch phase {
    case .lingering where !isBlocked: deadline = min(deadline, uptime + timeouts.drainLinger)
    case .handshaking where !hasReceived: deadline = min(deadline, uptime + timeouts.drainSilence)
    case .connecting, .handshaking, .open, .lingering, .closed: return
    }
    guard uptime >= deadline else { return }
    if phase == .handshaking { end(.drained) }
    release()
  }

  /// Closes the socket; nothing is left of the connection then.
  func release() {
    guard phase != .closed else { return }
    phase = .closed
    stopWatching()
    socket = nil
    tls = nil
    owner.released(self)
  }

  /// Looks for what has lasted too long, and gives back what an idle connection does not need.
  func sweep(_ uptime: Uptime) {
    if uptime >= deadline {
      switch phase {
      case .connecting, .handshaking: end(.handshakeTimeout)
      case .open: end(.stalledWrite)
      case .lingering, .closed: break
      }
      // A peer that was too slow before is not waited for again.
      release()
      return
    }
    if phase == .open { driver?.sweep(uptime) }
    // Once, when it has been idle for a whole interval.
    if idleSweeps == 1 && !isBlocked { tls?.releaseBuffers() }
    idleSweeps = min(idleSweeps + 1, 2)
  }
}
