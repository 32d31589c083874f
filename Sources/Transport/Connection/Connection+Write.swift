import Primitives
import Reactor
import Security

extension Connection {
  /// Gathered sends in one flush, before others have their turn.
  private static var sendsPerFlush: Int { 8 }

  /// The flush that `setNeedsFlush` asked for.
  func flushTouched() {
    isTouched = false
    flush()
  }

  /// Gathers what there is to say and sends it, with one system call for each 64 KB.
  func flush() {
    guard phase == .open || phase == .handshaking, !isBlocked else { return }
    var isDrained = false
    for _ in 0..<Self.sendsPerFlush where !isDrained {
      isDrained = phase == .open ? driver?.drain(into: &transport.outgoing) ?? true : true
      // Asked for its output, the driver may have ended the connection instead.
      guard reason == nil else {
        transport.outgoing.removeAll()
        return
      }
      if isSecure {
        transport.ciphertext.take(from: &pending)
        if case .failed(let failure)? = tls?.send(&transport.outgoing, output: &transport.ciphertext) {
          transport.outgoing.removeAll()
          end(.tls(failure))
          return
        }
        sendAll(&transport.ciphertext)
      } else {
        sendAll(&transport.outgoing)
      }
      guard phase != .closed, !isBlocked else { return }
    }
    pending.releaseStorage()
    guard isDrained else {
      setNeedsFlush()
      resume()
      return
    }
    if phase == .open, let driver, driver.isDone { end(driver.end) }
  }

  /// Sends all of `queue`, and keeps what the socket does not take.
  private func sendAll(_ queue: inout ByteQueue) {
    let failure = Self.send(&queue, &socket)
    defer { queue.removeAll() }
    if let failure {
      broken(failure)
      return
    }
    guard !queue.isEmpty else { return }
    pending.take(from: &queue)
    isBlocked = true
    deadline = transport.loop.uptime + timeouts.stalledWrite
  }

  /// Sends once, and removes from `queue` what the socket took; returns the error that broke the connection.
  private static func send(_ queue: inout ByteQueue, _ socket: inout Descriptor?) -> SystemError? {
    guard !queue.isEmpty else { return nil }
    switch socket?.send(queue.bytes) {
    case .bytes(let count)?: queue.consume(count)
    case .failed(let error)?: return error
    case .wouldBlock?, .ended?, nil: break
    }
    return nil
  }

  /// The socket takes bytes again: sends what waited, then goes on with everything that stood still.
  func unblock() {
    if let failure = Self.send(&pending, &socket) {
      broken(failure)
      return
    }
    isBlocked = !pending.isEmpty
    guard !isBlocked else { return }
    pending.releaseStorage()
    guard phase != .lingering else {
      endSending()
      return
    }
    deadline = .never
    setNeedsFlush()
    if hasUnread { resume() }
  }
}
