import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// What APNs does for a device that is away, which keeps one push for each collapse id.
@Suite("Collapse ids") struct CollapseTests {
  private static let start = PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true)
  private static let alert = PushTraits(lane: .keep, hasAlert: true)
  private static func alerting(_ timestamp: Int64) -> PushTraits {
    PushTraits(lane: .keep, activity: .update, hasContentState: true, hasAlert: true, timestamp: timestamp)
  }

  /// A token whose push 0 has found no upstream, so that what comes next waits.
  private func away(_ kind: TokenKind, _ type: PushType, _ traits: PushTraits? = nil) throws -> Bench {
    let bench = try Bench()
    try bench.register(Bench.registration(1, kind))
    try bench.push(0, type, traits: traits)
    return bench
  }

  /// Two starts for one order are one activity, and cost what one costs.
  @Test func aStartTakesThePlaceOfOneThatWaits() throws {
    let bench = try away(.pushToStart, .liveactivity, Self.start)
    func credits() -> Int? { bench.budgets(Bench.registration(1, .pushToStart))?.first?.remaining }
    let before = try #require(credits())
    try bench.push(1, .liveactivity, traits: Self.start, collapseID: "order-42")
    try bench.push(2, .liveactivity, traits: Self.start, collapseID: "order-43")
    try bench.push(3, .liveactivity, traits: Self.start, collapseID: "order-42")
    #expect(bench.record(1)?.disposition == .merged && bench.record(1)?.cause == .supersededByNewer)
    #expect(bench.record(1)?.mergedInto == Bench.id(3))
    for _ in 0..<3 { try bench.complete(.finished(.applied, .started)) }
    #expect(bench.forwarded.map(\.push.id) == [0, 2, 3].map(Bench.id))
    #expect(credits() == before - 2, "one start, one credit")
  }

  /// What was paid for one that failed is not paid again for the one that takes its place.
  @Test func aStartThatWasPaidForPaysForTheNewer() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .pushToStart))
    try bench.push(0, .liveactivity, traits: Self.start, collapseID: "order-42")
    let paid = try #require(bench.budgets(Bench.registration(1, .pushToStart))?.first?.remaining)
    try bench.complete(.retry(.upstreamUnavailable))
    try bench.push(1, .liveactivity, traits: Self.start, collapseID: "order-42")
    #expect(bench.record(0)?.cause == .supersededByNewer)
    try bench.advance(to: bench.now + .seconds(1))
    #expect(bench.record(1)?.disposition == .forwarding)
    #expect(bench.budgets(Bench.registration(1, .pushToStart))?.first?.remaining == paid)
  }

  /// One that is in flight when the newer comes gives way only where its attempt fails.
  @Test func oneThatFailsGivesWayToOneThatWaits() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert, traits: Self.alert, collapseID: "score")
    try bench.push(1, .alert, traits: Self.alert, collapseID: "score")
    try bench.complete(.retry(.upstreamUnavailable))
    #expect(bench.record(0)?.cause == .supersededByNewer && bench.record(1)?.disposition == .waiting)
    try bench.advance(to: bench.now + .seconds(1))
    #expect(bench.forwarded.map(\.push.id) == [0, 1].map(Bench.id))
  }

  @Test func alertsAndBackgroundPushesGiveWayToTheirOwnKind() throws {
    let bench = try away(.app, .alert, Self.alert)
    try bench.push(1, .alert, traits: Self.alert, collapseID: "score")
    try bench.push(2, .background, collapseID: "score")
    #expect(bench.record(1)?.disposition == .waiting, "a background push shows nothing, so it stands for no alert")
    try bench.push(3, .alert, traits: Self.alert, collapseID: "score")
    try bench.push(4, .background, collapseID: "score")
    try bench.push(5, .alert, traits: Self.alert, collapseID: "news")
    try bench.push(6, .alert, traits: Self.alert)
    try bench.push(7, .alert, traits: Self.alert)
    #expect((1...7).filter { bench.record($0)?.disposition == .merged } == [1, 2])
    #expect(bench.record(2)?.mergedInto == Bench.id(4))
  }

  @Test func anEndNeverGivesWayAndNoReloadIsLost() throws {
    let activity = try away(.liveactivity, .liveactivity, Self.alerting(1))
    for (id, traits) in [
      PushTraits(lane: .keep, activity: .end), PushTraits(lane: .activityEndWithState, activity: .end, hasContentState: true),
      Self.alerting(9), Self.alerting(8), Self.alerting(9),
    ].enumerated() { try activity.push(id + 1, .liveactivity, traits: traits, collapseID: "ride") }
    #expect((1...5).filter { activity.record($0)?.disposition == .merged } == [3, 4], "and no update gives way to an older state")
    let widgets = try away(.widgets, .widgets)
    try widgets.push(1, collapseID: "steps")
    try widgets.push(2, .widgets, traits: PushTraits(lane: .keep), collapseID: "steps")
    #expect(widgets.record(1)?.disposition == .waiting)
    try widgets.push(3, collapseID: "other")
    #expect(widgets.record(3)?.mergedInto == Bench.id(1), "one reload is as good as another")
  }

  @Test func aFullLaneTakesWhatTakesAPlace() throws {
    let bench = try Bench { $0.lanePushes = 2 }
    try bench.register(Bench.registration(1, .app))
    for id in 0...2 { try bench.push(id, .alert, traits: Self.alert, collapseID: "\(id)") }
    #expect(try bench.push(3, .alert, traits: Self.alert) == .refused(.tooManyRequests, .laneFull))
    #expect(try bench.push(4, .alert, traits: Self.alert, collapseID: "2") == .waiting(due: nil, .inFlight))
    #expect(bench.record(2)?.mergedInto == Bench.id(4))
  }

  /// The log tells the collapse id of every push, through crashes and folding, beside its warnings' details.
  @Test(arguments: [false, true], [false, true]) func theLogTellsIt(sqlite: Bool, isFolded: Bool) throws {
    let folder = Folder()
    defer { folder.remove() }
    let bench = try Bench(engine: sqlite ? try SQLiteEngine(path: folder.store) : MemoryEngine())
    defer { bench.engine.close() }
    try bench.register(Bench.registration(1))
    let ids = ["steps", "steps", "", String(repeating: "é", count: 32)]
    for (id, collapseID) in ids.enumerated() { try bench.push(id, collapseID: collapseID) }
    let details = [WarningDetail(.unusedAPSKeys, field: "aps.sound", detail: "put it at aps.alert.sound")]
    let batch = Batch()
    var operation = Bench.operation(batch, id: 4, token: Bench.token(1), type: .widgets, at: bench.now, collapseID: "warned")
    operation.warnings.insert(.unusedAPSKeys)
    operation.warningDetails = batch.append(WarningDetail.text(of: details))
    batch.admits.append(operation)
    try bench.settle(batch)
    if isFolded { try bench.fold() }
    try bench.complete(.finished(.applied, .reloaded))
    for _ in 0..<2 {
      #expect((0...4).map { bench.record($0)?.collapseID ?? "" } == ids + ["warned"])
      #expect(bench.record(4)?.warningDetails == details && bench.record(0)?.warningDetails == [])
      try bench.crash()
    }
  }

  /// What an earlier version has saved has no collapse id in front.
  @Test func headsOfEarlierVersions() {
    for (text, collapseID, details) in [
      ("unusedAPSKeys\taps.sound\tx", "", "unusedAPSKeys\taps.sound\tx"), ("\0\u{2}ab", "ab", ""), ("\0\u{2}abxy", "ab", "xy"),
      ("", "", ""),
    ] {
      var bytes = Array(text.utf8)
      bytes.withUnsafeMutableBytes { buffer in
        let head = LogHead(UnsafeRawBufferPointer(buffer))
        #expect(String(decoding: head.collapseID, as: UTF8.self) == collapseID)
        #expect(String(decoding: head.warningDetails, as: UTF8.self) == details)
      }
    }
  }
}
