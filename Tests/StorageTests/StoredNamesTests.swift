import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// Names that are not taken any more, since they would steer a terminal, may be in a store that an earlier version has written: all of it is
/// read as it was.
@Suite("Names that were stored") struct StoredNamesTests {
  /// A name with each of these in it: the end of a C string, those of lines, an escape sequence, C1 controls, and what turns the direction.
  private static func name(_ what: String) -> String { "\u{0}\(what)\r\n\u{1B}[2J\u{7}\u{7F}\u{9B}\u{202E}\(what)\u{2066}\u{0}" }
  private static let bundle = name("bundle")

  private static var registrations: [Registration] {
    [TokenKind.widgets, .controls, .pushToStart, .liveactivity].enumerated().map { number, kind in
      var registration = Bench.registration(number, kind)
      registration.bundleID = bundle
      (registration.user, registration.device) = (name("user"), name("device"))
      (registration.upstream, registration.platform) = (name("upstream"), name("platform"))
      switch kind {
      case .widgets: registration.widgets = [.init(id: name("id"), kind: name("kind"), family: name("family"))]
      case .controls: registration.controlKind = name("control")
      case .liveactivity: registration.activity = .init(id: name("activity"), attributesType: name("type"))
      default: break
      }
      return registration
    }
  }

  /// Everything that has such a name in it.
  private func fill(_ bench: Bench) throws {
    for registration in Self.registrations { try bench.register(registration) }
    for (number, type) in [PushType.widgets, .controls].enumerated() { try bench.push(number, to: number, type, bundleID: Self.bundle) }
    try bench.complete(.finished(.applied, .reloaded), token: 0, detail: Self.name("detail"))
    try bench.push(2, to: 0, bundleID: Self.bundle)
    let batch = Batch()
    batch.refusals.append(
      RefusedOperation(
        id: Bench.id(3), token: Bench.token(0), type: .widgets, bundleID: batch.append(Self.bundle), reason: .badTopic,
        detail: batch.append(Self.name("refusal")), received: bench.now))
    try bench.settle(batch)
    _ = try bench.beginReload(reload)
    let answer = bench.state.show(
      ActivityRequest(
        bundleID: Self.bundle, name: Self.name("order"), target: .user(Self.name("user")), attributesType: Self.name("type"),
        content: .init(state: #"{"v":1}"#, alert: "{}")), [], at: bench.now)
    #expect(answer == .begun)
    try bench.commit()
  }

  private var reload: ReloadRequest {
    ReloadRequest(
      selector: ReloadSelector(
        bundleID: Self.bundle, kinds: [Self.name("kind")], controls: [Self.name("control")], users: [Self.name("user")],
        devices: [Self.name("device")]),
      key: Self.name("key"), caller: Self.name("caller"))
  }

  @Test(arguments: [false, true]) func areReadAsTheyWere(isFolded: Bool) throws {
    let folder = Folder()
    defer { folder.remove() }
    let engine = try SQLiteEngine(path: folder.store)
    let first = try Bench(engine: engine) { $0.refusedEntries = 100 }
    first.refusedBytes = .max
    try fill(first)
    if isFolded { try first.fold() }
    let (before, records) = (first.state.durable(), first.state.page(PushQuery()).pushes)
    #expect(records.count == 4)
    engine.close()

    let again = try SQLiteEngine(path: folder.store)
    defer { again.close() }
    let second = try Bench(engine: again)
    #expect(second.state.durable() == before)
    #expect(second.state.page(PushQuery()).pushes.map(\.id) == records.map(\.id))
    #expect(second.state.page(PushQuery()).pushes.allSatisfy { $0.bundleID == Self.bundle })
    #expect(second.record(0)?.detail == Self.name("detail") && second.record(3)?.detail == Self.name("refusal"))
    for registration in Self.registrations { #expect(try again.registration(registration.token)?.0 == registration) }
    // They are found by these names, too.
    let queries = [
      RegistrationQuery(bundleID: Self.bundle), RegistrationQuery(user: Self.name("user")), RegistrationQuery(device: Self.name("device")),
      RegistrationQuery(visibleBundleIDs: [Self.bundle]),
    ]
    for query in queries { #expect(try again.registrations(query).map(\.0) == Self.registrations) }
    #expect(try again.registrations(RegistrationQuery(user: "\u{0}")).isEmpty, "a name does not end where a C string would")
    let activity = try #require(second.state.errands.activities.number(Self.bundle, Self.name("order")))
    #expect(second.state.errands.activities[activity]?.target == .user(Self.name("user")))
    #expect(second.state.errands.activities[activity]?.attributesType == Self.name("type"))
    // The reload goes on where it was.
    let number = try #require(second.state.errands.reloads.keys.first)
    #expect(second.reload(number).request == reload)
    try second.finish(number)
    #expect(second.reload(number).state == .finished && second.reload(number).matches == 2)
  }
}
