import Configuration
import Rules

extension GatewayConfiguration {
  /// The keys that backends sign with, in the order of `providers`.
  var providerDirectory: ProviderDirectory {
    ProviderDirectory(
      providers.map {
        ProviderDirectory.Provider(keyID: $0.keyID, teamID: $0.teamID, bundleIDs: $0.bundleIDs, environment: $0.environment)
      })
  }
}
