public import Configuration

extension AccessToken {
  /// The token of these settings, whose scopes and digest have been checked.
  public init(_ settings: AccessTokenSettings) {
    let scopes = Set(settings.scopes.compactMap { AccessScope(rawValue: $0) })
    let bundleIDs = settings.bundleIDs.map { Set($0) }
    switch settings.secret {
    case .text(let secret):
      self.init(name: settings.name, scopes: scopes, bundleIDs: bundleIDs, expires: settings.expires, secret: secret)
    case .digest(let digest):
      guard let token = AccessToken(name: settings.name, scopes: scopes, bundleIDs: bundleIDs, expires: settings.expires, digest: digest)
      else { preconditionFailure("the configuration checks the length of digests") }
      self = token
    }
  }
}
