import Control

/// What a client of `widgetpush dev` needs, for one that shares no file system with it.
public struct DevFiles: Sendable {
  /// The certificate of the authority behind the TLS ports, in PEM form.
  public var authorityPEM: String
  /// `credentials.json` as it stands in the state folder.
  public var credentialsJSON: String
  /// The provider key, in PEM form.
  public var providerKeyPEM: String

  /// These files.
  public init(authorityPEM: String, credentialsJSON: String, providerKeyPEM: String) {
    self.authorityPEM = authorityPEM
    self.credentialsJSON = credentialsJSON
    self.providerKeyPEM = providerKeyPEM
  }
}

extension ControlAPI {
  /// `/dev/`, where `dev` runs. Only this machine may ask, for what is secret an administrator, and nothing may keep the answer. Who can
  /// read the state folder reads its files.
  var devRoutes: [Route] {
    guard let files = parts.devFiles else { return [] }
    return [
      file("/dev/ca.pem", .localhost, "application/x-pem-file", files.authorityPEM),
      file("/dev/credentials.json", .localScope(.admin), "application/json", files.credentialsJSON),
      file("/dev/AuthKey.p8", .localScope(.admin), "application/x-pem-file", files.providerKeyPEM),
    ]
  }

  private func file(_ path: String, _ access: RouteAccess, _ type: String, _ text: String) -> Route {
    Route(.get, path, access) { _ in
      var response = HTTPResponse.text(text, type: type)
      response.fields.append("cache-control", "no-store")
      return response
    }
  }
}
