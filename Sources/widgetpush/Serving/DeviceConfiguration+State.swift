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
    guard var access = gateway ?? state.credentials.control.map({ Gateway(url: $0, accessToken: nil) }) else { return }
    // Another's gateway is never shown what is for this folder's.
    if access.accessToken == nil { (access.accessToken, access.readToken) = (state.credentials.register, state.credentials.read) }
    access.authorityPEM = access.authorityPEM ?? state.peerAuthorityPEM
    gateway = access
  }
}
