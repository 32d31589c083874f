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
    key = try loop.watch(socket.descriptor, self)
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
      guard let raw = socket?.descriptor.raw else { return }
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
        // Anything else is the fault of that one connection (accept(2): treat like EAGAIN and retry).
        guard error.isOutOfDescriptors else { continue }
        retry?.arm(after: Self.exhaustedRest)
        return
      }
      guard let taken else { return }
      let connection = Descriptor(owning: taken)
      if let peer { accept(connection, peer) }
    }
    ready(.read)
  }

  /// Stops accepting and gives up the port.
  public func close() {
    if let key { loop.forget(key) }
    retry?.cancel()
    key = nil
    socket = nil
  }
}
