public import Configuration
import Forwarding
import Security

extension Gateway {
  /// Looks at every certificate and key of a configuration as a start would; throws for the first that cannot be used.
  ///
  /// A part that is missing is no mistake: it may come from a state folder.
  public static func check(_ configuration: GatewayConfiguration) throws(ConfigurationError) {
    if let identity = configuration.identity { _ = try tlsIdentity(identity) }
    for settings in configuration.upstreams {
      _ = try ConfigurationError.naming("upstreams.\(settings.name).ca") { try Upstream(settings) }
    }
    _ = try publicKeys(configuration.providers)
    _ = try SigningKeys(configuration.signingKeys, apps: configuration.appDirectory)
  }

  static func tlsIdentity(_ identity: ServerIdentity) throws(ConfigurationError) -> TLSIdentity {
    try ConfigurationError.naming("tls.certificateFile and tls.keyFile") {
      try TLSIdentity(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
    }
  }

  static func publicKeys(_ providers: [ProviderKey]) throws(ConfigurationError) -> [P256PublicKey] {
    var keys: [P256PublicKey] = []
    for provider in providers {
      keys.append(try ConfigurationError.naming("providers, key \(provider.keyID)") { try P256PublicKey(pem: provider.keyPEM) })
    }
    return keys
  }
}
