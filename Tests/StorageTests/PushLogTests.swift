import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Push log") struct PushLogTests {
  /// Three tokens of two apps, with pushes of several fates.
  private func filled() throws -> Bench {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.register(Bench.registration(2, .app))
    var other = Bench.registration(3, .app)
    other.bundleID = "com.other"
    try bench.register(other)
    for id in 0..<30 {
      bench.now = bench.now + .seconds(1)
      switch id % 3 {
      case 0: try bench.push(id)
      case 1:
        try bench.push(id, to: 2, .alert)
        try bench.complete(.accepted, token: 2)
      default:
        try bench.push(id, to: 3, .alert, bundleID: "com.other")
        try bench.complete(.finished(.ignored, .noSuchApp), token: 3)
      }
    }
    bench.now = bench.now + .seconds(1)
    try bench.push(30, to: 99)
    try bench.push(31, to: 3, .alert)
    return bench
  }

  private func ids(_ page: PushPage) -> [Int] { page.pushes.map { Int($0.id.low) } }

  @Test func criteria() throws {
    let bench = try filled()
    #expect(ids(bench.state.page(PushQuery())) == Array((0..<32).reversed()))
    #expect(ids(bench.state.page(PushQuery(token: Bench.token(2)))) == (0..<30).reversed().filter { $0 % 3 == 1 })
    #expect(ids(bench.state.page(PushQuery(token: Bench.token(99)))) == [30])
    #expect(ids(bench.state.page(PushQuery(token: Bench.token(3), limit: 2))) == [31, 29])
    #expect(ids(bench.state.page(PushQuery(token: Bench.token(77)))) == [])
    #expect(ids(bench.state.page(PushQuery(bundleID: "com.other"))) == (0..<30).reversed().filter { $0 % 3 == 2 })
    #expect(ids(bench.state.page(PushQuery(disposition: .refused))) == [31, 30])
    #expect(ids(bench.state.page(PushQuery(type: .alert, disposition: .accepted))) == (0..<30).reversed().filter { $0 % 3 == 1 })
    #expect(ids(bench.state.page(PushQuery(disposition: .merged))).count == 8)
    #expect(ids(bench.state.page(PushQuery(visibleBundleIDs: ["com.other"]))) == (0..<30).reversed().filter { $0 % 3 == 2 })
    #expect(ids(bench.state.page(PushQuery(visibleBundleIDs: []))) == [])
  }

  @Test(arguments: [1, 2, 3, 7, 31, 32, 33]) func pagesCoverEverythingOnce(limit: Int) throws {
    let bench = try filled()
    for token in [nil, Bench.token(3)] {
      var seen: [Int] = []
      var query = PushQuery(token: token, limit: limit)
      while true {
        let page = bench.state.page(query)
        seen += ids(page)
        #expect(page.pushes.count <= limit)
        guard let next = page.next else { break }
        query.after = PushCursor(text: next.text())
        #expect(query.after == next)
      }
      #expect(seen == (0..<32).reversed().filter { token == nil || $0 % 3 == 2 && $0 < 30 || $0 == 31 })
    }
  }

  @Test func nearMissesSayWhatDiffers() throws {
    let bench = try filled()
    var page = bench.state.page(PushQuery(token: Bench.token(2), type: .alert, disposition: .ignored), wanted: 1, isLast: true)
    #expect(!page.complete && page.matched == 0)
    #expect(page.nearMisses.map(\.push.id) == [28, 25, 22, 19, 16].map { Bench.id($0) }, "the same token, before newer ones of another")
    #expect(Set(page.nearMisses.map(\.differs)) == ["disposition"])
    page = bench.state.page(PushQuery(token: Bench.token(99), type: .alert, disposition: .refused), wanted: 1, isLast: true)
    #expect(page.nearMisses.map(\.push.id) == [30, 31].map { Bench.id($0) } && page.nearMisses.map(\.differs) == ["type", "token"])
    page = bench.state.page(PushQuery(token: Bench.token(77), type: .alert, disposition: .ignored), wanted: 1, isLast: true)
    #expect(
      page.nearMisses.count == 5 && page.nearMisses.first?.push.id == Bench.id(29) && page.nearMisses.allSatisfy { $0.differs == "token" })
    page = bench.state.page(PushQuery(bundleID: "com.exampel", type: .widgets, disposition: .forwarding), wanted: 1, isLast: true)
    #expect(page.nearMisses.map(\.differs) == ["topic"])
    page = bench.state.page(PushQuery(type: .widgets), wanted: 5, isLast: true)
    #expect(page.complete && page.matched >= 5 && page.nearMisses.isEmpty)
    page = bench.state.page(PushQuery(visibleBundleIDs: ["com.other"]), wanted: 100, isLast: true)
    #expect(page.nearMisses.isEmpty && page.matched == 10)
  }

  @Test func theSameIDTwice() throws {
    let bench = try filled()
    bench.now = bench.now + .seconds(1)
    try bench.push(1, to: 3, .alert, bundleID: "com.other")
    #expect(bench.state.records(of: Bench.id(1), all: false).map(\.bundleID) == ["com.other"])
    #expect(bench.state.records(of: Bench.id(1), all: true).map(\.bundleID) == ["com.other", Bench.bundle])
    bench.now = bench.now + .seconds(1)
    try bench.push(1, to: 99)
    #expect(bench.state.records(of: Bench.id(1), all: false).map(\.disposition) == [.refused])
    #expect(bench.state.records(of: Bench.id(1), all: true).count == 3)
  }

  @Test func aDeviceReportsLater() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    func report(_ id: Int, _ disposition: Disposition, _ cause: Cause, _ detail: String = "") throws -> Bool {
      let bytes = Array(detail.utf8)
      let found = bench.state.recordOutcome(Bench.id(id), disposition, cause, detail: bytes.span.bytes, at: bench.now)
      try bench.commit()
      return found
    }
    #expect(try report(0, .applied, .reloaded) == false)
    try bench.push(0)
    try bench.push(1)
    #expect(try report(1, .applied, .reloaded) == false, "what waits was seen by no device")
    // The report may overtake the upstream's answer.
    #expect(try report(0, .ignored, .noSuchWidget, "no widget of kind Clock"))
    try bench.complete(.pending)
    #expect(bench.record(0)?.disposition == .ignored)
    #expect(bench.record(0)?.detail == "no widget of kind Clock")
    #expect(bench.record(0)?.steps.map(\.disposition) == [.forwarding, .ignored])
    try bench.crash()
    #expect(bench.record(0)?.cause == .noSuchWidget)
    try bench.advance(to: bench.now + .seconds(300))
    try bench.complete(.pending)
    #expect(bench.record(1)?.disposition == .accepted)
    #expect(try report(1, .applied, .reloaded))
    #expect(bench.record(1)?.steps.map(\.disposition) == [.waiting, .forwarding, .accepted, .applied])
    // What a push has become is final: the same report once more changes nothing, and another is refused.
    #expect(try report(1, .applied, .reloaded))
    #expect(try report(1, .ignored, .noSuchWidget) == false)
    #expect(bench.record(1)?.steps.count == 4)
    #expect(bench.state.counters.finished(.widgets, .applied) == 1)
  }

  /// A ring of 256 against a list, over several rounds, with crashes and folds in between.
  @Test(arguments: 1...6) func theRingForgetsTheOldest(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    // A date that has passed ends a push at once.
    let bench = try Bench { ($0.logEntries, $0.triesPastExpirations) = (256, false) }
    for number in 0..<5 { try bench.register(Bench.registration(number, .app)) }
    var model: [(id: Int, token: Int)] = []
    for id in 0..<1500 {
      let token = Int.random(in: 0..<5, using: &generator)
      let used = Int.random(in: 0..<20, using: &generator) == 0 ? id / 2 : id
      try bench.push(used, to: token, .alert, expiration: .at(Instant(unixSeconds: 1)))
      model.append((used, token))
      if Int.random(in: 0..<200, using: &generator) == 0 { try bench.fold() }
      if Int.random(in: 0..<200, using: &generator) == 0 { try bench.crash() }
      if id % 100 != 99 { continue }
      let kept = model.suffix(256).reversed()
      #expect(ids(bench.state.page(PushQuery(limit: 1000))) == kept.map(\.id))
      for token in 0..<5 {
        #expect(ids(bench.state.page(PushQuery(token: Bench.token(token), limit: 1000))) == kept.filter { $0.token == token }.map(\.id))
      }
      for entry in kept { #expect(bench.record(entry.id) != nil) }
      for entry in model.dropLast(256).suffix(20) where !kept.contains(where: { $0.id == entry.id }) {
        #expect(bench.record(entry.id) == nil)
      }
    }
  }

  /// A list call must not hold up the store thread, however rare its matches are.
  @Test func aLongSearchComesInShortPages() throws {
    let bench = try Bench { ($0.logEntries, $0.triesPastExpirations) = (40_000, false) }
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    let count = Limits.logEntriesPerPage + 2000
    for first in stride(from: 1, through: count, by: 1000) {
      let batch = Batch()
      for id in first..<first + 1000 {
        batch.admits.append(
          Bench.operation(
            batch, id: id, token: Bench.token(1), type: .alert, at: bench.now, expiration: .at(Instant(unixSeconds: 1)), payload: ""))
      }
      try bench.settle(batch)
    }
    var query = PushQuery(disposition: .forwarding)
    var page = bench.state.page(query)
    #expect(page.pushes.isEmpty && page.next != nil)
    query.after = page.next
    page = bench.state.page(query)
    #expect(ids(page) == [0] && page.next == nil)
    #expect(bench.state.page(PushQuery(disposition: .forwarding), wanted: 1, isLast: false).complete)
  }

  @Test func refusalsDriveOutNoAcceptedPush() throws {
    let bench = try Bench { $0.refusedEntries = 10 }
    try bench.register(Bench.registration(1))
    try bench.push(0)
    bench.now = bench.now + .seconds(1)
    for id in 1...1000 { try bench.push(id, to: 99) }
    #expect(bench.record(0)?.disposition == .forwarding)
    #expect(ids(bench.state.page(PushQuery())) == Array((991...1000).reversed()) + [0])
  }

  /// What is too old is forgotten, on disk too, but for what may still change.
  @Test(arguments: [false, true]) func theLogHasAnAge(folds: Bool) throws {
    let bench = try Bench { $0.logEntries = 256 }
    try bench.register(Bench.registration(1, .app))
    try bench.register(Bench.registration(2))
    try bench.push(0, to: 2)
    try bench.push(1, to: 2)
    for id in 2..<300 {
      bench.now = bench.now + .seconds(1)
      try bench.push(id, .alert)
      if id % 2 == 0 { try bench.push(id + 1000, to: 99) }
      try bench.complete(.accepted)
    }
    let age = TimeSpan.seconds(100)
    for _ in 0..<3 {
      bench.state.forget(before: bench.now - age)
      try folds ? bench.fold() : bench.commit()
      let all = ids(bench.state.page(PushQuery(limit: 1000)))
      #expect(all.filter { $0 > 1 && $0 < 1000 } == (199..<300).reversed() && all.count { $0 >= 1000 } <= 51)
      #expect(bench.record(100) == nil && bench.record(250)?.disposition == .accepted && bench.record(1100) == nil)
      #expect(bench.state.log.count == all.count { $0 < 1000 })
      try bench.crash()
    }
    bench.state.forget(before: bench.now + .seconds(1))
    #expect(ids(bench.state.page(PushQuery(limit: 1000))).filter { $0 > 1 }.isEmpty)
    try bench.push(500, .alert)
    #expect(bench.record(500)?.disposition == .forwarding)
  }

  @Test func whatWaitsOutlivesTheAge() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.push(1)
    try bench.complete(.finished(.applied, .reloaded))
    bench.now = bench.now + .seconds(200)
    bench.state.forget(before: bench.now)
    #expect(bench.record(0) == nil && bench.record(1)?.disposition == .waiting)
    try bench.advance(to: bench.now + .seconds(200))
    #expect(bench.record(1)?.steps.map(\.disposition) == [.waiting, .forwarding])
  }

  @Test func textsAreCutBetweenCharacters() {
    let pool = BlockPool(bytesMax: 1 << 20)
    for count in Limits.detailBytes / 3 - 3...Limits.detailBytes / 3 + 3 {
      let text = String(repeating: "☀", count: count)
      let bytes = Array(text.utf8)
      let kept = LogText(bytes.span.bytes, in: pool)
      #expect(kept.string == String(repeating: "☀", count: min(count, Limits.detailBytes / 3)))
      kept.release(to: pool)
    }
    #expect(pool.lentBytes == 0)
  }
}
