public import Configuration
import Push
public import Reactor

/// The ports of a gateway, taken before anything else is made: whoever needs an address that is not known yet, such as a
/// mock device in the same process, can be made in between.
public struct GatewaySockets: Sendable {
  /// For each loop, a socket of each port of the provider face.
  let provider: [[ListeningSocket]]
  let control: ListeningSocket
  let plain: ListeningSocket?

  /// The first address of the provider face.
  public var providerAddress: SocketAddress { provider[0][0].address }
  /// Every address of the provider face.
  public var providerAddresses: [SocketAddress] { provider[0].map(\.address) }
  /// The address of the control face.
  public var controlAddress: SocketAddress { control.address }
  /// The address of the plain control face, where there is one; always loopback.
  public var plainAddress: SocketAddress? { plain?.address }

  /// Takes the ports that `configuration` names.
  ///
  /// - Throws: `PortError`, which names the flag of the port that cannot be had.
  public static func bind(_ configuration: GatewayConfiguration) throws(PortError) -> GatewaySockets {
    func take(_ flag: String, _ host: String, _ port: UInt16, _ count: Int = 1) throws(PortError) -> [ListeningSocket] {
      try PortError.take(flag: flag, host: host, port: port, count: count)
    }
    var provider = [[ListeningSocket]](repeating: [], count: configuration.loops)
    for port in configuration.providerPorts {
      for (loop, socket) in try take("--provider-port", configuration.bind, port, configuration.loops).enumerated() {
        provider[loop].append(socket)
      }
    }
    return GatewaySockets(
      provider: provider,
      control: try take("--control-port", configuration.bind, configuration.controlPort)[0],
      plain: try configuration.plainPort.map { port throws(PortError) in try take("--plain-port", "127.0.0.1", port)[0] })
  }
}

/// A port that cannot be listened on, with the flag that chooses another.
public struct PortError: Error, Sendable, CustomStringConvertible {
  /// The flag, such as `--provider-port`.
  public let flag: String
  /// What went wrong and what to do.
  public let description: String

  /// Binds `count` sockets to one port of `host`, an IP address.
  public static func take(flag: String, host: String, port: UInt16, count: Int = 1) throws(PortError) -> [ListeningSocket] {
    guard let address = SocketAddress(ip: host, port: port) else {
      throw PortError(flag: "--bind", description: "--bind \(host): not an IP address; write one such as 127.0.0.1, 0.0.0.0 or ::")
    }
    do throws(SystemError) {
      return try ListeningSocket.bind(address, count: count)
    } catch {
      if error.isAddressForeign {
        throw PortError(
          flag: "--bind", description: "--bind \(host): this machine has no such address; 0.0.0.0 and :: stand for all it has")
      }
      let advice = error.isAddressInUse ? "another program listens there; choose a free port with \(flag), or 0 for any" : error.reason
      throw PortError(flag: flag, description: "\(flag) \(port): cannot listen on \(address): \(advice)")
    }
  }
}
