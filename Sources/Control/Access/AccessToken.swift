public import Primitives
import Security

/// An access token as it is kept: with the SHA-256 of its secret, never the secret.
public struct AccessToken: Hashable, Sendable {
  /// The name by which people know it.
  public var name: String
  /// What it permits.
  public var scopes: Set<AccessScope>
  /// The apps it sees; nil means all.
  public var bundleIDs: Set<String>?
  /// When it ends; nil means never.
  public var expires: Instant?
  /// The 32 bytes of the SHA-256 of the secret.
  public let digest: [UInt8]

  /// A token whose secret has this digest; nil when it has not 32 bytes.
  public init?(name: String, scopes: Set<AccessScope>, bundleIDs: Set<String>? = nil, expires: Instant? = nil, digest: [UInt8]) {
    guard digest.count == 32 else { return nil }
    self.name = name
    self.scopes = scopes
    self.bundleIDs = bundleIDs
    self.expires = expires
    self.digest = digest
  }

  /// A token with this secret, of which only the digest is kept.
  public init(name: String, scopes: Set<AccessScope>, bundleIDs: Set<String>? = nil, expires: Instant? = nil, secret: String) {
    self.name = name
    self.scopes = scopes
    self.bundleIDs = bundleIDs
    self.expires = expires
    digest = SHA256.hash(secret)
  }

  /// A fresh secret: `wp_` and 40 letters and digits, some 238 bits.
  public static func makeSecret() -> String {
    "wp_" + SecureRandom.text(40, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
  }
}

/// The access tokens that a server knows.
public struct AccessTokens: Sendable {
  private let tokens: [AccessToken]

  /// These tokens.
  public init(_ tokens: [AccessToken]) { self.tokens = tokens }

  /// The token of that secret, or nil. The time it takes tells nothing of how close a guess is.
  public func token(secret: String) -> AccessToken? {
    let digest = SHA256.hash(secret)
    var found: AccessToken?
    for token in tokens where ConstantTime.equal(token.digest, digest) { found = token }
    return found
  }
}
