import Glibc

/// A host name that has no address, with the system's reason.
public struct ResolutionError: Error, Sendable, CustomStringConvertible {
  /// The name that was asked for.
  public let host: String
  /// Why there is no answer, such as `Name or service not known`.
  public let reason: String
  /// The whole sentence.
  public var description: String { "cannot resolve \(host): \(reason)" }
}

/// Host names to addresses.
public enum Resolver {
  /// The addresses of `host`, best first; an IP literal is its own. May wait for the network, so not on a loop.
  public static func addresses(of host: String, port: UInt16) throws(ResolutionError) -> [SocketAddress] {
    if let literal = SocketAddress(ip: host, port: port) { return [literal] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    var code = getaddrinfo(host, nil, &hints, &list)
    if code != 0 {
      // AI_ADDRCONFIG hides loopback addresses on a machine without a network: then without it.
      hints.ai_flags = 0
      code = getaddrinfo(host, nil, &hints, &list)
    }
    guard code == 0 else { throw ResolutionError(host: host, reason: String(cString: gai_strerror(code))) }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let current = entry {
      if let system = current.pointee.ai_addr, var address = SocketAddress(system: UnsafeRawPointer(system)) {
        address.port = port
        if !addresses.contains(address) { addresses.append(address) }
      }
      entry = current.pointee.ai_next
    }
    guard !addresses.isEmpty else { throw ResolutionError(host: host, reason: "it has neither an IPv4 nor an IPv6 address") }
    return addresses
  }

  /// Gives the answer to `mailbox`, whose loop goes on meanwhile: a name is resolved on a thread of its own.
  public static func resolve(_ host: String, port: UInt16, tag: UInt64, to mailbox: Mailbox<Resolution>) {
    if let literal = SocketAddress(ip: host, port: port) {
      mailbox.post(Resolution(tag: tag, result: .success([literal])))
      return
    }
    do throws(SystemError) {
      try Thread.start(name: "resolver") {
        do throws(ResolutionError) {
          mailbox.post(Resolution(tag: tag, result: .success(try addresses(of: host, port: port))))
        } catch {
          mailbox.post(Resolution(tag: tag, result: .failure(error)))
        }
      }
    } catch {
      mailbox.post(Resolution(tag: tag, result: .failure(ResolutionError(host: host, reason: error.description))))
    }
  }
}

/// The answer to `Resolver.resolve`.
public struct Resolution: Sendable {
  /// The tag of the question.
  public let tag: UInt64
  /// The addresses, best first, or why there are none.
  public let result: Result<[SocketAddress], ResolutionError>
}
