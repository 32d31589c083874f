import Configuration
import Security

/// The keys of a state folder: `AuthKey_<id>.p8` for backends, `gateway.p8` for the gateway itself, and those of its key ring.
struct ProviderKeys {
  let teamID: String
  let keyID: String
  let keyFile: String
  let providerPEM: String
  let providers: [ProviderKey]
  let gateway: Credentials.GatewayKey
  let signingKeys: [SigningKey]

  /// Letters and digits of Apple's ids.
  private static let alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

  /// Makes what is missing and reads the rest; a key of the user's own serves beside the folder's.
  static func prepare(_ folder: StateFolder, _ wishes: DevState.Wishes, _ previous: Credentials?) throws -> ProviderKeys {
    let teamID = wishes.teamID ?? previous?.teamID ?? makeID()

    let ring = try KeyRing(in: folder)
    let added = Set(ring.entries.map(\.id))
    let ownID = try existingKeyID(folder, preferred: previous?.keyID, besides: added) ?? makeID()
    let ownFile = folder.file("AuthKey_\(ownID).p8")
    let ownPEM = try makeKey(ownFile)
    var providers = [ProviderKey(keyID: ownID, teamID: teamID, keyPEM: ownPEM)]
    var (keyID, keyFile, providerPEM) = (ownID, ownFile, ownPEM)
    if let wished = wishes.providerKey {
      (keyID, keyFile) = (wished.keyID, Files.absolute(wished.file))
      providerPEM = try readKey(keyFile)
      providers.removeAll { $0.keyID == keyID }
      providers.append(ProviderKey(keyID: keyID, teamID: teamID, keyPEM: providerPEM))
    }

    let gatewayFile = folder.file("gateway.p8")
    let gateway = Credentials.GatewayKey(
      teamID: previous?.gateway.teamID ?? makeID(),
      keyID: previous?.gateway.keyID ?? makeID(), keyFile: gatewayFile)
    var signingKeys = [SigningKey(teamID: gateway.teamID, keyID: gateway.keyID, keyPEM: try makeKey(gatewayFile))]
    for entry in ring.entries {
      let pem = try readKey(folder.file(entry.fileName))
      switch entry.use {
      case .signing: signingKeys.append(SigningKey(teamID: entry.team, keyID: entry.id, keyPEM: pem, topics: entry.topics))
      case .provider where !providers.contains { $0.keyID == entry.id }:
        providers.append(
          ProviderKey(
            keyID: entry.id, teamID: entry.team, keyPEM: pem, bundleIDs: entry.bundleIDs, environment: entry.environment))
      case .provider: break
      }
    }
    return ProviderKeys(
      teamID: teamID, keyID: keyID, keyFile: keyFile, providerPEM: providerPEM, providers: providers, gateway: gateway,
      signingKeys: signingKeys)
  }

  /// The id that a key file's name holds: `AuthKey_ABCDE12345.p8`, as Apple names them; nil for other names.
  static func keyID(ofFile path: String) -> String? {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
    let id = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return id.count == 10 && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? id : nil
  }

  /// An id for a key or a team of our own, in Apple's form.
  static func makeID() -> String { SecureRandom.text(10, alphabet: alphabet) }

  private static func existingKeyID(_ folder: StateFolder, preferred: String?, besides added: Set<String>) throws -> String? {
    let ids = try Files.names(in: folder.path).compactMap { keyID(ofFile: $0) }.filter { !added.contains($0) }
    return ids.first { $0 == preferred } ?? ids.first
  }

  private static func makeKey(_ file: String) throws -> String {
    if Files.exists(file) { return try readKey(file) }
    let pem = try P256PrivateKey.generate().pem()
    try Files.write(pem, to: file, mode: 0o600)
    return pem
  }

  /// The PEM text of a private key's file; throws when it holds none.
  static func readKey(_ file: String) throws -> String {
    let pem = try Files.read(file)
    _ = try describing(file) { () throws(CryptoError) in try P256PrivateKey(pem: pem) }
    return pem
  }
}
