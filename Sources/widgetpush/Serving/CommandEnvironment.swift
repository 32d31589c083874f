/// The environment that `dev` gives the command it runs.
enum CommandEnvironment {
  /// The variables for a client of the deployment that these credentials describe.
  static func variables(_ credentials: Credentials, _ folder: StateFolder) -> [String: String] {
    var variables = [
      StateFolder.variable: folder.path, "WIDGETPUSH_TEAM_ID": credentials.teamID, "WIDGETPUSH_KEY_ID": credentials.keyID,
      "WIDGETPUSH_KEY_FILE": credentials.keyFile, "WIDGETPUSH_CA_FILE": credentials.caFile,
    ]
    for (scope, secret) in credentials.accessTokens { variables["WIDGETPUSH_\(scope.uppercased())_TOKEN"] = secret }
    variables["WIDGETPUSH_PROVIDER"] = credentials.provider
    variables["WIDGETPUSH_CONTROL"] = credentials.control
    variables["WIDGETPUSH_DEVICE"] = credentials.device
    variables["WIDGETPUSH_PLAIN"] = credentials.plain
    return variables
  }

  /// The names of all of them, which servers started by such a command must not take for configuration.
  static let names = [
    "WIDGETPUSH_TEAM_ID", "WIDGETPUSH_KEY_ID", "WIDGETPUSH_KEY_FILE", "WIDGETPUSH_CA_FILE", "WIDGETPUSH_REGISTER_TOKEN",
    "WIDGETPUSH_RELOAD_TOKEN", "WIDGETPUSH_READ_TOKEN", "WIDGETPUSH_ADMIN_TOKEN", "WIDGETPUSH_PROVIDER", "WIDGETPUSH_CONTROL",
    "WIDGETPUSH_DEVICE", "WIDGETPUSH_PLAIN",
  ]
}
