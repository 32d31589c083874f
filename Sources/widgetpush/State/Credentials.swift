import JSON

/// What `credentials.json` of a state folder holds: all that a client of a running `dev` needs to know.
struct Credentials: Hashable, Sendable {
  /// The key that a gateway signs its own provider tokens with, for mock devices of the same folder.
  struct GatewayKey: Hashable, Sendable {
    var teamID: String
    var keyID: String
    var keyFile: String
  }

  /// The team of provider tokens.
  var teamID: String
  /// The key of provider tokens.
  var keyID: String
  /// Its private key.
  var keyFile: String
  /// The authority behind every TLS port.
  var caFile: String
  /// Access tokens, named by their scopes.
  var register: String
  var reload: String
  var read: String
  var admin: String
  /// The faces' URLs, as far as they have been started.
  var provider: String?
  var control: String?
  var device: String?
  var plain: String?
  var gateway: GatewayKey

  /// The access tokens with their scopes.
  var accessTokens: [(scope: String, secret: String)] {
    [("register", register), ("reload", reload), ("read", read), ("admin", admin)]
  }

  /// Has the URLs that `other` has.
  mutating func takeFaces(of other: Credentials) {
    (provider, control) = (other.provider, other.control)
    (device, plain) = (other.device, other.plain)
  }

  /// Puts `secret` in the place of the access token that is named by that scope.
  mutating func replaceAccessToken(_ scope: String, by secret: String) {
    switch scope {
    case "register": register = secret
    case "reload": reload = secret
    case "read": read = secret
    case "admin": admin = secret
    default: preconditionFailure("no access token is named \(scope)")
    }
  }

  /// As it stands in the file.
  var json: JSONValue {
    var object: JSONObject = [
      "teamID": .string(teamID), "keyID": .string(keyID), "keyFile": .string(keyFile), "caFile": .string(caFile),
      "register": .string(register), "reload": .string(reload), "read": .string(read), "admin": .string(admin),
    ]
    object["provider"] = provider.map(JSONValue.string)
    object["control"] = control.map(JSONValue.string)
    object["device"] = device.map(JSONValue.string)
    object["plain"] = plain.map(JSONValue.string)
    object["gateway"] = [
      "teamID": .string(gateway.teamID), "keyID": .string(gateway.keyID), "keyFile": .string(gateway.keyFile),
    ]
    return .object(object)
  }
}

extension Credentials {
  /// Reads what `json` wrote; throws a sentence about the field at fault.
  init(_ value: JSONValue) throws(FieldError) {
    var reader = try JSONReader(value)
    teamID = try reader.string("teamID")
    keyID = try reader.string("keyID")
    keyFile = try reader.string("keyFile")
    caFile = try reader.string("caFile")
    register = try reader.string("register")
    reload = try reader.string("reload")
    read = try reader.string("read")
    admin = try reader.string("admin")
    provider = try reader.optionalString("provider")
    control = try reader.optionalString("control")
    device = try reader.optionalString("device")
    plain = try reader.optionalString("plain")
    guard var key = try reader.optionalObject("gateway") else { throw reader.error("gateway", "is missing") }
    gateway = GatewayKey(teamID: try key.string("teamID"), keyID: try key.string("keyID"), keyFile: try key.string("keyFile"))
  }
}
