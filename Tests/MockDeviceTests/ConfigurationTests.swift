import Configuration
import JSON
import Primitives
import Reactor
import Security
import Telemetry
import Testing

@testable import MockDevice

@Suite("What a mock device refuses to start with") struct DeviceConfigurationTests {
  private func configuration() throws -> DeviceConfiguration {
    let now = TestClock().now
    let leaf = try CertificateAuthority.make(commonName: "test", now: now, days: 1).issue(names: ["localhost"], now: now, days: 1)
    var configuration = DeviceConfiguration()
    configuration.port = 0
    configuration.identity = ServerIdentity(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
    return configuration
  }

  private func failure(_ change: (inout DeviceConfiguration) throws -> Void) throws -> String? {
    var configuration = try configuration()
    try change(&configuration)
    let log = Log(format: .text, clock: { Instant(unixSeconds: 0) }, sink: { _ in })
    do {
      _ = try Device(configuration, Device.Surroundings(version: "test", log: log) { Instant(unixSeconds: 1_796_000_000) })
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func nothingIsMissing() throws {
    let failure = try failure { _ in }
    #expect(failure == nil)
  }

  @Test func identityIsMissing() throws {
    let failure = try failure { $0.identity = nil }
    #expect(failure?.contains("tls.certificateFile and tls.keyFile are missing") == true)
  }

  @Test func accessTokenOfTheGatewayIsMissing() throws {
    let failure = try failure { $0.gateway = DeviceConfiguration.Gateway(url: "https://localhost:1", accessToken: nil) }
    #expect(failure?.contains("gateway.accessToken is missing") == true)
  }

  @Test func devicesAreWrong() throws {
    let unknown = try failure { $0.devices = [["name": "phone", "plattform": "iOS"]] }
    #expect(unknown?.contains("devices[0].plattform is not a known field") == true)
    let impossible = try failure {
      $0.devices = [["name": "phone", "apps": [["bundleID": "x", "controls": [["kind": "K", "id": "i"], ["kind": "K", "id": "i"]]]]]]
    }
    #expect(impossible == "device phone: phone has an item with the id i already")
  }

  @Test func providerKeyIsUnreadable() throws {
    let failure = try failure { $0.providers = [ProviderKey(keyID: "K", teamID: "T", keyPEM: "no key")] }
    #expect(failure?.contains("not a public key in PEM form") == true)
  }

  @Test func portIsTaken() throws {
    let taken = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))[0]
    let failure = try failure { $0.port = taken.address.port }
    #expect(
      failure
        == "--device-port: cannot listen on \(taken.address): another program listens there; choose a free port, or 0 for any")
    let nowhere = try self.failure { $0.bind = "localhost" }
    #expect(nowhere?.hasPrefix("--bind: localhost is not an IP address") == true)
  }
}
