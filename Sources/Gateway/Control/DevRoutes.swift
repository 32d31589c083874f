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
  /// `/dev/`, where `dev` runs; private keys, so only this machine may ask and nothing may keep the answer.
  var devRoutes: [Route] {
    guard let files = parts.devFiles else { return [] }
    return [
      file("/dev/ca.pem", "application/x-pem-file", files.authorityPEM),
      file("/dev/credentials.json", "application/json", files.credentialsJSON),
      file("/dev/AuthKey.p8", "application/x-pem-file", files.providerKeyPEM),
    ]
  }

  private func file(_ path: String, _ type: String, _ text: String) -> Route {
    Route(.get, path, .localhost) { _ in
      var response = HTTPResponse.text(text, type: type)
      response.fields.append("cache-control", "no-store")
      return response
    }
  }
}
