import Security
import Testing

@Suite("P-256 keys") struct KeyTests {
  @Test func ourPKCS8IsReadByOpenSSLAndByUs() throws {
    let command = try OpenSSLCommand()
    let key = try P256PrivateKey.generate()
    let pem = try key.pem()
    #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    try command.write(pem.utf8, to: "key.p8")
    let shown = try command.run("pkey", "-in", "key.p8", "-noout", "-text")
    #expect(shown.status == 0)
    #expect(shown.output.contains("prime256v1"))
    let derived = try command.run("pkey", "-in", "key.p8", "-pubout")
    #expect(try derived.output == key.publicKey.pem())
    #expect(try P256PrivateKey(pem: pem).publicKey.pem() == derived.output)
    #expect(try P256PublicKey(pem: pem).pem() == derived.output)
    #expect(try P256PublicKey(pem: derived.output).pem() == derived.output)
  }

  @Test(arguments: [
    ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    ["ecparam", "-name", "prime256v1", "-genkey", "-noout"],
    // SEC 1 with the curve's own block in front.
    ["ecparam", "-name", "prime256v1", "-genkey"],
  ])
  func keysOfOpenSSLAreRead(arguments: [String]) throws {
    let command = try OpenSSLCommand()
    let made = try command.run(program: "openssl", arguments)
    try command.write(made.output.utf8, to: "key.pem")
    let derived = try command.run("pkey", "-in", "key.pem", "-pubout")
    #expect(try P256PrivateKey(pem: made.output).publicKey.pem() == derived.output)
  }

  @Test(arguments: [
    (["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], CryptoError.Kind.wrongKind, "RSA"),
    (["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], .wrongKind, "secp384r1"),
    (["genpkey", "-algorithm", "ED25519"], .wrongKind, "ED25519"),
    (
      ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes-256-cbc", "-pass", "pass:secret"], .encrypted,
      "passphrase"
    ),
    (["version"], .unreadable, "BEGIN PRIVATE KEY"),
  ])
  func otherKeysAreRefusedWithTheReason(arguments: [String], kind: CryptoError.Kind, word: String) throws {
    let command = try OpenSSLCommand()
    var lines = try command.run(program: "openssl", arguments).output.split(separator: "\n", omittingEmptySubsequences: false)
    lines.removeAll { $0.allSatisfy { ".+*-".contains($0) } && !$0.isEmpty }
    let text = lines.joined(separator: "\n")
    let error = #expect(throws: CryptoError.self) { try P256PrivateKey(pem: text) }
    #expect(error?.kind == kind)
    #expect(error?.message.contains(word) == true, "\(String(describing: error))")
  }

  @Test(arguments: ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "-----BEGIN PUBLIC KEY-----\n"])
  func rubbishIsNoKey(text: String) {
    #expect(throws: CryptoError.self) { try P256PrivateKey(pem: text) }
    #expect(throws: CryptoError.self) { try P256PublicKey(pem: text) }
    #expect(throws: CryptoError.self) { try Certificate(pem: text) }
  }
}
