import Configuration

extension DeviceConfiguration {
  /// Whether the configuration says all that a device needs.
  var isComplete: Bool { identity != nil && !providers.isEmpty && !accessTokens.isEmpty && gateway?.accessToken != nil }

  /// Fills what the configuration leaves open from a state folder.
  mutating func fill(from state: DevState) {
    identity = identity ?? state.identity
    // Every key that the folder's gateway may sign with.
    if providers.isEmpty { providers = state.signingKeys.map { ProviderKey(keyID: $0.keyID, teamID: $0.teamID, keyPEM: $0.keyPEM) } }
    if accessTokens.isEmpty { accessTokens = state.accessTokens }
    gateway = Self.gateway(gateway, with: state.credentials, trusting: state.peerAuthorityPEM)
  }

  /// The configured gateway, else the one that runs with the state folder, with what the folder has for it; nil when none does.
  static func gateway(_ configured: Gateway?, with credentials: Credentials, trusting authorityPEM: String) -> Gateway? {
    guard var access = configured ?? credentials.control.map({ Gateway(url: $0, accessToken: nil) }) else { return nil }
    // Another's gateway is never shown what is for this folder's.
    if access.accessToken == nil { (access.accessToken, access.readToken) = (credentials.register, credentials.read) }
    access.authorityPEM = access.authorityPEM ?? authorityPEM
    return access
  }
}
