import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

@Suite("Feed of events") struct FeedTests {
  private func events(_ items: [PushFeed.Item]?) -> [PushEvent] {
    (items ?? []).compactMap { if case .push(let event) = $0 { event } else { nil } }
  }

  private func lost(_ items: [PushFeed.Item]?) -> [Int] {
    (items ?? []).compactMap { if case .lost(let count) = $0 { count } else { nil } }
  }

  /// As many events as are asked for, however the rounds gave them.
  private func take(_ count: Int, _ feed: PushFeed) async -> [PushEvent] {
    var taken: [PushEvent] = []
    while taken.count < count, let items = await feed.next() { taken += events(items) }
    return taken
  }

  @Test func whatHappensIsTold() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1))
    _ = try #require(harness.settle(harness.batch([1], first: 0)))
    let feed = try await harness.store.follow(PushQuery())
    let batch = try #require(harness.settle(harness.batch([1, 1, 2], first: 1)))
    #expect(batch.forwards.isEmpty)
    let first = await take(3, feed)
    #expect(first.map(\.push.disposition) == [.waiting, .merged, .refused])
    #expect(first.map(\.push.id) == [1, 2, 3].map(Bench.id))
    #expect(first.map(\.place.isRefused) == [false, false, true])
    harness.advance(.seconds(300))
    // The first of them is still in flight.
    feed.tick()
    #expect(await feed.next()?.isEmpty == true)
  }

  @Test func anOutcomeIsAnEventOfItsOwn() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1))
    let feed = try await harness.store.follow(PushQuery())
    let batch = try #require(harness.settle(harness.batch([1], first: 0)))
    _ = harness.complete(try #require(batch.forwards.first), .finished(.ignored, .noSuchWidget))
    let told = await take(2, feed)
    #expect(told.map(\.push.disposition) == [.forwarding, .ignored])
    #expect(told.map(\.push.steps.count) == [1, 2])
    #expect(told[0].place < told[1].place && told[0].place != told[1].place)
    #expect(try await harness.store.push(Bench.id(0)).first?.steps == told[1].push.steps)
  }

  @Test func eachFollowerHasItsOwnCriteria() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    for number in 1...2 { _ = try await harness.store.register(Bench.registration(number)) }
    let byToken = try await harness.store.follow(PushQuery(token: Bench.token(2)))
    let byDisposition = try await harness.store.follow(PushQuery(disposition: .merged))
    let byApp = try await harness.store.follow(PushQuery(visibleBundleIDs: ["com.other"]))
    let everything = try await harness.store.follow(PushQuery())
    _ = try #require(harness.settle(harness.batch([1, 2, 1, 1, 9], first: 0)))
    #expect(events(await byToken.next()).map(\.push.id) == [Bench.id(1)])
    #expect(events(await byDisposition.next()).map(\.push.id) == [Bench.id(3)])
    #expect(await take(5, everything).count == 5)
    byApp.tick()
    #expect(await byApp.next()?.isEmpty == true)
  }

  /// Who does not read is not waited for, and learns how much went by, where it did.
  @Test func aSlowFollowerIsToldHowMuchItLost() async throws {
    let harness = try Harness { $0.followedEvents = 10 }
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1))
    let feed = try await harness.store.follow(PushQuery())
    for first in stride(from: 0, to: 30, by: 5) { _ = try #require(harness.settle(harness.batch([1, 1, 1, 1, 1], first: first))) }
    // An answer comes after what was told of the rounds before.
    _ = try await harness.store.push(Bench.id(0))
    let items = await feed.next()
    #expect(events(items).map(\.push.id) == (0..<10).map(Bench.id))
    #expect(lost(items) == [20])
    guard case .lost? = items?.last else {
      Issue.record("what is lost is told where it is missing")
      return
    }
    _ = try #require(harness.settle(harness.batch([1], first: 30)))
    let later = await feed.next()
    #expect(events(later).map(\.push.id) == [Bench.id(30)] && lost(later).isEmpty)
  }

  /// Bytes count as events do: many who do not read have no more waiting than each is given, and all learn how much went by.
  @Test func whatWaitsForFollowersIsBoundedInBytes() async throws {
    let room = 20_000
    let harness = try Harness { ($0.followedBytes, $0.followers) = (room, 41) }
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1))
    var feeds: [PushFeed] = []
    for _ in 0..<40 { feeds.append(try await harness.store.follow(PushQuery())) }
    for first in stride(from: 0, to: 200, by: 5) { _ = try #require(harness.settle(harness.batch([1, 1, 1, 1, 1], first: first))) }
    // An answer comes after what was told of the rounds before.
    _ = try await harness.store.push(Bench.id(0))
    #expect(feeds.allSatisfy { (room - PushEvent.bytesBesideTexts * 2...room).contains($0.queue.bytes) })
    var place: EventPlace?
    for feed in feeds {
      let items = await feed.next()
      #expect(feed.queue.bytes == 0)
      let told = events(items)
      #expect(told.map(\.push.id) == (0..<told.count).map(Bench.id) && told.count + lost(items).reduce(0, +) == 200)
      place = told.first?.place
    }
    // Whoever comes back is told the latest, and how many were before them.
    let again = try await harness.store.follow(PushQuery(), after: place)
    #expect(again.queue.bytes <= room)
    let items = await again.next()
    let told = events(items)
    #expect(told.last?.push.id == Bench.id(199) && told.count + lost(items).reduce(0, +) == 199)
  }

  @Test func soManyMayFollow() async throws {
    let harness = try Harness { $0.followers = 2 }
    defer { harness.store.stop() }
    var feeds = [try await harness.store.follow(PushQuery()), try await harness.store.follow(PushQuery())]
    await #expect(throws: StoreError.self) { try await harness.store.follow(PushQuery()) }
    feeds.removeLast()
    feeds.append(try await harness.store.follow(PushQuery()))
    #expect(feeds.count == 2)
  }

  @Test func theEndOfTheStoreAndOfTheTask() async throws {
    let harness = try Harness()
    let (first, second) = (try await harness.store.follow(PushQuery()), try await harness.store.follow(PushQuery()))
    let waiting = Task { await first.next() }
    waiting.cancel()
    #expect(await waiting.value == nil)
    #expect(await first.next() == nil)
    harness.store.stop()
    #expect(await second.next() == nil)
  }

  // MARK: Going on

  @Test(arguments: [
    "", "1", "1.a1", "1.a1.1", "1.b1.1.applied", "1.a.1.applied", "1.a-1.1.applied", "1.a1.1.1.applied", "x.a1.1.applied",
    "1.a1.x.applied", "1.a1.1.done",
  ])
  func noPlace(text: String) { #expect(EventPlace(text: text) == nil) }

  /// Whoever was away learns, from any event on, of everything that has changed since, in order, as it is by now; across a restart too.
  @Test(arguments: seeds(20), [false, true]) func fromAnyEventOn(seed: UInt64, restarts: Bool) throws {
    var random = SplitMix64(seed: seed)
    let bench = try Bench()
    bench.refusedBytes = .max
    for number in 0..<4 { try bench.register(Bench.registration(number, .app)) }
    var told: [PushEvent] = []
    bench.state.isWatched = true
    var refusedSeen: UInt64 = 1
    for id in 0..<60 {
      if Int.random(in: 0..<3, using: &random) > 0 { bench.now = bench.now + .milliseconds(1) }
      let token = Int.random(in: 0..<5, using: &random)
      try bench.push(id, to: token, .alert)
      if token < 4, Bool.random(using: &random) { try bench.complete(.accepted, token: token) }
      told += Set(bench.state.touchedEntries).sorted().map { bench.state.event(.accepted(bench.state.log[$0]!)) }
      told += (refusedSeen..<bench.state.refused.next).map { bench.state.event(.refused($0)) }
      refusedSeen = bench.state.refused.next
      bench.state.touchedEntries.removeAll()
    }
    if restarts { try bench.crash() }
    for (index, event) in told.enumerated() {
      let place = try #require(EventPlace(text: event.place.text()))
      #expect(place == event.place)
      let (events, lost) = bench.state.events(PushQuery(), after: place, in: FeedQueue.Room(events: 1000, bytes: .max))
      #expect(lost == 0 && events.map(\.place) == events.map(\.place).sorted())
      let came = Set(events.map(\.push.id))
      // An attempt that had not come to anything is forgotten with a crash, so that the push waits as before.
      for later in told[(index + 1)...] where !restarts || later.push.disposition.isFinal {
        #expect(came.contains(later.push.id), "\(later.push.id) after \(index)")
      }
      #expect(events.allSatisfy { $0.place.at >= place.at })
    }
    let all = bench.state.events(PushQuery(), after: EventPlace(text: "0.a0.0.waiting")!, in: FeedQueue.Room(events: 10, bytes: .max))
    #expect(all.events.count == 10 && all.lost > 0 && all.events.last?.place == told.map(\.place).max())
  }
}
