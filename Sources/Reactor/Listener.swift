import CLinux
import Primitives

/// Accepts the connections of one listening socket on one loop.
public final class Listener: ReadinessHandler {
  private let loop: EventLoop
  private let accept: (consuming Descriptor, SocketAddress) -> Void
  private var socket: ListeningSocket?
  private var key: SlabKey?
  private var retry: Timer?
  private var isWaiting = false

  /// Connections accepted in one turn; the rest waits for the next, so that those already open get theirs.
  private static let acceptsPerTurn = 8
  /// Rest after running out of descriptors: accepting would fail at once, again and again, while the connection
  /// stays in the kernel's backlog.
  private static let exhaustedRest = TimeSpan.milliseconds(100)

  /// Starts to accept on `loop`; `accept` gets each connection, non-blocking, with the peer's address.
  public init(
    on loop: EventLoop, _ socket: ListeningSocket, accept: @escaping (consuming Descriptor, SocketAddress) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.socket = socket
    self.accept = accept
    key = try socket.raw.map { raw throws(SystemError) in try loop.watch(raw: raw, self) }
    retry = loop.makeTimer { [unowned self] in turn() }
  }

  /// The address that is listened on; nil once closed.
  public var address: SocketAddress? { socket?.address }

  /// Asks for a turn: connections that are not there yet wait for those that are.
  public func ready(_ readiness: Readiness) {
    guard let key, !isWaiting else { return }
    isWaiting = true
    loop.resume(key, in: .beginning)
  }

  /// Takes some of the connections that wait.
  public func turn() {
    isWaiting = false
    for _ in 0..<Self.acceptsPerTurn {
      switch acceptNext() {
      case .accepted, .failed: continue
      case .nobody: return
      case .exhausted:
        retry?.arm(after: Self.exhaustedRest)
        return
      }
    }
    ready(.read)
  }

  private enum Acceptance {
    case accepted
    /// That one connection was at fault (accept(2): treat like EAGAIN and retry).
    case failed
    /// Nobody waits.
    case nobody
    /// There are no descriptors left.
    case exhausted
  }

  private func acceptNext() -> Acceptance {
    guard let raw = socket?.raw else { return .nobody }
    var taken: Int32?
    let peer: SocketAddress?
    do throws(SystemError) {
      var failure: SystemError?
      peer = SocketAddress.reading { address, length in
        do throws(SystemError) {
          taken = try syscall("accept4") { c_linux_accept(raw, address, length) }
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
    } catch {
      return error.isOutOfDescriptors ? .exhausted : .failed
    }
    guard let taken else { return .nobody }
    let connection = Descriptor(owning: taken)
    if let peer { accept(connection, peer) }
    return .accepted
  }

  /// Accepts the connections that wait, which the kernel would reset, and gives up the port.
  public func close() {
    if let key { loop.forget(key) }
    retry?.cancel()
    key = nil
    var last = Acceptance.accepted
    for _ in 0..<ListeningSocket.backlog where last != .nobody && last != .exhausted { last = acceptNext() }
    socket?.close()
    socket = nil
  }
}
