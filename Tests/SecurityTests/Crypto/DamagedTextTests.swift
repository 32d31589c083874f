import Foundation
import Primitives
import Security
import Testing

/// PEM text of which a part is damaged: what OpenSSL says of it is told, and nothing of it is passed over.
@Suite("Damaged PEM text") struct DamagedTextTests {
  private let now = Instant(unixSeconds: 1_800_000_000)

  /// The text with its middle line replaced by one that is no base 64 of a certificate.
  private func damaged(_ pem: String) -> String {
    var lines = pem.split(separator: "\n").map(String.init)
    lines[lines.count / 2] = String(repeating: "A", count: lines[lines.count / 2].count)
    lines[1] = String(repeating: "B", count: lines[1].count)
    return lines.joined(separator: "\n") + "\n"
  }

  private func authority() throws -> String {
    try CertificateAuthority.make(commonName: "authority", now: now, days: 10).certificate.pem()
  }

  @Test func anAuthorityThatIsDamagedIsNamed() throws {
    let (first, second) = (try authority(), try authority())
    try TLSContext.checkAuthorities(first + second)
    for text in [first + damaged(second), damaged(first) + second] {
      let place = text.hasPrefix(first) ? 2 : 1
      #expect {
        try TLSContext.checkAuthorities(text)
      } throws: { "\($0)".contains("certificate \(place) of the PEM text is damaged") }
      #expect(throws: CryptoError.self) { try TLSContext.client(.authorities(pem: text), protocols: [.http2]) }
    }
  }

  @Test func anIssuerThatIsDamagedIsNamed() throws {
    let authority = try CertificateAuthority.make(commonName: "authority", now: now, days: 10)
    let leaf = try authority.issue(names: ["localhost"], now: now, days: 5)
    let (certificate, key) = (try leaf.certificate.pem(), try leaf.key.pem())
    _ = try TLSIdentity(certificatePEM: certificate + authority.certificate.pem(), keyPEM: key)
    let broken = certificate + damaged(try authority.certificate.pem())
    #expect { try TLSIdentity(certificatePEM: broken, keyPEM: key) } throws: {
      "\($0)".contains("certificate 2 of the PEM text is damaged")
    }
    // Blocks of other kinds are no damage, in whatever order.
    _ = try TLSIdentity(certificatePEM: key + certificate, keyPEM: certificate + key)
  }

  /// A name that OpenSSL does not take would leave the certificate unchecked.
  @Test func aClientWithoutANameToCheckSendsNothing() throws {
    let context = try TLSContext.client(.authorities(pem: try authority()), protocols: [.http2])
    for name in [String(repeating: "x", count: 300), String(repeating: "sub.", count: 100) + "test"] {
      var session = TLSSession(client: context, name: name)
      var plaintext = ByteQueue(capacity: 1 << 20)
      var output = ByteQueue(capacity: 1 << 20)
      guard case .failed(let failure) = session.receive(RawSpan(), plaintext: &plaintext, output: &output) else {
        Issue.record("a handshake with no name to check")
        continue
      }
      #expect(failure.message.contains("is no name that a certificate could be for"))
      let isSilent = output.isEmpty
      #expect(isSilent)
    }
  }
}
