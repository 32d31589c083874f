import Delivery
import Foundation
import Primitives
import Push
import Synchronization
import Testing

@testable import Storage

/// Channels and broadcasts: what is decided, and that it is there again after the end of a process, however it ends.
@Suite("Broadcasts", .timeLimit(.minutes(10))) struct BroadcastTests {
  static let owner = ChannelOwner(bundleID: "com.example.app", environment: .development)
  static let production = ChannelOwner(bundleID: "com.example.app", environment: .production)
  static let payload = Array(#"{"aps":{"event":"update"}}"#.utf8)

  static func channel(_ number: Int) -> ChannelID { ChannelID(high: 0xC4A2, low: UInt64(number)) }

  // MARK: Channels

  @Test func aChannelLivesOnceInOneEnvironment() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    let id = Self.channel(1)
    #expect(await stage.ask(.read(id)) == .refused(.badChannelID))
    #expect(await stage.ask(.create(id, .mostRecent)) == .done)
    #expect(await stage.ask(.read(id)) == .policy(.mostRecent))
    #expect(await stage.ask(.read(id), Self.production) == .refused(.badChannelID))
    #expect(await stage.ask(.delete(id), Self.production) == .refused(.badChannelID))
    #expect(await stage.ask(.create(Self.channel(2), .none)) == .done)
    #expect(await stage.ask(.list) == .channels([id, Self.channel(2)]))
    #expect(await stage.ask(.list, Self.production) == .channels([]))
    #expect(await stage.ask(.delete(id)) == .done)
    #expect(await stage.ask(.delete(id)) == .refused(.channelNotRegistered))
    #expect(await stage.ask(.read(id)) == .refused(.channelNotRegistered))
    #expect(await stage.ask(.create(id, .none)) == .refused(.cannotCreateChannelConfig), "an id is never used again")
    #expect(await stage.ask(.list) == .channels([Self.channel(2)]))
    #expect(await stage.send(1, to: 1) == .refused(.channelNotRegistered))
    #expect(await stage.send(1, to: 9) == .refused(.badChannelID))
  }

  @Test func thereAreTenThousandForAnAppAndEnvironment() {
    var table = ChannelTable()
    var changes: [BroadcastChange] = []
    for number in 0..<Limits.channelsPerApp { #expect(table.create(Self.channel(number), .none, of: Self.owner, &changes)) }
    #expect(!table.create(Self.channel(20_000), .none, of: Self.owner, &changes))
    #expect(table.create(Self.channel(20_000), .none, of: Self.production, &changes))
    if let first = table[Self.channel(0)] { table.delete(first, &changes) }
    #expect(table.create(Self.channel(20_001), .none, of: Self.owner, &changes))
  }

  @Test func theOldestDeletedChannelsAreForgotten() throws {
    var table = ChannelTable(deletedMax: 3000)
    var changes: [BroadcastChange] = []
    for number in 0...3000 {
      #expect(table.create(Self.channel(number), .none, of: Self.owner, &changes))
      table.delete(try #require(table[Self.channel(number)]), &changes)
    }
    #expect(table[Self.channel(0)] == nil)
    #expect(table[Self.channel(1)]?.isDeleted == true)
    #expect(table.liveCount == 0)
  }

  // MARK: Sending

  @Test func aBroadcastGoesOnceToEachUpstream() async throws {
    let stage = try Stage(upstreams: ["lab": 3])
    defer { stage.store.stop() }
    for (number, upstream) in [(1, "lab"), (2, "lab"), (3, nil)] {
      var registration = Bench.registration(number)
      registration.upstream = upstream
      _ = try await stage.store.register(registration)
    }
    #expect(await stage.ask(.create(Self.channel(1), .none)) == .done)
    #expect(await stage.send(1, to: 1) == .done)
    let sent = try await stage.sent(2)
    #expect(Set(sent.map(\.ticket.upstream)) == [0, 3])
    #expect(sent.allSatisfy { $0.payload == Self.payload && $0.channel == Self.channel(1) && $0.id == Bench.id(1) })
    #expect(try await stage.record(1)?.outcome.disposition == .forwarding)
    stage.store.complete(sent[0].ticket, .finished(.applied, .updated), detail: "reached=3 applied=2 one had ended")
    stage.store.complete(sent[1].ticket, .finished(.ignored, .noSubscribers), detail: "reached=0 applied=0")
    let records = try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10))
    let record = try #require(records.first)
    #expect(record.isFinal)
    #expect(record.outcome.disposition == .applied)
    #expect(record.activities?.reached == 3 && record.activities?.applied == 2)
    #expect(record.deliveries.first?.detail == "one had ended")
    #expect(record.steps.map(\.disposition) == [.forwarding, .forwarding, .applied, .ignored])
  }

  /// Against a plain filter, page by page.
  @Test func theListIsNewestFirstAndTakesCriteria() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    let other = ChannelOwner(bundleID: "com.example.other", environment: .development)
    for channel in 1...2 { #expect(await stage.ask(.create(Self.channel(channel), .none)) == .done) }
    #expect(await stage.ask(.create(Self.channel(3), .none), other) == .done)
    for number in 1...30 {
      let channel = number % 3 + 1
      let submission = BroadcastSubmission(
        id: Bench.id(number), channel: Self.channel(channel), expiration: .zero, received: stage.now, payload: Self.payload)
      #expect(await stage.ask(.send(submission), channel == 3 ? other : Self.owner) == .done)
    }
    func ids(_ query: BroadcastQuery) async throws -> [PushID] {
      var (query, found, pages) = (query, [PushID](), 0)
      while true {
        let page = try await stage.store.broadcasts(query)
        #expect(page.records.count <= query.limit && (!page.hasMore || page.records.count == query.limit))
        found += page.records.map(\.id)
        pages += 1
        guard page.hasMore, pages < 40 else { return found }
        query.before = page.records.last?.sequence
      }
    }
    let all = (1...30).reversed().map { ($0, Bench.id($0)) }
    for limit in [1, 7, 10, 30, 100] {
      #expect(try await ids(.init(limit: limit)) == all.map(\.1))
      #expect(try await ids(.init(channel: Self.channel(2), limit: limit)) == all.filter { $0.0 % 3 == 1 }.map(\.1))
      #expect(try await ids(.init(bundleID: "com.example.other", limit: limit)) == all.filter { $0.0 % 3 == 2 }.map(\.1))
      #expect(try await ids(.init(visibleBundleIDs: ["com.example.app"], limit: limit)) == all.filter { $0.0 % 3 != 2 }.map(\.1))
      #expect(try await ids(.init(disposition: .failed, limit: limit)) == [])
    }
    #expect(try await ids(.init(bundleID: "com.example.other", visibleBundleIDs: ["com.example.app"])) == [])
    #expect(try await ids(.init(before: 1)) == [])
    #expect(try await ids(.init(before: .max)).count == 30)
  }

  @Test func aChannelWithoutStorageTakesNoDate() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .none)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(60))) == .refused(.badExpirationDate))
    #expect(await stage.send(1, to: 1, .zero) == .done)
    #expect(try await stage.message(1) == nil)
  }

  @Test func theMostRecentMessageIsKeptForEightHoursAtMost() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(86_400)), payload: [1]) == .done)
    #expect(await stage.send(2, to: 1, .at(stage.now + .seconds(86_400)), payload: [2]) == .done)
    #expect(await stage.send(3, to: 1, .zero, payload: [3]) == .done)
    #expect(try await stage.message(1)?.payload == [2])
    #expect(try await stage.message(1)?.id == Bench.id(2))
    #expect(try await stage.store.storedMessage(Self.channel(1), bundleID: "com.example.other") == nil)
    stage.advance(.seconds(8 * 3600 - 1))
    #expect(try await stage.message(1) != nil)
    stage.advance(.seconds(1))
    #expect(try await stage.message(1) == nil)
  }

  @Test func aBroadcastWaitsForItsUpstreamAndGivesWayToANewerOne() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(3600))) == .done)
    stage.store.complete(try await stage.sent()[0].ticket, .notAttempted(.upstreamUnavailable), detail: "")
    #expect(await stage.ask(.list) == .channels([Self.channel(1)]))
    #expect(try await stage.record(1)?.outcome.disposition == .waiting)
    stage.advance(.seconds(60))
    let again = try await stage.sent()
    #expect(again.map(\.id) == [Bench.id(1)])
    stage.store.complete(again[0].ticket, .retry(.upstreamUnavailable), detail: "")
    #expect(await stage.send(2, to: 1, .at(stage.now + .seconds(3600))) == .done)
    let record = try #require(try await stage.record(1))
    #expect(record.outcome.disposition == .merged)
    #expect(record.mergedInto == Bench.id(2))
    #expect(try await stage.sent().map(\.id) == [Bench.id(2)])
  }

  @Test func withExpirationZeroThereIsOneAttempt() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .none)) == .done)
    #expect(await stage.send(1, to: 1) == .done)
    stage.store.complete(try await stage.sent()[0].ticket, .retry(.upstreamUnavailable), detail: "")
    let records = try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10))
    #expect(records.first?.outcome.disposition == .expired)
  }

  /// So there is with a date that has passed, and nothing is stored.
  @Test func withADateInThePastThereIsOneAttempt() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now - .seconds(60))) == .done)
    let sent = try #require(try await stage.sent().first)
    #expect(try await stage.message(1) == nil)
    stage.store.complete(sent.ticket, .retry(.upstreamUnavailable), detail: "")
    let records = try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10))
    #expect(records.first?.outcome.disposition == .expired)
  }

  @Test func deletingDiscardsNoMessageThatWaits() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(3600))) == .done)
    stage.store.complete(try await stage.sent()[0].ticket, .notAttempted(.upstreamUnavailable), detail: "")
    #expect(await stage.ask(.delete(Self.channel(1))) == .done)
    #expect(try await stage.message(1) == nil, "nobody can begin to follow it any more")
    stage.advance(.seconds(60))
    let again = try await stage.sent()
    #expect(again.map(\.id) == [Bench.id(1)])
    stage.store.complete(try #require(again.first).ticket, .accepted, detail: "")
    #expect(try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10)).first?.outcome.disposition == .accepted)
  }

  @Test func onlySoManyMayBeOnTheirWay() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    for number in 0...Limits.broadcastsPending { #expect(await stage.ask(.create(Self.channel(number), .none)) == .done) }
    for number in 0..<Limits.broadcastsPending { #expect(await stage.send(number, to: number) == .done) }
    #expect(await stage.send(5000, to: Limits.broadcastsPending) == .refused(.tooManyRequests))
    let sent = try await stage.sent(Limits.broadcastsPending)
    stage.store.complete(try #require(sent.first).ticket, .accepted, detail: "")
    #expect(await stage.send(5000, to: Limits.broadcastsPending) == .done)
  }

  /// What was undone with a commit and sent again, or was answered late, is settled once.
  @Test func anOutcomeThatIsLostLetsTheBroadcastGoAgain() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(3600))) == .done)
    let first = try await stage.sent()
    stage.advance(.milliseconds(2 * Limits.upstreamAnswerMilliseconds))
    let second = try await stage.sent()
    #expect(second.map(\.ticket) == first.map(\.ticket))
    stage.store.complete(second[0].ticket, .finished(.applied, .updated), detail: "reached=1 applied=1")
    stage.store.complete(first[0].ticket, .refused(status: 500, nil), detail: "")
    let record = try #require(try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10)).first)
    #expect(record.outcome.disposition == .applied && record.deliveries.first?.attempts == 2)
  }

  @Test func anUpstreamThatRefusesFailsTheBroadcast() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .none)) == .done)
    #expect(await stage.send(1, to: 1) == .done)
    stage.store.complete(try await stage.sent()[0].ticket, .refused(status: 400, .badChannelID), detail: "")
    let record = try #require(try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10)).first)
    #expect(record.outcome.disposition == .failed)
    #expect(record.deliveries.first?.detail == "400 BadChannelId" && record.outcome.cause == .upstreamRefused)
  }

  @Test func aChannelOfApplesIsAdopted() async throws {
    var policy = AppPolicy()
    policy.unknownTokens = .adopt
    let stage = try Stage(MemoryEngine(), policy)
    defer { stage.store.stop() }
    #expect(await stage.send(1, to: 7) == .done)
    #expect(await stage.ask(.read(Self.channel(7))) == .policy(.mostRecent))
    #expect(await stage.ask(.delete(Self.channel(7))) == .done)
    #expect(await stage.send(2, to: 7) == .refused(.channelNotRegistered))
  }

  // MARK: Durability

  @Test(arguments: [false, true]) func everythingIsThereAgain(onDisk: Bool) async throws {
    let folder = Folder()
    defer { folder.remove() }
    let memory = MemoryEngine()
    func open() throws -> Stage { try Stage(onDisk ? try SQLiteEngine(path: folder.store) : memory) }
    var stage = try open()
    let date = Expiration.at(stage.now + .seconds(3600))
    for number in 1...3 { #expect(await stage.ask(.create(Self.channel(number), .mostRecent)) == .done) }
    #expect(await stage.ask(.delete(Self.channel(2))) == .done)
    #expect(await stage.send(1, to: 1, date) == .done)
    #expect(await stage.send(2, to: 3, date, payload: [7]) == .done)
    let sent = try await stage.sent(2)
    stage.store.complete(
      try #require(sent.first { $0.id == Bench.id(1) }).ticket, .finished(.applied, .updated), detail: "reached=2 applied=2")
    let before = try #require(try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10)).first)
    stage.store.stop()

    stage = try open()
    #expect(await stage.ask(.list) == .channels([Self.channel(1), Self.channel(3)]))
    #expect(await stage.ask(.read(Self.channel(2))) == .refused(.channelNotRegistered))
    #expect(await stage.ask(.create(Self.channel(2), .none)) == .refused(.cannotCreateChannelConfig))
    #expect(try await stage.record(1) == before)
    #expect(try await stage.message(3)?.payload == [7])
    // What was on its way goes again.
    let again = try await stage.sent()
    #expect(again.map(\.id) == [Bench.id(2)] && again.map(\.payload) == [[7]])
    #expect(await stage.send(3, to: 1) == .done)
    #expect(try await stage.record(3)?.sequence == 3)
    stage.store.stop()
  }

  @Test func aFailedCommitLeavesNothing() async throws {
    let engine = FailingEngine(MemoryEngine())
    let stage = try Stage(engine)
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .none)) == .done)
    engine.failure = .engine("the disk is full")
    #expect(await stage.ask(.create(Self.channel(2), .none)) == .refused(.serviceUnavailable))
    #expect(await stage.send(1, to: 1) == .refused(.serviceUnavailable))
    engine.failure = nil
    stage.advance(.seconds(2))
    #expect(await stage.ask(.list) == .channels([Self.channel(1)]))
    #expect(try await stage.sent(0).isEmpty)
    #expect(try await stage.record(1) == nil)
  }

  @Test func nothingAcknowledgedIsLostToAKill() async throws {
    let folder = Folder()
    defer { folder.remove() }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      let stage = try Stage(try SQLiteEngine(path: path + "/store.db"))
      for number in 0..<50 {
        guard await stage.ask(.create(BroadcastTests.channel(number), .mostRecent)) == .done else { exit(1) }
        guard await stage.send(number, to: number, .at(stage.now + .seconds(3600))) == .done else { exit(1) }
      }
      for number in 0..<25 { _ = await stage.ask(.delete(BroadcastTests.channel(number))) }
      kill(getpid(), SIGKILL)
    }
    let stage = try Stage(try SQLiteEngine(path: folder.store))
    defer { stage.store.stop() }
    #expect(await stage.ask(.list) == .channels((25..<50).map(Self.channel)))
    #expect(await stage.send(100, to: 3) == .refused(.channelNotRegistered))
    for number in 25..<50 { #expect(try await stage.message(number)?.payload == Self.payload) }
    #expect(Set(try await stage.sent(50).map(\.id)) == Set((0..<50).map(Bench.id)))
  }

  /// A store of the version before broadcasts opens, with what it held.
  @Test func aStoreWithoutBroadcastsIsTakenOver() async throws {
    let folder = Folder()
    defer { folder.remove() }
    do {
      let stage = try Stage(try SQLiteEngine(path: folder.store))
      _ = try await stage.store.register(Bench.registration(1))
      stage.store.stop()
      let connection = try SQLiteConnection(folder.store, isReader: false, fileSystem: nil)
      try connection.run("DROP TABLE channel; DROP TABLE broadcast; PRAGMA user_version=2")
    }
    let stage = try Stage(try SQLiteEngine(path: folder.store))
    defer { stage.store.stop() }
    #expect(try await stage.store.registration(Bench.token(1)) != nil)
    #expect(await stage.ask(.create(Self.channel(1), .none)) == .done)
  }
}
