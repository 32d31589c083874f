import Configuration
import Push
import Security

/// The gateway's own keys, and which of them signs for which app.
struct SigningKeys {
  /// A signer for each key.
  let signers: [ProviderTokenSigner]
  /// The index of the signer for each app of the directory: its team's, else the first.
  let signerOfApp: [Int]

  /// The signers of `keys`; throws when a key cannot be read, or there is none.
  init(_ keys: [SigningKey], apps: AppDirectory) throws(ConfigurationError) {
    var signers: [ProviderTokenSigner] = []
    for key in keys {
      signers.append(
        try ConfigurationError.naming("teams, key \(key.keyID) of team \(key.teamID)") {
          try ProviderTokenSigner(teamID: key.teamID, keyID: key.keyID, key: try P256PrivateKey(pem: key.keyPEM))
        })
    }
    self.signers = signers
    signerOfApp = (0..<apps.count).map { app in
      keys.firstIndex { $0.teamID == apps[app].teamID } ?? 0
    }
  }
}
