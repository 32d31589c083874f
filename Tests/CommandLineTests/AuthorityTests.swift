import Foundation
import Primitives
import Push
import Security
import Synchronization
import Testing

@testable import widgetpush

/// What the authority of a state folder may sign for, and what is made for a client that asks for a name.
@Suite("Authority of a state folder") struct AuthorityTests {
  private let now = Instant(unixSeconds: 1_800_000_000)

  private func constraints(_ state: DevState) throws -> NameConstraints {
    try #require(try Certificate(pem: state.authorityPEM).constraints)
  }

  @Test func itIsLimitedToTheNamesOfItsServers() throws {
    let folder = try TemporaryFolder()
    let state = try DevState.prepare(folder.state, .init(names: ["push.example", "*.corp.example", "10.0.0.7"]), now: now)
    let constraints = try constraints(state)
    for name in try ServerCertificates.standardNames + Certificate(pem: state.identity.certificatePEM).names {
      #expect(constraints.permits(name), "\(name)")
    }
    for name in ["google.com", "apple.com", "com", "10.0.0.8", "example"] { #expect(!constraints.permits(name), "\(name)") }
    #expect(state.notes.isEmpty)
  }

  /// A name that comes later has the authority's certificate made anew, with the same key, and that is said.
  @Test func aLaterNameIsTold() throws {
    let folder = try TemporaryFolder()
    let first = try DevState.prepare(folder.state, now: now)
    let second = try DevState.prepare(folder.state, .init(names: ["localhost", "push.example"]), now: now)
    #expect(second.notes.count == 1)
    #expect(second.notes.first?.contains("may sign for push.example; clients that have the one before need this one") == true)
    #expect(try constraints(second).permits("push.example") && constraints(second).permits("gateway"))
    #expect(try second.authority?.key.pem() == first.authority?.key.pem())
    #expect(try Files.read(folder.state.file("ca.pem")) == second.authorityPEM)
    // What the servers of the folder trust each other by stays, whatever is added.
    #expect(second.peerAuthorityPEM == first.peerAuthorityPEM)
    let peer = try Certificate(pem: first.peerAuthorityPEM)
    #expect(try peer.constraints == nil && peer.commonName == Certificate(pem: first.authorityPEM).commonName)
    #expect(try Certificate(pem: second.identity.certificatePEM).isSigned(by: peer))
  }

  /// A folder of an earlier build, whose authority may sign for any name.
  private func earlyFolder() throws -> (TemporaryFolder, CertificateAuthority) {
    let folder = try TemporaryFolder()
    try folder.state.make()
    let early = try CertificateAuthority.make(commonName: "widgetpush dev CA 0a1b2c", now: now, days: 3650)
    try Files.write(try early.certificate.pem(), to: folder.state.file("ca.pem"), mode: 0o644)
    try Files.write(try early.key.pem(), to: folder.state.file("ca.key"), mode: 0o600)
    return (folder, early)
  }

  /// One of an earlier build may sign for any name.
  @Test func oneWithoutALimitIsMadeAnew() throws {
    let (folder, early) = try earlyFolder()
    let leaf = try early.issue(names: ServerCertificates.standardNames + ["push.example"], now: now, days: 397)
    try Files.write(try leaf.certificate.pem(), to: folder.state.file("server.pem"), mode: 0o644)
    try Files.write(try leaf.key.pem(), to: folder.state.file("server.key"), mode: 0o600)
    let state = try DevState.prepare(folder.state, now: now)
    #expect(state.notes.count == 1 && state.notes[0].contains("limited to the names of these servers"), "\(state.notes)")
    #expect(try constraints(state).permits("push.example") && !constraints(state).permits("google.com"))
    #expect(try Certificate(pem: state.authorityPEM).commonName == "widgetpush dev CA 0a1b2c")
    #expect(try Certificate(pem: state.identity.certificatePEM).isSigned(by: early.certificate), "clients may go on with the one before")
    #expect(try DevState.prepare(folder.state, now: now).notes.isEmpty)
  }

  /// Whoever only makes a client certificate is told as well.
  @Test func aClientCertificateTellsIt() throws {
    let (folder, early) = try earlyFolder()
    let (authority, notes) = try ServerCertificates.authority(of: folder.state, now: now)
    #expect(try authority?.key.pem() == early.key.pem())
    #expect(notes.count == 1 && notes[0].contains("was made anew with the same key"), "\(notes)")
    #expect(try ServerCertificates.authority(of: folder.state, now: now).notes.isEmpty)
  }

  /// An authority that people have put there themselves is theirs.
  @Test func anotherOnesAuthorityStaysAsItIs() throws {
    let folder = try TemporaryFolder()
    try folder.state.make()
    let own = try CertificateAuthority.make(commonName: "Corporate CA", now: now, days: 3650)
    try Files.write(try own.certificate.pem(), to: folder.state.file("ca.pem"), mode: 0o644)
    try Files.write(try own.key.pem(), to: folder.state.file("ca.key"), mode: 0o600)
    let state = try DevState.prepare(folder.state, .init(names: ["push.example"]), now: now)
    #expect(try state.authorityPEM == own.certificate.pem() && state.notes.isEmpty)
    let narrow = try CertificateAuthority.make(
      commonName: "Corporate CA", constraints: NameConstraints(names: ["corp.example", "127.0.0.1"]), now: now, days: 3650)
    try Files.write(try narrow.certificate.pem(), to: folder.state.file("ca.pem"), mode: 0o644)
    try Files.write(try narrow.key.pem(), to: folder.state.file("ca.key"), mode: 0o600)
    #expect(try DevState.prepare(folder.state, now: now).notes.first?.contains("may not sign for localhost") == true)
  }

  @Test func aMachineHasItsOwnNames() {
    #expect(AuthorityFile.names(ofMachine: "Kate.corp.example") == ["kate.corp.example", "kate", "kate.local"])
    #expect(AuthorityFile.names(ofMachine: "kate") == ["kate", "kate.local"])
    #expect(AuthorityFile.names(ofMachine: "not a name") == [])
    #expect(AuthorityFile.names(ofMachine: "fe80::1") == ["fe80::1"], "an address has no local name")
    #expect(AuthorityFile.names(ofMachine: "kate.").allSatisfy(CertificateAuthority.canName))
  }

  @Test func leavesAreMadeForOurNamesAlone() throws {
    let folder = try TemporaryFolder()
    let state = try DevState.prepare(folder.state, .init(names: ["*.corp.example"]), now: now)
    let told = Told()
    let now = now
    let mint = try #require(try LeafMint(state, clock: { now }) { told.add($0) })
    for name in ["localhost", "API.push.apple.com", "x.corp.example", "", "a b", "*.example.com", "..", String(repeating: "a", count: 300)]
    {
      #expect(mint.identity(for: name) == nil, "\(name)")
    }
    #expect(told.all.isEmpty)
    let first = try #require(mint.identity(for: "host0.localhost"))
    #expect(mint.identity(for: "HOST0.localhost") === first)
    #expect(mint.identity(for: "gateway.push.apple.com") != nil)
    for _ in 0..<2 { for name in ["google.com", "x.y.corp.example", "evilpush.apple.com"] { #expect(mint.identity(for: name) == nil) } }
    #expect(told.all.count == 3 && told.all[0].contains("google.com") && told.all[0].contains("--san google.com"), "\(told.all)")
    // The oldest goes.
    for index in 1..<Limits.leafNames { #expect(mint.identity(for: "host\(index).localhost") != nil) }
    let last = try #require(mint.identity(for: "host\(Limits.leafNames - 1).localhost"))
    #expect(mint.identity(for: "host\(Limits.leafNames - 1).localhost") === last)
    #expect(mint.identity(for: "host0.localhost") !== first)
    for index in 0..<2 * Limits.leafNames { #expect(mint.identity(for: "host\(index).example") == nil) }
    #expect(told.all.count == Limits.leafNames)
  }
}

/// What somebody was told.
private final class Told: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}
