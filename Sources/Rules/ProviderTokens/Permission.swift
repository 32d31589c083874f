import Push

/// Whether a provider may send to an app, worked out once, so that a request compares no names.
enum Permission: UInt8 {
  case granted, denied
  /// The app is the entry for every app that is not listed, and the provider has a list of its own: the bundle id decides.
  case byBundleID

  /// One row for each provider, one column for each app.
  static func table(_ apps: AppDirectory, _ providers: ProviderDirectory) -> [Permission] {
    (0..<providers.count).flatMap { provider in (0..<apps.count).map { of(providers[provider], apps[$0]) } }
  }

  private static func of(_ provider: ProviderDirectory.Provider, _ app: AppDirectory.App) -> Permission {
    if let team = app.teamID, team != provider.teamID { return .denied }
    guard let bundleIDs = provider.bundleIDs else { return .granted }
    if app.bundleID.isEmpty { return .byBundleID }
    return bundleIDs.contains(app.bundleID) ? .granted : .denied
  }
}
