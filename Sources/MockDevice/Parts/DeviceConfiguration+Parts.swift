import Configuration
import DeviceModel
import HTTPClient
import JSON
import Reactor
import Rules
import Security

extension DeviceConfiguration {
  /// The devices to begin with; throws a `ConfigurationError` that names the place of what is wrong.
  func plan() throws(ConfigurationError) -> DevicePlan {
    guard let devices else { return DevicePlan(seed: seed) }
    do {
      return try DevicePlan(seed: seed, devices: devices)
    } catch {
      throw located(error)
    }
  }

  /// How the gateway is reached; nil where none is configured.
  func gatewayAccess() throws(ConfigurationError) -> GatewayAccess? {
    guard let gateway else { return nil }
    return try GatewayAccess(gateway)
  }

  /// What the port shows.
  func tlsIdentity() throws -> TLSIdentity {
    guard let identity else {
      throw ConfigurationError(
        "tls.certificateFile and tls.keyFile are missing; they must name the certificate and the key of the device's port",
        at: "device configuration")
    }
    return try ConfigurationError.naming("tls.certificateFile and tls.keyFile") {
      try TLSIdentity(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
    }
  }

  /// The gateway's keys, and their public halves in the same order.
  func providerKeys() throws -> (directory: ProviderDirectory, keys: [P256PublicKey]) {
    let directory = ProviderDirectory(
      providers.map {
        ProviderDirectory.Provider(keyID: $0.keyID, teamID: $0.teamID, bundleIDs: $0.bundleIDs, environment: $0.environment)
      })
    let keys = try providers.map { provider in
      try ConfigurationError.naming("providers, key \(provider.keyID)") { try P256PublicKey(pem: provider.keyPEM) }
    }
    return (directory, keys)
  }

  /// Takes the port.
  func listen() throws(ConfigurationError) -> ListeningSocket {
    guard let address = SocketAddress(ip: bind, port: port) else {
      throw ConfigurationError("\(bind) is not an IP address; write one such as 127.0.0.1, 0.0.0.0 or ::", at: "--bind")
    }
    do throws(SystemError) {
      return try ListeningSocket.bind(address)[0]
    } catch {
      if error.isAddressForeign {
        throw ConfigurationError("this machine has no address \(bind); 0.0.0.0 and :: stand for all it has", at: "--bind")
      }
      let advice = error.isAddressInUse ? "another program listens there; choose a free port, or 0 for any" : error.reason
      throw ConfigurationError("cannot listen on \(address): \(advice)", at: "--device-port")
    }
  }
}
