import Primitives
import Security
import Testing

@Suite("ECDSA signatures") struct SignatureTests {
  private let message = Array("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJBQkNERTEyMzQ1In0".utf8)

  private func verify(
    _ signature: [UInt8], of message: [UInt8], with verifier: SignatureVerifier, key: Int = 0, _ algorithm: SignatureAlgorithm = .es256
  ) -> Bool {
    verifier.verify(signature.span.bytes, of: message.span.bytes, key: key, algorithm: algorithm)
  }

  @Test func openSSLAcceptsOurSignature() throws {
    let command = try OpenSSLCommand()
    let key = try P256PrivateKey.generate()
    try command.write(try key.publicKey.pem().utf8, to: "public.pem")
    try command.write(message, to: "message")
    // Enough for leading zeros and sign bytes in r and s to occur.
    for _ in 0..<12 {
      try command.write(der(try key.sign(message)), to: "signature")
      let verdict = try command.run("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "message")
      #expect(verdict.output.contains("Verified OK"))
    }
  }

  @Test(arguments: [("-sha256", SignatureAlgorithm.es256, 32), ("-sha512", .es512, 66)])
  func weAcceptOpenSSLsSignatureInBothSpellings(digest: String, algorithm: SignatureAlgorithm, half: Int) throws {
    let command = try OpenSSLCommand()
    _ = try command.run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
    try command.write(message, to: "message")
    let verifier = try SignatureVerifier(keys: [P256PublicKey(pem: try command.text("key.pem"))])
    for _ in 0..<12 {
      _ = try command.run("dgst", digest, "-sign", "key.pem", "-out", "signature", "message")
      let der = try command.read("signature")
      #expect(verify(der, of: message, with: verifier, algorithm))
      #expect(verify(raw(der, half: half), of: message, with: verifier, algorithm))
      #expect(!verify(raw(der, half: half), of: message + [0], with: verifier, algorithm))
      #expect(!verify(der, of: message, with: verifier, algorithm == .es256 ? .es512 : .es256))
    }
  }

  @Test func manySignaturesOfOneContextVerify() throws {
    let keys = try (0..<3).map { _ in try P256PrivateKey.generate() }
    let verifier = try SignatureVerifier(keys: keys.map(\.publicKey))
    // r or s begins with a zero byte about once in 128 signatures; both encodings of it must work.
    for round in 0..<600 {
      let text = message + [UInt8(round & 255), UInt8(round >> 8)]
      let signature = try keys[round % 3].sign(text)
      #expect(signature.count == 64)
      #expect(verify(signature, of: text, with: verifier, key: round % 3))
      #expect(verify(der(signature), of: text, with: verifier, key: round % 3))
      #expect(!verify(signature, of: text, with: verifier, key: (round + 1) % 3))
    }
  }

  @Test func everyChangedByteIsRefused() throws {
    let key = try P256PrivateKey.generate()
    let verifier = try SignatureVerifier(keys: [key.publicKey])
    let signature = try key.sign(message)
    for index in signature.indices {
      var changed = signature
      changed[index] ^= 1
      #expect(!verify(changed, of: message, with: verifier), "byte \(index)")
    }
    for index in message.indices {
      var changed = message
      changed[index] ^= 0x80
      #expect(!verify(signature, of: changed, with: verifier), "byte \(index)")
    }
    #expect(verify(signature, of: message, with: verifier), "a refusal leaves the context usable")
  }

  @Test func signaturesOfAnyLengthAreRefusedQuietly() throws {
    let verifier = try SignatureVerifier(keys: [P256PrivateKey.generate().publicKey])
    for count in 0..<200 {
      for fill: UInt8 in [0, 0x30, 0xFF] {
        let signature = [UInt8](repeating: fill, count: count)
        #expect(!verify(signature, of: message, with: verifier))
        #expect(!verify(signature, of: message, with: verifier, .es512))
      }
    }
  }

  /// A DER sequence of the two halves as integers, written for the test independently of the library's.
  private func der(_ raw: [UInt8]) -> [UInt8] {
    let integers = [raw.prefix(raw.count / 2), raw.suffix(raw.count / 2)].map { half -> [UInt8] in
      var digits = Array(half.drop { $0 == 0 })
      if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
      return [2, UInt8(digits.count)] + digits
    }
    return [0x30, UInt8(integers[0].count + integers[1].count)] + integers[0] + integers[1]
  }

  /// The two integers of a DER signature, each in `half` bytes.
  private func raw(_ der: [UInt8], half: Int) -> [UInt8] {
    var halves: [UInt8] = []
    var at = 2
    for _ in 0..<2 {
      let digits = der[at + 2..<at + 2 + Int(der[at + 1])].drop { $0 == 0 }
      halves += [UInt8](repeating: 0, count: half - digits.count) + digits
      at += 2 + Int(der[at + 1])
    }
    return halves
  }
}
