import Primitives
import Push

extension ConfigurationReader {
  /// An IP address to listen on, without brackets; nil when absent.
  mutating func bindAddress(_ key: String) throws(ConfigurationError) -> String? {
    guard let scalar = try scalar(key) else { return nil }
    var text = scalar.text[...]
    if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
    // The system's parser decides in the end; a name or a port, the usual mistakes, are told here with their place.
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    let isIPv6 = text.count { $0 == ":" } >= 2 && text.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    guard isIPv4 || isIPv6 else {
      throw error(key, "must be an IP address such as 127.0.0.1, 0.0.0.0 or ::, not \"\(scalar.text)\"", scalar.origin)
    }
    return String(text)
  }

  /// The section with a server's certificate and key, which come together or not at all.
  mutating func identity(_ key: String) throws(ConfigurationError) -> ServerIdentity? {
    var tls = try section(key)
    let certificate = try tls.fileText("certificateFile")
    let privateKey = try tls.fileText("keyFile", isSecret: true)
    try tls.finish()
    switch (certificate, privateKey) {
    case (let certificate?, let privateKey?): return ServerIdentity(certificatePEM: certificate, keyPEM: privateKey)
    case (nil, nil): return nil
    case (_?, nil): throw tls.error("keyFile", "is missing, though a certificate is given")
    case (nil, _?): throw tls.error("certificateFile", "is missing, though a key is given")
    }
  }

  /// The list of keys that provider tokens are checked with.
  mutating func providers(_ key: String) throws(ConfigurationError) -> [ProviderKey] {
    var providers: [ProviderKey] = []
    var places: [String: String] = [:]
    for var entry in try list(key, max: Limits.providerKeys) ?? [] {
      let keyID = try entry.identifier("keyID")
      try entry.requireNew(keyID, "keyID", &places)
      let teamID = try entry.identifier("teamID")
      let publicKey = try entry.fileText("publicKeyFile")
      let privateKey = try entry.fileText("keyFile", isSecret: true)
      guard let pem = publicKey ?? privateKey, publicKey == nil || privateKey == nil else {
        throw entry.error("publicKeyFile", "or keyFile must name the key's PEM file; one of them")
      }
      var provider = ProviderKey(keyID: keyID, teamID: teamID, keyPEM: pem)
      provider.bundleIDs = try entry.strings("bundleIDs", max: Limits.apps)
      provider.environment = try entry.choice("environment", of: PushEnvironment.allCases.map(\.name)).flatMap {
        PushEnvironment(name: $0)
      }
      provider.requestsPerSecond = try entry.integer("requestsPerSecond", in: 1...Limits.providerRequestsPerSecond)
      try entry.finish()
      providers.append(provider)
    }
    return providers
  }

  /// The list of teams with the keys that the gateway signs with.
  mutating func teams(_ key: String) throws(ConfigurationError) -> [SigningKey] {
    var keys: [SigningKey] = []
    var places: [String: String] = [:]
    for var entry in try list(key, max: Limits.teams) ?? [] {
      let teamID = try entry.identifier("id")
      try entry.requireNew(teamID, "id", &places)
      guard let teamKeys = try entry.list("keys", max: Limits.keysPerTeam), !teamKeys.isEmpty else {
        throw entry.error("keys", "must be a list of keys, {id: KEY ID, file: PATH}; one, or one for each environment and for topics")
      }
      for var key in teamKeys {
        let keyID = try key.identifier("id")
        let environment = try key.choice("environment", of: PushEnvironment.allCases.map(\.name)).flatMap { PushEnvironment(name: $0) }
        let topics = try key.topics("topics")
        for other in keys where other.teamID == teamID && other.environment == environment {
          let both = environment.map { "for \($0.name)" } ?? "for both environments"
          if topics == nil, other.topics == nil {
            throw key.error("environment", "must be another than that of the key \(other.keyID), which signs \(both) already")
          }
          if let topic = topics?.first(where: { other.topics?.contains($0) ?? false }) {
            throw key.error("topics", "must not list \(topic), for which the key \(other.keyID) signs already")
          }
        }
        guard let pem = try key.fileText("file", isSecret: true) else {
          throw key.error("file", "is missing; it must be the path of the key's .p8 file")
        }
        try key.finish()
        keys.append(SigningKey(teamID: teamID, keyID: keyID, keyPEM: pem, environment: environment, topics: topics))
      }
      try entry.finish()
    }
    return keys
  }

  /// The topics that a key is limited to, or nil when absent.
  private mutating func topics(_ key: String) throws(ConfigurationError) -> [String]? {
    guard let topics = try strings(key, max: Limits.topicsPerKey) else { return nil }
    guard !topics.isEmpty else { throw error(key, "must list at least one topic; leave it out for a key of every topic") }
    for topic in topics where !AppDirectory.isBundleID(topic) {
      throw error(key, "must list topics such as com.example.app.push-type.widgets, or bundle ids, not \"\(topic)\"")
    }
    return topics
  }

  /// The list of access tokens.
  mutating func accessTokens(_ key: String) throws(ConfigurationError) -> [AccessTokenSettings] {
    var tokens: [AccessTokenSettings] = []
    var places: [String: String] = [:]
    for var entry in try list(key, max: Limits.accessTokens) ?? [] {
      let name = try entry.requiredString("name", "a name for people")
      try entry.requireNew(name, "name", &places)
      let scopes = try entry.strings("scopes", max: AccessTokenSettings.scopeNames.count) ?? []
      for scope in scopes where !AccessTokenSettings.scopeNames.contains(scope) {
        throw entry.error("scopes", "must list only \(listed(AccessTokenSettings.scopeNames)), not \"\(scope)\"")
      }
      guard !scopes.isEmpty else { throw entry.error("scopes", "must list some of \(listed(AccessTokenSettings.scopeNames))") }
      let bundleIDs = try entry.strings("bundleIDs", max: Limits.apps)
      var expires: Instant?
      if let scalar = try entry.scalar("expires") {
        expires = Instant(rfc3339: scalar.text)
        if expires == nil {
          throw entry.error("expires", "must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z, not \"\(scalar.text)\"", scalar.origin)
        }
      }
      let text = try entry.secret("secret")
      let digest = try entry.string("sha256")
      let secret: AccessTokenSettings.Secret
      switch (text, digest) {
      case (let text?, nil):
        guard text.utf8.count >= 16 else { throw entry.error("secret", "must have at least 16 characters") }
        secret = .text(text)
      case (nil, let hex?):
        guard let bytes = Hexadecimal.decode(hex), bytes.count == 32 else {
          throw entry.error("sha256", "must be the secret's SHA-256 as 64 hexadecimal digits")
        }
        secret = .digest(bytes)
      default: throw entry.error("secret", "or sha256 must be given; one of them")
      }
      try entry.finish()
      tokens.append(AccessTokenSettings(name: name, scopes: scopes, bundleIDs: bundleIDs, expires: expires, secret: secret))
    }
    return tokens
  }

  /// Refuses a name that an earlier entry has, and says where; else notes where this one is.
  func requireNew(_ name: String, _ key: String, _ places: inout [String: String]) throws(ConfigurationError) {
    if let earlier = places[name] {
      throw error(key, "must be another than \"\(name)\", which an earlier entry has at \(earlier)")
    }
    places[name] = place(of: key)
  }

  /// A team or key id: ASCII letters and digits, ten of them at Apple.
  private mutating func identifier(_ key: String) throws(ConfigurationError) -> String {
    let text = try requiredString(key, "an id of letters and digits, such as ABCDE12345")
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isAlphanumeric($0) }) else {
      throw error(key, "must be an id of letters and digits, such as ABCDE12345, not \"\(text)\"")
    }
    return text
  }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
  default: false
  }
}
