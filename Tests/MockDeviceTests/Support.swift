import Configuration
import Control
import DeviceModel
import Foundation
import HTTPClient
import JSON
import Primitives
import Push
import Reactor
import Security
import Synchronization
import Telemetry
import Testing

@testable import MockDevice

/// A mock device with one provider key and two access tokens.
struct DeviceUnderTest {
  let device: Device
  let signer: ProviderTokenSigner
  let authority: CertificateAuthority
  /// Lets the product's time run ahead of the machine's.
  let clock = TestClock()

  static let app = "com.example.app"

  /// A device that is started, with `devices` as a configuration file has them.
  ///
  /// - Parameters:
  ///   - hold: How long a push is held at most; by default longer than a loaded machine keeps a gateway from answering.
  ///   - log: Takes the lines of its log.
  init(
    devices: JSONValue? = nil, gateway: DeviceConfiguration.Gateway? = nil, hold: TimeSpan = .seconds(60),
    log: (@Sendable (String) -> Void)? = nil, findGateway: (@Sendable () -> GatewayWhereabouts)? = nil
  ) throws {
    let now = clock.now
    let key = try P256PrivateKey.generate()
    signer = try ProviderTokenSigner(teamID: "TEAM123456", keyID: "KEY1234567", key: key)
    authority = try CertificateAuthority.make(commonName: "mock device test", now: now, days: 1)
    let leaf = try authority.issue(names: ["localhost", "127.0.0.1"], now: now, days: 1)
    var configuration = DeviceConfiguration()
    configuration.port = 0
    configuration.identity = ServerIdentity(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
    configuration.providers = [ProviderKey(keyID: "KEY1234567", teamID: "TEAM123456", keyPEM: try key.publicKey.pem())]
    configuration.accessTokens = [
      AccessTokenSettings(name: "all", scopes: ["admin"], secret: .text("admin")),
      AccessTokenSettings(name: "look", scopes: ["read"], secret: .text("read")),
      AccessTokenSettings(name: "one app", scopes: ["admin"], bundleIDs: [Self.app], secret: .text("one")),
    ]
    configuration.gateway = gateway
    configuration.devices = devices
    let clock = clock
    let log = Log(format: .text, level: log == nil ? .error : .info, clock: { clock.now }, sink: log ?? { _ in })
    var surroundings = Device.Surroundings(version: "test", log: log) { clock.now }
    surroundings.hold = hold
    surroundings.findGateway = findGateway
    device = try Device(configuration, surroundings)
    try device.start()
  }

  /// Calls the API without a socket.
  func call(_ method: HTTPMethod, _ target: String, _ body: JSONValue? = nil, access: String? = "admin") async throws -> (
    status: Int, json: JSONValue
  ) {
    var fields: HTTPFields = [:]
    if let access { fields.append("authorization", "Bearer \(access)") }
    let request = try HTTPRequest(
      method: method, target: target, fields: fields, body: body.map { Array($0.serialized().utf8) } ?? [])
    let response = await device.respond(to: request)
    return (response.status, response.body.isEmpty ? .null : try JSONValue.parse(response.body))
  }

  /// Returns once somebody waits at the device for something to happen.
  func untilSomebodyWaits() async throws {
    while try await Reply<Int>.waiting({ reply in device.door.leave { reply.answer(.success($0.waiterCount)) } }) == 0 {
      await Task.yield()
    }
  }

  /// The fields of a push as the gateway sends them.
  func pushFields(
    _ type: PushType, bundleID: String = app, id: String = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
  ) throws -> [(String, String)] {
    [
      ("authorization", "bearer \(try signer.token(now: clock.now))"), ("apns-id", id), ("apns-push-type", type.description),
      ("apns-topic", bundleID + type.topicSuffix.description), ("apns-priority", "10"), ("apns-expiration", "0"),
    ]
  }

  /// Pushes without a socket.
  func push(
    _ payload: String, to token: String, _ type: PushType, bundleID: String = app,
    id: String = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
  ) async throws -> HTTPResponse {
    var fields: HTTPFields = [:]
    for (name, value) in try pushFields(type, bundleID: bundleID, id: id) { fields.append(name, value) }
    return await device.respond(
      to: try HTTPRequest(method: .post, target: "/3/device/\(token)", fields: fields, body: Array(payload.utf8)))
  }
}

/// The machine's clock with an offset.
final class TestClock: Sendable {
  private let offset = Mutex<TimeSpan>(.zero)

  var now: Instant {
    Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)) + offset.withLock { $0 }
  }

  func advance(_ span: TimeSpan) { offset.withLock { $0 = $0 + span } }
}

/// A clock for timers that stands still unless it is moved.
final class HandClock: Sendable {
  private let nanoseconds = Mutex<Int64>(1_000_000_000)

  var uptime: Uptime { Uptime(nanoseconds: nanoseconds.withLock { $0 }) }

  func advance(_ span: TimeSpan) { nanoseconds.withLock { $0 += span.nanoseconds } }
}

/// The payload nearly every sender writes.
let contentChanged = #"{"aps":{"content-changed":true}}"#
