import CLinux
import Glibc
public import Primitives

/// What came of a non-blocking read or write.
public enum Transfer: Sendable {
  /// So many bytes were moved, at least one.
  case bytes(Int)
  /// Nothing can be moved at present; readiness will be told.
  case wouldBlock
  /// The peer sends no more.
  case ended
  /// The connection failed.
  case failed(SystemError)
}

extension Descriptor {
  /// Reads once into `queue`, up to `length` bytes or what is free.
  public borrowing func receive(into queue: inout ByteQueue, atMost length: Int) -> Transfer {
    let raw = self.raw
    var outcome = Transfer.wouldBlock
    _ = queue.fill(atMost: length) { room in
      precondition(room.count > 0, "reading into a full queue looks like the end of the stream")
      do throws(SystemError) {
        guard let count = try syscall("recv", { recv(raw, room.baseAddress, room.count, 0) }) else { return 0 }
        outcome = count == 0 ? .ended : .bytes(count)
        return count
      } catch {
        outcome = .failed(error)
        return 0
      }
    }
    return outcome
  }

  /// Writes once from `bytes`; the socket may take fewer. Never raises SIGPIPE.
  public borrowing func send(_ bytes: RawSpan) -> Transfer {
    let raw = self.raw
    return bytes.withUnsafeBytes { bytes in
      do throws(SystemError) {
        let sent = try syscall("send") { Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        return sent.map { .bytes($0) } ?? .wouldBlock
      } catch {
        return .failed(error)
      }
    }
  }

  /// Tells the peer that no more comes, while it may still send.
  public borrowing func shutdownSending() { shutdown(raw, Int32(SHUT_WR)) }

  /// A socket that connects to `address`; writable readiness tells the end of the attempt.
  public static func connecting(to address: SocketAddress) throws(SystemError) -> Descriptor {
    let socket = try stream(address.family)
    socket.setTCPOptions()
    let raw = socket.raw
    do {
      _ = try syscall("connect") { address.withSystemAddress { connect(raw, $0, $1) } }
    } catch {
      guard error.code == EINPROGRESS else { throw error }
    }
    return socket
  }

  /// The error that ended a connection attempt or broke the connection; nil when there is none. Asking clears it.
  public borrowing func pendingError() -> SystemError? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length)
    return code == 0 ? nil : SystemError(call: "connect", code: code)
  }

  /// The address of this end; nil for a socket without one.
  public borrowing func localAddress() -> SocketAddress? {
    let raw = self.raw
    return SocketAddress.reading { getsockname(raw, $0, $1) }
  }

  /// A non-blocking stream socket.
  static func stream(_ family: Int32) throws(SystemError) -> Descriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    return Descriptor(owning: try syscallNow("socket") { socket(family, type, 0) })
  }

  /// No delay (we gather our writes ourselves), and keep-alive, so that a peer that vanished without a word is
  /// noticed within two minutes and does not hold its connection for ever. A listener hands these on.
  borrowing func setTCPOptions() {
    setOption(IPPROTO_TCP, TCP_NODELAY, 1)
    setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
    setOption(IPPROTO_TCP, TCP_KEEPIDLE, 60)
    setOption(IPPROTO_TCP, TCP_KEEPINTVL, 15)
    setOption(IPPROTO_TCP, TCP_KEEPCNT, 4)
  }

  borrowing func setOption(_ level: Int, _ name: Int32, _ value: Int32) { setOption(Int32(level), name, value) }

  borrowing func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    setsockopt(raw, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
