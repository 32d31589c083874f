import Control
import Faults
import Gateway
import JSON
import Primitives
import Push
import Reactor
import Storage
import Synchronization
import Telemetry
import Testing

/// A value that any thread may change.
final class Box<Value: Sendable>: Sendable {
  private let storage: Mutex<Value>
  init(_ value: Value) { storage = Mutex(value) }
  var value: Value {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
  func change(_ body: (inout sending Value) -> Void) { storage.withLock { body(&$0) } }
}

/// The control API over a store in memory, with access tokens of every scope and of two apps, and a clock that stands still.
final class APIStage: Sendable {
  static let bundle = "com.example.app"
  static let other = "com.example.other"

  let now = Box(Instant(unixSeconds: 1_800_000_000))
  let obstacles = Box<[String]>([])
  let store: Store
  let faults = FaultBook()
  let api: ControlAPI
  let parts: ControlAPI.Parts
  let authorizer: Authorizer
  let table: RouteTable
  private let delivered: Box<[Batch]>

  init(
    devFiles: DevFiles? = DevFiles(authorityPEM: "CA", credentialsJSON: "{}", providerKeyPEM: "KEY"),
    _ configure: (inout StoreSettings) -> Void = { _ in }
  ) throws {
    let (now, obstacles) = (now, obstacles)
    let delivered = Box<[Batch]>([])
    self.delivered = delivered
    let apps = AppDirectory(
      [Self.bundle, Self.other].map { AppDirectory.App(bundleID: $0, developmentUpstream: "device") })
    var settings = StoreSettings()
    settings.registrations = 10_000
    settings.logEntries = 4096
    configure(&settings)
    store = try Store(
      engine: MemoryEngine(), apps: apps, loops: 1, settings: settings, clock: { Moment(now.value) }, resolveUpstream: { _, _, _ in 1 },
      deliver: { _, batch in delivered.change { $0.append(batch) } })
    let counter = Counter("pushes_total", help: "Pushes.")
    counter.add(3)
    var parts = ControlAPI.Parts(
      store: store, apps: apps, upstreams: ["device", "apple"], metrics: [counter], version: "1.2.3",
      obstacles: { obstacles.value }, devFiles: devFiles, clock: ClockDriver(real: { now.value }))
    parts.faults = faults
    self.parts = parts
    api = ControlAPI(parts)
    var tokens = AccessScope.allCases.map { AccessToken(name: $0.rawValue, scopes: [$0], secret: $0.rawValue) }
    tokens += [Self.bundle, Self.other].map {
      AccessToken(name: $0, scopes: Set(AccessScope.allCases), bundleIDs: [$0], secret: $0)
    }
    authorizer = Authorizer(AccessTokens(tokens))
    table = RouteTable(api.routes, authorizer: authorizer, now: { now.value })
  }

  deinit { store.stop() }

  /// An answer: its status and its body, as JSON where it is.
  struct Answer {
    let status: Int
    let text: String
    let fields: HTTPFields
    var json: JSONValue { (try? JSONValue.parse(text)) ?? .null }
    var message: String { json["error"]?["message"]?.stringValue ?? "" }
    var field: String? { json["error"]?["field"]?.stringValue }
  }

  func call(
    _ method: HTTPMethod, _ target: String, as secret: String? = "admin", _ body: JSONValue? = nil, text: String? = nil,
    face: HTTPRequest.Face = .tls, host: String = "gateway", peer: String = "127.0.0.1:5000", fields further: [String: String] = [:]
  ) async throws -> Answer {
    var fields: HTTPFields = secret.map { ["authorization": "Bearer \($0)"] } ?? [:]
    for (name, value) in further { fields.append(name, value) }
    let request = try HTTPRequest(
      method: method, target: target, fields: fields, authority: host, body: Array((text ?? body?.serialized() ?? "").utf8),
      peer: SocketAddress(peer), face: face)
    let response = await table.respond(to: request)
    return Answer(status: response.status, text: String(decoding: response.body, as: UTF8.self), fields: response.fields)
  }

  static func token(_ number: Int) -> String {
    String(repeating: "a5", count: 30) + Hexadecimal.encode([UInt8(number >> 8), UInt8(number & 255)])
  }

  static func id(_ number: Int) -> PushID { PushID(high: 0xFEED, low: UInt64(number)) }

  func register(_ number: Int, _ type: String = "widgets", bundle: String = APIStage.bundle) async throws {
    let answer = try await call(
      .put, "/v1/registrations/\(Self.token(number))", ["type": .string(type), "bundleID": .string(bundle), "environment": "development"])
    try #require(answer.status == 201, "\(answer.text)")
  }

  /// Has the store settle a batch, and gives back what came of it.
  @discardableResult func settle(_ fill: (Batch) -> Void) async throws -> Batch {
    let batch = store.makeBatch()
    fill(batch)
    #expect(store.submit(batch, from: 0))
    // A question is answered after what was handed in before it.
    for _ in 0..<1000 where !delivered.value.contains(where: { $0 === batch }) { _ = try await store.push(Self.id(0)) }
    delivered.change { $0.removeAll { $0 === batch } }
    return batch
  }

  /// A push that reaches the store.
  @discardableResult func push(
    _ id: Int, to token: Int = 1, _ type: PushType = .widgets, bundle: String = APIStage.bundle
  ) async throws -> Batch {
    let received = now.value
    return try await settle { batch in
      batch.admits.append(
        AdmitOperation(
          reply: 0, id: Self.id(id), token: DeviceToken(hex: Self.token(token))!, type: type, traits: .reload,
          warnings: PushWarnings(.customKeys), received: received, topic: batch.append("\(bundle)\(type.topicSuffix)"),
          bundleID: batch.append(bundle), payload: batch.append("{}")))
    }
  }

  /// A push that the rules refused.
  func refuse(
    _ id: Int, _ reason: Reason, token: Int? = nil, bundle: String = APIStage.bundle, isAppKnown: Bool = true, detail: String = ""
  ) async throws {
    let received = now.value
    try await settle { batch in
      batch.refusals.append(
        RefusedOperation(
          id: Self.id(id), token: token.flatMap { DeviceToken(hex: Self.token($0)) }, type: .widgets, bundleID: batch.append(bundle),
          isAppKnown: isAppKnown, reason: reason, detail: batch.append(detail), received: received))
    }
  }
}
