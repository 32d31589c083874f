import Configuration
import Control
import JSON
import Primitives
import Security

/// A state folder with everything that servers need, made where it was missing.
struct DevState: Sendable {
  /// What a command line may say about the folder's content.
  struct Wishes: Sendable {
    /// Names and addresses of the certificate beyond the standard ones.
    var names: [String] = []
    /// A key of the user's own for provider tokens: its file and its id.
    var providerKey: (file: String, keyID: String)?
    /// The team of provider tokens.
    var teamID: String?
  }

  let folder: StateFolder
  let credentials: Credentials
  /// The authority's certificate as PEM.
  let authorityPEM: String
  /// The certificate by which the servers of this folder trust each other; it is in memory alone.
  let peerAuthorityPEM: String
  /// The authority itself; nil when the folder has its certificate only.
  let authority: CertificateAuthority?
  /// What TLS ports show.
  let identity: ServerIdentity
  /// The private key of provider tokens as PEM.
  let providerKeyPEM: String
  /// What backends sign with.
  let providers: [ProviderKey]
  /// What the gateway signs with; the folder's own key is the first.
  let signingKeys: [SigningKey]
  /// What was done that people have to know of, one sentence each.
  let notes: [String]

  /// Makes what is missing in `folder` and reads the rest; a certificate near its end is renewed.
  static func prepare(_ folder: StateFolder, _ wishes: Wishes = Wishes(), now: Instant) throws -> DevState {
    try folder.make()
    return try FileLock.holding(folder.file(".lock")) { try prepareLocked(folder, wishes, now: now) }
  }

  private static func prepareLocked(_ folder: StateFolder, _ wishes: Wishes, now: Instant) throws -> DevState {
    if !Files.exists(folder.file(".gitignore")) { try Files.write("*\n", to: folder.file(".gitignore"), mode: 0o644) }

    let certificates = try ServerCertificates.prepare(folder, names: wishes.names, now: now)
    let previous = try folder.existingCredentials()
    let keys = try ProviderKeys.prepare(folder, wishes, previous)
    var credentials = Credentials(
      teamID: keys.teamID, keyID: keys.keyID, keyFile: keys.keyFile, caFile: folder.file("ca.pem"),
      register: previous?.register ?? AccessToken.makeSecret(), reload: previous?.reload ?? AccessToken.makeSecret(),
      read: previous?.read ?? AccessToken.makeSecret(), admin: previous?.admin ?? AccessToken.makeSecret(), gateway: keys.gateway)
    (credentials.provider, credentials.control) = (previous?.provider, previous?.control)
    (credentials.device, credentials.plain) = (previous?.device, previous?.plain)
    if credentials != previous {
      try Files.write(credentials.json.serialized(pretty: true) + "\n", to: folder.file("credentials.json"), mode: 0o600)
    }
    return DevState(
      folder: folder, credentials: credentials, authorityPEM: certificates.authorityPEM,
      peerAuthorityPEM: try certificates.authority.map { try PeerAuthority.pem(of: $0, now: now) } ?? certificates.authorityPEM,
      authority: certificates.authority, identity: certificates.identity, providerKeyPEM: keys.providerPEM, providers: keys.providers,
      signingKeys: keys.signingKeys, notes: certificates.notes)
  }
}
