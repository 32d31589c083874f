public import Primitives

/// Makes provider tokens: the JWT that tells APNs which team sends, signed with that team's key.
///
/// Source: Apple, "Establishing a token-based connection to APNs". A token serves for 20 to 60 minutes; renewing it in time
/// is the caller's part, since a new one more often than every 20 minutes is answered `TooManyProviderTokenUpdates`.
public struct ProviderTokenSigner: Sendable {
  /// The team's identifier, 10 characters; the claim `iss`.
  public let teamID: String
  /// The key's identifier, 10 characters; the header's `kid`.
  public let keyID: String
  private let key: P256PrivateKey

  /// A signer for `key`; throws when an id has characters other than ASCII letters and digits.
  public init(teamID: String, keyID: String, key: P256PrivateKey) throws(CryptoError) {
    for (name, id) in [("team id", teamID), ("key id", keyID)] {
      let plain = id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
      }
      guard plain, !id.isEmpty else {
        throw CryptoError(
          .badArgument, "the \(name) \"\(id)\" is not made of letters and digits; Apple's have 10 of them, such as ABCDE12345")
      }
    }
    self.teamID = teamID
    self.keyID = keyID
    self.key = key
  }

  /// A provider token that says it was made at `now`.
  public func token(now: Instant) throws(CryptoError) -> String {
    let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
    let claims = #"{"iss":"\#(teamID)","iat":\#(now.unixSeconds)}"#
    let signed = Base64.encode(header.utf8, .urlSafe) + "." + Base64.encode(claims.utf8, .urlSafe)
    let signature = try key.sign(Array(signed.utf8))
    return signed + "." + Base64.encode(signature, .urlSafe)
  }
}
