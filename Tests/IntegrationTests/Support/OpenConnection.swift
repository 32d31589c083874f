import Foundation

/// A TCP connection to loopback on which nothing is ever sent; closed with its last reference.
final class OpenConnection: Sendable {
  private let descriptor: Int32

  /// Connects; the server may close it at any time.
  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    guard result == 0 else {
      close(descriptor)
      throw HarnessError("cannot connect to port \(port): errno \(errno)")
    }
  }

  deinit { close(descriptor) }
}
