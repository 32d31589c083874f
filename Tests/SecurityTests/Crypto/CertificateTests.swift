import Foundation
import Primitives
import Security
import Testing

@Suite("Certificates") struct CertificateTests {
  private static let names = [
    "localhost", "127.0.0.1", "::1", "gateway", "host.docker.internal", "api.sandbox.push.apple.com", "*.example.com", "10.1.2.3",
    "2001:db8::1",
  ]
  private let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970))

  @Test func aChainSaysWhatItWasToldTo() throws {
    let authority = try CertificateAuthority.make(commonName: "widgetpush test CA", now: now, days: 3650)
    let leaf = try authority.issue(names: Self.names, now: now, days: 397)
    #expect(leaf.certificate.names == Self.names)
    #expect(leaf.certificate.commonName == "localhost")
    #expect(leaf.certificate.notAfter == now + .seconds(397 * 86_400))
    #expect(leaf.certificate.notBefore == now - .seconds(3600))
    #expect(leaf.certificate.isSigned(by: authority.certificate))
    #expect(leaf.certificate.belongs(to: leaf.key))
    #expect(!leaf.certificate.belongs(to: authority.key))
    #expect(authority.certificate.isSigned(by: authority.certificate))
    let other = try CertificateAuthority.make(commonName: "widgetpush test CA", now: now, days: 3650)
    #expect(!leaf.certificate.isSigned(by: other.certificate))
  }

  @Test func anAuthoritySurvivesItsFiles() throws {
    let authority = try CertificateAuthority.make(commonName: "CA", now: now, days: 10)
    let again = try CertificateAuthority(certificatePEM: authority.certificate.pem(), keyPEM: authority.key.pem())
    let leaf = try again.issue(names: ["localhost"], now: now, days: 1)
    #expect(leaf.certificate.isSigned(by: authority.certificate))
    #expect(try Certificate(pem: leaf.certificate.pem()).names == ["localhost"])
    let stranger = try P256PrivateKey.generate()
    #expect(throws: CryptoError.self) { try CertificateAuthority(certificatePEM: authority.certificate.pem(), keyPEM: stranger.pem()) }
  }

  @Test(arguments: [
    "", "a b", "a,DNS:evil.example", "-a", "a..b", "*", "1.2.3.4:80", "[::1]", "é.example", String(repeating: "a", count: 64),
  ])
  func namesThatCannotStandInACertificateAreRefused(name: String) throws {
    let authority = try CertificateAuthority.make(commonName: "CA", now: now, days: 10)
    let error = #expect(throws: CryptoError.self) { try authority.issue(names: ["localhost", name], now: now, days: 1) }
    #expect(error?.kind == .badArgument)
    #expect(error?.message.contains("\"\(name)\"") == true)
  }

  @Test func openSSLVerifiesTheChainStrictly() throws {
    let command = try OpenSSLCommand()
    try writeChain(to: command)
    for (option, name) in [
      ("-verify_hostname", "localhost"), ("-verify_hostname", "api.sandbox.push.apple.com"), ("-verify_hostname", "x.example.com"),
      ("-verify_ip", "127.0.0.1"), ("-verify_ip", "::1"),
    ] {
      let verdict = try command.run(
        "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", option, name, "server.pem")
      #expect(verdict.status == 0, "\(name): \(verdict.output)")
    }
    #expect(try command.run("verify", "-CAfile", "ca.pem", "-verify_hostname", "evil.example", "server.pem").status != 0)
    #expect(try command.run("verify", "-CAfile", "ca.pem", "-verify_ip", "127.0.0.2", "server.pem").status != 0)
    #expect(try command.run("verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", "ca.pem", "server.pem").status != 0)
    #expect(
      try command.run("verify", "-x509_strict", "-CAfile", "ca.pem", "-attime", String(now.unixSeconds + 398 * 86_400), "server.pem").status
        != 0)
  }

  @Test func pythonShakesHandsStrictly() throws {
    let command = try OpenSSLCommand()
    try writeChain(to: command)
    let script = """
      import ssl
      server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); server.load_cert_chain('server.pem', 'server.key')
      client = ssl.create_default_context(cafile='ca.pem'); client.verify_flags |= ssl.VERIFY_X509_STRICT
      for name in ['localhost', '127.0.0.1', '::1', 'gateway']:
        a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
        s = server.wrap_bio(a, b, server_side=True); c = client.wrap_bio(b, a, server_hostname=name)
        for side in [c, s] * 3:
          try: side.do_handshake()
          except ssl.SSLWantReadError: pass
        print(name, c.version())
      """
    let verdict = try command.run(program: "python3", ["-c", script])
    #expect(verdict.output == "localhost TLSv1.3\n127.0.0.1 TLSv1.3\n::1 TLSv1.3\ngateway TLSv1.3\n")
  }

  private func writeChain(to command: OpenSSLCommand) throws {
    let authority = try CertificateAuthority.make(commonName: "widgetpush test CA", now: now, days: 3650)
    let leaf = try authority.issue(names: Self.names, now: now, days: 397)
    try command.write(try authority.certificate.pem().utf8, to: "ca.pem")
    try command.write(try leaf.certificate.pem().utf8, to: "server.pem")
    try command.write(try leaf.key.pem().utf8, to: "server.key")
  }
}
