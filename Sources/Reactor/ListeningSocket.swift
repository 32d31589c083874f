import Glibc
import Synchronization

/// A bound socket that listens: its port is taken, and nobody accepts yet.
public final class ListeningSocket: Sendable {
  /// Gone once the port is given up.
  private let descriptor: Mutex<Descriptor?>
  /// The address it is bound to, with the port that the system chose where 0 was asked for.
  public let address: SocketAddress

  private init(descriptor: consuming Descriptor, address: SocketAddress) {
    self.descriptor = Mutex(consume descriptor)
    self.address = address
  }

  /// The kernel's number of it; nil once the port was given up.
  var raw: Int32? {
    descriptor.withLock { descriptor -> Int32? in
      switch descriptor {
      case .some(let descriptor): descriptor.raw
      case .none: nil
      }
    }
  }

  /// Gives the port up, whoever else holds this object: connections are refused from now on, and others may listen there.
  ///
  /// The kernel resets connections that nobody has accepted.
  public func close() { descriptor.withLock { $0 = nil } }

  /// Connections the kernel keeps for us while we are busy.
  static let backlog: Int32 = 1024

  /// Binds `count` sockets to `address`, one for each loop; the kernel spreads the connections over them.
  ///
  /// Throws `EADDRINUSE` when anybody else listens there, another process of ours too: `SO_REUSEPORT` alone would
  /// silently share the port with it, so the first socket is bound without.
  public static func bind(_ address: SocketAddress, count: Int = 1) throws(SystemError) -> [ListeningSocket] {
    precondition(count > 0)
    guard count > 1 else { return [try bind(address, shared: false)] }
    let probed = try bind(address, shared: false).address
    var sockets: [ListeningSocket] = []
    for _ in 0..<count { sockets.append(try bind(probed, shared: true)) }
    return sockets
  }

  private static func bind(_ address: SocketAddress, shared: Bool) throws(SystemError) -> ListeningSocket {
    let descriptor = try Descriptor.stream(address.family)
    descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
    if shared { descriptor.setOption(SOL_SOCKET, SO_REUSEPORT, 1) }
    descriptor.setTCPOptions()
    let raw = descriptor.raw
    _ = try syscallNow("bind") { address.withSystemAddress { Glibc.bind(raw, $0, $1) } }
    _ = try syscallNow("listen") { listen(raw, backlog) }
    let actual = descriptor.localAddress() ?? address
    return ListeningSocket(descriptor: descriptor, address: actual)
  }
}
