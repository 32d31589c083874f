public import Configuration

extension Gateway {
  /// Looks at every certificate and key of a configuration as a start would; throws for the first that cannot be used.
  ///
  /// A part that is missing is no mistake: it may come from a state folder.
  public static func check(_ configuration: GatewayConfiguration) throws(ConfigurationError) { try LiveSettings.check(configuration) }

  /// Goes by the certificates, keys, access tokens, apps and budgets of `configuration` from now on: open connections stay, and the
  /// next request is judged by the new rules.
  ///
  /// - Throws: What is wrong with a part of it; then nothing has changed.
  public func reload(_ configuration: GatewayConfiguration) throws -> ReloadReport { try settings.reload(configuration) }
}
