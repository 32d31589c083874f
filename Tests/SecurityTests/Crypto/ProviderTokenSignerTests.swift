import Primitives
import Security
import Testing

@Suite("Provider token signer") struct ProviderTokenSignerTests {
  @Test func aTokenIsAJWTOfTheTeam() throws {
    let key = try P256PrivateKey.generate()
    let signer = try ProviderTokenSigner(teamID: "TEAM123456", keyID: "KEY1234567", key: key)
    let token = try signer.token(now: Instant(unixSeconds: 1_700_000_000))
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    #expect(Base64.decode(parts[0]).map { String(decoding: $0, as: UTF8.self) } == #"{"alg":"ES256","kid":"KEY1234567"}"#)
    #expect(Base64.decode(parts[1]).map { String(decoding: $0, as: UTF8.self) } == #"{"iss":"TEAM123456","iat":1700000000}"#)
    let signature = try #require(Base64.decode(parts[2]))
    #expect(signature.count == 64)
    let signed = Array((parts[0] + "." + parts[1]).utf8)
    let verifier = try SignatureVerifier(keys: [key.publicKey])
    let verdict = verifier.verify(signature.span.bytes, of: signed.span.bytes, key: 0, algorithm: .es256)
    #expect(verdict)
    #expect(!token.contains("="))
  }

  @Test(arguments: ["", "a\"b", "TEAM 12345", "é"]) func idsThatWouldBreakTheTokenAreRefused(id: String) throws {
    let key = try P256PrivateKey.generate()
    #expect(throws: CryptoError.self) { try ProviderTokenSigner(teamID: id, keyID: "KEY1234567", key: key) }
    #expect(throws: CryptoError.self) { try ProviderTokenSigner(teamID: "TEAM123456", keyID: id, key: key) }
  }
}
