import Primitives
import Reactor
import Security

extension Connection {
  /// Whether nothing is to be read for now; the socket keeps it, and the peer has to wait.
  private var isPaused: Bool {
    guard phase == .open else { return false }
    return (isBlocked && !readsWhileBlocked) || driver?.wantsRead == false
  }

  /// Reads once; who has more to read has the next turn after all others had theirs.
  func read() {
    guard phase != .closed else { return }
    guard !isPaused else {
      hasUnread = true
      return
    }
    hasUnread = false
    turnWork = 0
    guard held.isEmpty else { return readHeld() }
    if phase == .lingering, dropped >= Self.lingerBytesMax {
      // Who goes on sending has not read why; nothing is gained by listening. Its end is told, or the time is up.
      if hasSeenEnd && !isBlocked { release() }
      return
    }
    switch socket?.receive(into: &transport.received, atMost: TransportLoop.readBytes) {
    case .bytes(let count)?:
      idleSweeps = 0
      hasReceived = true
      lastReceived = transport.loop.uptime
      spend(count / Self.bytesOfWork)
      if phase == .lingering { dropped += count }
      if phase == .handshaking, isSecure { spend(transport.handshakeWork) }
      take()
      transport.received.removeAll()
      // A short read has emptied the socket; what comes later is told anew. Only an end that was told already is not.
      guard count == TransportLoop.readBytes || hasSeenEnd || !held.isEmpty, phase != .closed else { return }
      hasUnread = true
      resume()
    case .wouldBlock?, nil: return
    case .ended?: readEnd()
    case .failed(let error)?: broken(error)
    }
  }

  /// Hands on what was received.
  private func take() {
    switch phase {
    case .connecting, .closed, .lingering: return
    case .handshaking, .open: if isSecure { decrypt() } else { deliver(transport.received) }
    }
  }

  /// Bytes that cost as much as a unit of work, to receive and to decrypt.
  private static var bytesOfWork: Int { 64 }
  /// Bytes that a lingering connection throws away before it listens no more.
  private static var lingerBytesMax: Int { 256 << 10 }

  /// Goes on with what was left of the turn before.
  private func readHeld() {
    var rest = ByteQueue(capacity: TransportLoop.plaintextBytes)
    swap(&rest, &held)
    let taken = Self.deliver(rest, driver)
    rest.consume(taken)
    // The driver may have ended the connection.
    guard phase == .open else { return }
    if !rest.isEmpty {
      swap(&rest, &held)
    } else if isEndHeld {
      return readEnd()
    }
    hasUnread = true
    resume()
  }

  /// Takes the ciphertext that was received, which for a client's first flight is none.
  func decrypt() {
    let state = Self.decrypt(transport.received, &tls, &transport.plaintext, &pending)
    if phase == .handshaking && tls?.isEstablished == true { becomeOpen() }
    if !pending.isEmpty { setNeedsFlush() }
    if !transport.plaintext.isEmpty {
      if phase == .open { deliver(transport.plaintext) }
      transport.plaintext.removeAll()
    }
    switch state {
    case .open: return
    case .ended: if held.isEmpty { readEnd() } else { isEndHeld = true }
    case .failed(let failure): end(.tls(failure))
    }
  }

  private static func decrypt(
    _ ciphertext: borrowing ByteQueue, _ tls: inout TLSSession?, _ plaintext: inout ByteQueue, _ output: inout ByteQueue
  ) -> TLSSession.State {
    tls?.receive(ciphertext.bytes, plaintext: &plaintext, output: &output) ?? .open
  }

  /// Gives the driver what has come, and keeps what it leaves for another turn.
  private func deliver(_ bytes: borrowing ByteQueue) {
    let taken = Self.deliver(bytes, driver)
    guard taken < bytes.count, phase == .open else { return }
    held.append(bytes.bytes.extracting(droppingFirst: taken))
  }

  private static func deliver(_ bytes: borrowing ByteQueue, _ driver: (any ConnectionDriver)?) -> Int {
    driver?.receive(bytes.bytes) ?? bytes.count
  }

  /// The handshake is done: the driver takes over.
  func becomeOpen() {
    phase = .open
    wasOpened = true
    deadline = .never
    driver = owner.opened(self)
    setNeedsFlush()
  }

  /// The peer sends no more. It may still read, so what is being answered gets its answer.
  private func readEnd() {
    guard !hasReadEnd else { return }
    hasReadEnd = true
    switch phase {
    case .handshaking: end(.closedInHandshake)
    case .open:
      driver?.receiveEnd()
      setNeedsFlush()
    case .lingering: release()
    case .connecting, .closed: return
    }
  }
}
