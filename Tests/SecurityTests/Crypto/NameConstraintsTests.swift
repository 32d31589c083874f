import Foundation
import Primitives
import Security
import Testing

/// An authority of ours may sign for its own names alone, and every client holds it to that.
@Suite("Name constraints") struct NameConstraintsTests {
  private static let names = [
    "push.apple.com", "localhost", "127.0.0.1", "::1", "gateway", "*.corp.example", "10.0.0.7", "2001:db8::7", "my_host",
  ]
  private let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970))

  private func authority() throws -> CertificateAuthority {
    let constraints = try #require(NameConstraints(names: Self.names))
    return try CertificateAuthority.make(commonName: "widgetpush test CA", constraints: constraints, now: now, days: 3650)
  }

  @Test func aCertificateTellsItsOwn() throws {
    let authority = try authority()
    let read = try #require(try Certificate(pem: authority.certificate.pem()).constraints)
    #expect(read == NameConstraints(names: Self.names))
    let permitted =
      Self.names + [
        "LOCALHOST", "a.b.localhost", "api.push.apple.com", "corp.example", "x.corp.example", "*.localhost", "127.1.2.3", "0:0::1",
      ]
    for name in permitted { #expect(read.permits(name), "\(name)") }
    for name in [
      "google.com", "apple.com", "evilpush.apple.com", "xlocalhost", "localhost.evil.example", "10.0.0.8", "128.0.0.1", "::2", "com",
    ] { #expect(!read.permits(name), "\(name)") }
    let more = try #require(read.adding(["new.example", "10.0.0.8", "localhost"]))
    #expect(more.permits("x.new.example") && more.permits("10.0.0.8") && more.permits("gateway") && !more.permits("10.0.0.9"))
    #expect(try CertificateAuthority.make(commonName: "CA", now: now, days: 1).certificate.constraints == nil)
  }

  /// Without a name or without an address, every name or every address would be permitted.
  @Test(arguments: [[], ["localhost"], ["127.0.0.1"], ["localhost", "127.0.0.1", "a b"], ["localhost", "127.0.0.1", "a,permitted;DNS:b"]])
  func thereIsNoneWithoutBoth(names: [String]) { #expect(NameConstraints(names: names) == nil) }

  @Test func openSSLHoldsTheAuthorityToThem() throws {
    let command = try OpenSSLCommand()
    let authority = try authority()
    try command.write(try authority.certificate.pem().utf8, to: "ca.pem")
    let text = try command.run("x509", "-in", "ca.pem", "-noout", "-text").output
    #expect(text.contains("X509v3 Name Constraints: critical") && text.contains("DNS:localhost"), "\(text)")
    #expect(text.contains("IP:127.0.0.0/255.0.0.0") && text.contains("IP:10.0.0.7/255.255.255.255"), "\(text)")
    for (name, isGood) in [
      ("localhost", true), ("x.localhost", true), ("api.sandbox.push.apple.com", true), ("gateway", true), ("a.corp.example", true),
      ("127.0.0.1", true), ("::1", true), ("10.0.0.7", true), ("2001:db8::7", true), ("my_host", true), ("google.com", false),
      ("10.0.0.8", false), ("www.apple.com", false), ("::2", false),
    ] {
      let isAddress = name.first?.isNumber == true || name.contains(":")
      // Where it has no DNS name, OpenSSL takes the common name for one.
      let leaf = try authority.issue(names: isAddress ? ["localhost", name] : [name], now: now, days: 397)
      try command.write(try leaf.certificate.pem().utf8, to: "leaf.pem")
      let option = isAddress ? "-verify_ip" : "-verify_hostname"
      let verdict = try command.run("verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", option, name, "leaf.pem")
      #expect((verdict.status == 0) == isGood, "\(name): \(verdict.output)")
      if !isGood { #expect(verdict.output.contains("permitted subtree violation"), "\(verdict.output)") }
    }
  }

  /// What was signed before stays good when the authority's certificate is made anew, and so do client certificates, which have no name.
  @Test func aRenewedAuthorityIsTheSame() throws {
    let command = try OpenSSLCommand()
    let authority = try authority()
    let leaf = try authority.issue(names: ["localhost", "127.0.0.1"], now: now, days: 397)
    let client = try authority.issueClient(topics: ["com.example.app"], development: true, production: true, now: now, days: 397)
    let constraints = try #require(authority.certificate.constraints?.adding(["new.example"]))
    let renewed = try authority.renewed(constraints: constraints, now: now, days: 3650)
    let further = try renewed.issue(names: ["localhost", "new.example"], now: now, days: 397)
    #expect(leaf.certificate.isSigned(by: renewed.certificate) && renewed.certificate.isSigned(by: authority.certificate))
    try command.write(try authority.certificate.pem().utf8, to: "old.pem")
    try command.write(try renewed.certificate.pem().utf8, to: "new.pem")
    try command.write(try leaf.certificate.pem().utf8, to: "leaf.pem")
    try command.write(try further.certificate.pem().utf8, to: "further.pem")
    try command.write(try client.certificate.pem().utf8, to: "client.pem")
    for (file, trust, isGood) in [
      ("leaf.pem", "old.pem", true), ("leaf.pem", "new.pem", true), ("client.pem", "new.pem", true), ("further.pem", "new.pem", true),
      ("further.pem", "old.pem", false),
    ] {
      let verdict = try command.run("verify", "-CAfile", trust, file)
      #expect((verdict.status == 0) == isGood, "\(file) by \(trust): \(verdict.output)")
    }
  }

  /// Clients of other makes: each connects to a server of the constrained authority by name and by address.
  @Test(arguments: ["python3", "node", "java"]) func clientsAcceptTheChain(program: String) throws {
    let command = try OpenSSLCommand()
    guard try command.run(program: "sh", ["-c", "command -v \(program) && command -v python3"]).status == 0 else { return }
    let authority = try authority()
    let leaf = try authority.issue(names: ["localhost", "127.0.0.1", "gateway", "api.push.apple.com"], now: now, days: 397)
    let foreign = try authority.issue(names: ["localhost", "google.com"], now: now, days: 397)
    try command.write(try authority.certificate.pem().utf8, to: "ca.pem")
    for (name, made) in [("good", leaf), ("bad", foreign)] {
      try command.write(try made.certificate.pem().utf8, to: "\(name).pem")
      try command.write(try made.key.pem().utf8, to: "\(name).key")
    }
    try command.write(Self.clients[program]!.utf8, to: Self.files[program]!)
    try command.write(Self.server.utf8, to: "server.py")
    let verdict = try command.run(program: "python3", ["server.py", program, Self.files[program]!])
    // Java does not look at the constraints of an authority that it was told to trust, as RFC 5280 section 6.1.1 leaves it free to.
    let other = program == "java" ? ["good accepted", "bad accepted"] : ["good accepted", "bad refused"]
    #expect(verdict.output.split(separator: "\n").map(String.init) == other, "\(verdict.output)")
  }

  /// Serves each certificate to one run of the client, which is told the port.
  private static let server = """
    import socket, ssl, subprocess, sys, threading
    for name in ['good', 'bad']:
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(name + '.pem', name + '.key')
      listener = socket.create_server(('127.0.0.1', 0))
      def serve():
        while True:
          try: connection, _ = listener.accept()
          except OSError: return
          try:
            with context.wrap_socket(connection, server_side=True) as tls: tls.recv(1)
          except OSError: pass
      threading.Thread(target=serve, daemon=True).start()
      arguments = sys.argv[1:] + [str(listener.getsockname()[1])]
      done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
      print(name, 'accepted' if done.returncode == 0 else 'refused' if done.returncode == 7 else done.stdout + done.stderr)
    """

  private static let files = ["python3": "client.py", "node": "client.js", "java": "Client.java"]

  private static let clients = [
    "python3": """
    import socket, ssl, sys
    context = ssl.create_default_context(cafile='ca.pem'); context.verify_flags |= ssl.VERIFY_X509_STRICT
    try:
      for name in ['localhost', '127.0.0.1']:
        with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as connection:
          context.wrap_socket(connection, server_hostname=name).close()
    except ssl.SSLCertVerificationError: sys.exit(7)
    """,
    "node": """
    const tls = require('tls'), fs = require('fs')
    const socket = tls.connect({host: '127.0.0.1', port: +process.argv[2], servername: 'localhost', ca: fs.readFileSync('ca.pem')},
      () => process.exit(0))
    socket.on('error', error => { console.log(error.code); process.exit(7) })
    """,
    "java": """
    import java.io.*; import java.security.*; import java.security.cert.*; import javax.net.ssl.*;
    class Client {
      public static void main(String[] words) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType()); store.load(null, null);
        store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream("ca.pem")));
        var trust = TrustManagerFactory.getInstance("PKIX"); trust.init(store);
        var context = SSLContext.getInstance("TLS"); context.init(null, trust.getTrustManagers(), null);
        try (var socket = (SSLSocket) context.getSocketFactory().createSocket("localhost", Integer.parseInt(words[0]))) {
          var parameters = socket.getSSLParameters(); parameters.setEndpointIdentificationAlgorithm("HTTPS");
          socket.setSSLParameters(parameters); socket.startHandshake();
        } catch (SSLException error) { System.out.println(error); System.exit(7); }
      }
    }
    """,
  ]
}
