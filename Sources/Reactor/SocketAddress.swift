import CLinux
import Glibc

/// An IPv4 or IPv6 address with a port.
public struct SocketAddress: Hashable, Sendable {
  /// The host half of the address.
  public enum Host: Hashable, Sendable {
    /// Four bytes, the first in the lowest bits (the order of the network).
    case v4(UInt32)
    /// Sixteen bytes in two halves, in the order of the network, and the interface for link-local ones.
    case v6(UInt64, UInt64, scope: UInt32)
  }

  /// Which host.
  public var host: Host
  /// Which port; 0 asks the system for a free one when binding.
  public var port: UInt16

  /// The address of `port` on `host`.
  public init(host: Host, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// The address of an IP literal such as `127.0.0.1` or `::1` (brackets allowed); nil for anything else, names included.
  public init?(ip text: some StringProtocol, port: UInt16) {
    var text = String(text)
    if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      host = .v4(four.s_addr)
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      host = withUnsafeBytes(of: &six) { .v6($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self), scope: 0) }
    } else {
      return nil
    }
    self.port = port
  }

  /// The address that `text` spells, such as `127.0.0.1:2197` or `[::1]:0`; nil for anything else, names included.
  public init?(_ text: String) {
    guard let (host, port) = Self.split(text), let address = SocketAddress(ip: host, port: port) else { return nil }
    self = address
  }

  /// The two halves of `host:port`, of which an IPv6 host stands in brackets; nil when there is no port.
  public static func split(_ text: String) -> (host: String, port: UInt16)? {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    return host.isEmpty ? nil : (String(host), port)
  }

  /// Whether only this machine can reach the address.
  public var isLoopback: Bool {
    switch host {
    case .v4(let bits): bits & 0xff == 127
    // `::1`, or `::ffff:127.x.y.z`, which is how a socket for both families shows an IPv4 peer.
    case .v6(0, let low, _): low.bigEndian == 1 || low.bigEndian >> 24 == 0x0000_ffff_7f
    case .v6: false
    }
  }

  /// The host without the port, such as `127.0.0.1` or `::1`.
  public var hostText: String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch host {
    case .v4(let bits):
      var four = in_addr(s_addr: bits)
      inet_ntop(AF_INET, &four, &buffer, socklen_t(buffer.count))
    case .v6(let high, let low, _):
      var six = (high, low)
      inet_ntop(AF_INET6, &six, &buffer, socklen_t(buffer.count))
    }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension SocketAddress: CustomStringConvertible {
  /// The address as `127.0.0.1:2197` or `[::1]:2197`.
  public var description: String {
    if case .v6 = host { return "[\(hostText)]:\(port)" }
    return "\(hostText):\(port)"
  }
}

extension SocketAddress {
  var family: Int32 {
    if case .v4 = host { return AF_INET }
    return AF_INET6
  }

  /// Lends the address in the system's form.
  func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    switch host {
    case .v4(let bits):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = bits
      return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
      }
    case .v6(let high, let low, let scope):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_scope_id = scope
      withUnsafeMutableBytes(of: &address.sin6_addr) {
        $0.storeBytes(of: high, as: UInt64.self)
        $0.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
      }
      return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
      }
    }
  }

  /// The address that `body` (`accept`, `getsockname`) writes; nil when it is neither IPv4 nor IPv6.
  static func reading(_ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Void) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
      return SocketAddress(system: UnsafeRawPointer(pointer))
    }
  }

  /// The address at `pointer`, a `sockaddr` of its family's size.
  init?(system pointer: UnsafeRawPointer) {
    switch Int32(pointer.load(as: sockaddr.self).sa_family) {
    case AF_INET:
      let four = pointer.load(as: sockaddr_in.self)
      self.init(host: .v4(four.sin_addr.s_addr), port: UInt16(bigEndian: four.sin_port))
    case AF_INET6:
      var six = pointer.load(as: sockaddr_in6.self)
      let (high, low) = withUnsafeBytes(of: &six.sin6_addr) {
        ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self))
      }
      self.init(host: .v6(high, low, scope: six.sin6_scope_id), port: UInt16(bigEndian: six.sin6_port))
    default: return nil
    }
  }
}
