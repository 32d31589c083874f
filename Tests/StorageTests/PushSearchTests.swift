import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// Calls that wait for pushes: what they find, and what finding it costs the store thread.
@Suite("Searches of those who wait") struct PushSearchTests {
  private static let queries: [PushQuery] = [
    PushQuery(limit: 5), PushQuery(disposition: .forwarding, limit: 3), PushQuery(disposition: .waiting, limit: 1000),
    PushQuery(token: Bench.token(2), limit: 4), PushQuery(token: Bench.token(9)), PushQuery(type: .alert, disposition: .accepted),
    PushQuery(disposition: .refused, limit: 6), PushQuery(bundleID: "com.other"), PushQuery(visibleBundleIDs: [Bench.bundle], limit: 7),
    PushQuery(token: Bench.token(1), disposition: .merged),
  ]

  /// What the log has, judged one by one as the criteria say.
  private func naive(_ query: PushQuery, _ state: borrowing StoreState) -> [PushRecord] {
    var pushes: [PushRecord] = []
    var all = PushQuery(after: query.after, limit: 1000)
    while true {
      let page = state.page(all)
      pushes += page.pushes
      guard let next = page.next else { break }
      all.after = next
    }
    return pushes.filter { push in
      (query.token == nil || query.token == push.token) && (query.type == nil || query.type == push.type)
        && (query.bundleID == nil || query.bundleID == push.bundleID)
        && (query.disposition == nil || query.disposition == push.disposition)
        && (query.visibleBundleIDs?.contains(push.bundleID) ?? true)
    }
  }

  /// However the log changes while searches walk over it, a few places at a time: once they have walked, they know what there is.
  @Test(arguments: seeds(12)) func whatIsFoundIsWhatThereIs(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let bench = try Bench { settings in
      settings.logEntries = 256
      settings.refusedEntries = 20
    }
    for token in 1...3 {
      var registration = Bench.registration(token, token == 2 ? .app : .widgets)
      if token == 3 { registration.bundleID = "com.other" }
      try bench.register(registration)
    }
    for id in 0..<40 { try change(bench, id, &generator) }
    var searches: [(search: PushSearch, wanted: Int)] = []
    bench.state.isWatched = true
    var (seen, compared) = (bench.state.refused.next, 0)
    for id in 40..<440 {
      if id % 8 == 0 {
        var query = Self.queries[Int.random(in: 0..<Self.queries.count, using: &generator)]
        if id % 24 == 0 { query.after = PushCursor(accepted: bench.state.log.next - 10, refused: bench.state.refused.next) }
        let wanted = Int.random(in: 1...30, using: &generator)
        searches.append((PushSearch(query, wanted: wanted, bench.state), wanted))
      }
      try change(bench, id, &generator)
      for index in searches.indices {
        searches[index].search.note(bench.state.touchedEntries, refusedFrom: seen, bench.state)
        var visits = Int.random(in: 0...60, using: &generator)
        searches[index].search.look(bench.state, visits: &visits)
        #expect(visits >= 0)
      }
      bench.state.touchedEntries.removeAll()
      seen = bench.state.refused.next
      guard id % 5 == 0 else { continue }
      for index in searches.indices where searches[index].search.isWhole {
        let wanted = searches[index].wanted
        let page = searches[index].search.page(bench.state)
        guard searches[index].search.isWhole else { continue }
        compared += 1
        let (query, limit) = (searches[index].search.query, searches[index].search.query.limit)
        let all = naive(query, bench.state)
        #expect(page.pushes.map(\.id) == all.prefix(limit).map(\.id), "\(query)")
        #expect(page.complete == (all.count >= wanted) && page.matched == min(all.count, max(limit, wanted)), "\(query)")
        // The next page goes on where this one ends.
        if let next = page.next {
          var further = query
          (further.after, further.limit) = (next, 1000)
          let rest = naive(query, bench.state).dropFirst(limit).map(\.id)
          #expect(naive(further, bench.state).map(\.id) == Array(rest))
        } else {
          #expect(all.count <= limit)
        }
      }
      searches.removeAll { $0.search.isMet }
      if searches.count > 20 { searches.removeFirst(5) }
    }
    #expect(compared > 50)
  }

  /// A push, an outcome, a refusal, time that passes, or a reset.
  private func change(_ bench: Bench, _ id: Int, _ generator: inout SplitMix64) throws {
    bench.now = bench.now + .seconds(Int64.random(in: 0...40, using: &generator))
    let token = Int.random(in: 1...3, using: &generator)
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<9:
      let bundle = token == 3 ? "com.other" : Bench.bundle
      try bench.push(id, to: token, token == 2 ? .alert : .widgets, bundleID: bundle)
    case 9..<13:
      if bench.forwarded.contains(where: { $0.push.token == Bench.token(token) }) { try bench.complete(.accepted, token: token) }
    case 13..<16: try bench.push(id, to: 50)
    case 16: try bench.advance(to: bench.now + .seconds(400))
    case 17:
      bench.state.forget(before: bench.now - .seconds(3000))
      try bench.commit()
    case 18 where id % 50 == 0:
      _ = bench.state.forgetPushes(of: "com.other", below: bench.state.log.next, count: .max)
      try bench.commit()
    default: try bench.releaseDue()
    }
  }

  /// Counted, not timed: after the first walk, a round costs what has changed in it, and never the log.
  @Test func theLogIsWalkedOverOnce() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    for id in 0..<3000 {
      try bench.push(id, .alert)
      try bench.complete(.accepted)
    }
    var search = PushSearch(PushQuery(disposition: .forwarding, limit: 1000), wanted: 1000, bench.state)
    var rounds = 0
    while !search.isWhole {
      var visits = 256
      search.look(bench.state, visits: &visits)
      #expect(visits >= 0 && visits < 256)
      rounds += 1
    }
    #expect(rounds == 12, "3000 places")
    bench.state.isWatched = true
    try bench.push(5000, .alert)
    search.note(bench.state.touchedEntries, refusedFrom: bench.state.refused.next, bench.state)
    var visits = 1
    search.look(bench.state, visits: &visits)
    #expect(visits == 1 && search.count == 1)
  }

  /// What a reset has left in the log is empty, and walking over it costs as much as over pushes.
  @Test func emptyPlacesCostAsMuchAsOthers() throws {
    let bench = try Bench { $0.logEntries = 4 * Limits.logEntriesPerPage }
    try bench.register(Bench.registration(1, .app))
    try bench.push(1, .alert)
    for _ in 0..<2 * Limits.logEntriesPerPage { bench.state.log.raise(past: bench.state.log.next) }
    try bench.push(2, .alert)
    var walk = LogWalk(PushQuery(), token: nil, bench.state)
    var visits = Limits.logEntriesPerPage
    var found = 0
    while walk.next(bench.state, visits: &visits) != nil { found += 1 }
    #expect(visits == 0 && found == 1)
    // A list goes on over them, page by page, and comes to its end.
    var (query, ids, pages) = (PushQuery(disposition: .forwarding), [PushID](), 0)
    while true {
      let page = bench.state.page(query)
      ids += page.pushes.map(\.id)
      pages += 1
      guard let next = page.next else { break }
      query.after = next
    }
    #expect(ids.contains(Bench.id(1)) && pages >= 3)
  }
}
