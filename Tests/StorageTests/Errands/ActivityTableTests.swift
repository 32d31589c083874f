import Primitives
import Push
import Seeds
import Testing

@testable import Storage

@Suite("The table of activities") struct ActivityTableTests {
  private static let start = Instant(unixSeconds: 1_800_000_000)

  private static func activity(_ bundleID: String, _ name: String, at now: Instant = start) -> NamedActivity {
    NamedActivity(
      id: PushID(high: 1, low: 1), bundleID: bundleID, name: name, target: .user("ann"), attributesType: "Ride", attributes: "{}",
      content: NamedActivity.Content(state: "{}"), at: now)
  }

  /// Pages are those of all names put in order, for some apps and for all.
  @Test(arguments: seeds(8)) func pagesAreInOrder(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var table = ActivityTable()
    var names: [ActivityTable.Name: UInt32] = [:]
    for number in UInt32(1)...300 {
      let name = ActivityTable.Name(
        bundleID: "com.\(Int.random(in: 0..<5, using: &generator))", name: "n\(Int.random(in: 0..<200, using: &generator))")
      if names[name] == nil {
        names[name] = number
        table.insert(number, Self.activity(name.bundleID, name.name))
      } else if let old = names.removeValue(forKey: name) {
        #expect(table.remove(old)?.name == name.name)
      }
    }
    for apps in [nil, ["com.1"], ["com.3", "com.0", "org.none"], []] as [Set<String>?] {
      let wanted = names.keys.filter { apps?.contains($0.bundleID) ?? true }.sorted { ($0.bundleID, $0.name) < ($1.bundleID, $1.name) }
      for limit in [1, 7, 1000] {
        var found: [ActivityTable.Name] = []
        var (after, hasMore) = (ActivityTable.Name?.none, true)
        while hasMore {
          let page = table.page(of: apps, after: after, limit: limit)
          found += page.page.map { ActivityTable.Name(bundleID: $0.bundleID, name: $0.name) }
          #expect(page.page.count == limit || !page.hasMore)
          (after, hasMore) = (found.last, page.hasMore)
        }
        #expect(found == wanted)
      }
    }
  }

  /// Counted, not timed: a place among twenty thousand names is found in fifteen looks.
  @Test func aPlaceIsFoundByBisection() {
    for count in [0, 1, 2, 3, 1000, 20_000] {
      for border in Set([0, count / 3, count - 1, count]) where border >= 0 {
        var looks = 0
        let place = SortedNames.partition(count) { index in
          looks += 1
          return index < border
        }
        #expect(place == border && looks <= 15)
      }
    }
  }

  /// What has to leave for one more of an app.
  private func room(_ table: inout ActivityTable, _ bundleID: String, replacing old: UInt32? = nil, bytes: Int = 100) -> [UInt32]? {
    try? table.room(for: bundleID, replacing: old, bytes: bytes, at: Self.start).get()
  }

  private func end(_ number: UInt32, _ table: inout ActivityTable, at seconds: Int64) {
    #expect(table.change(number) { ($0.phase, $0.ended) = (.ended, Self.start + .seconds(seconds)) })
  }

  private func refusal(_ table: inout ActivityTable, _ bundleID: String) -> ActivityRefusal? {
    guard case .failure(let refusal) = table.room(for: bundleID, replacing: nil, bytes: 100, at: Self.start) else { return nil }
    return refusal
  }

  /// An app that has its share gets no more, and makes room among its own; another one is served, and its ended ones are left alone.
  @Test func anAppHasItsShare() {
    var table = ActivityTable()
    let share = UInt32(Limits.namedActivities / Limits.shareOfApp)
    table.insert(1, Self.activity("com.b", "first"))
    end(1, &table, at: -100)
    for number in 0..<share {
      #expect(room(&table, "com.a") == [])
      table.insert(10 + number, Self.activity("com.a", "n\(number)"))
    }
    #expect(refusal(&table, "com.a") == ActivityRefusal(share: .app("com.a", share: Int(share)), measure: .count))
    #expect(room(&table, "com.b") == [])
    for (number, ended) in [(20, 2), (30, 1), (40, 3)] as [(UInt32, Int64)] { end(number, &table, at: ended) }
    #expect(room(&table, "com.a") == [30])
    #expect(room(&table, "com.a", replacing: 40) == [40], "the one of the same name goes, and no other")
  }

  /// The last quarter is for apps that have none; others get a new one for one that is over, their own first, and forget no more than that.
  @Test func oneLeavesForOneThatComes() {
    var table = ActivityTable()
    let kept = Limits.namedActivities - Limits.namedActivities / Limits.shareKept
    for number in 0..<UInt32(kept) { table.insert(number, Self.activity("com.\(number % 10)", "n\(number)")) }
    #expect(refusal(&table, "com.1") == ActivityRefusal(share: .kept(of: Limits.namedActivities), measure: .count))
    #expect(room(&table, "com.new") == [])
    for number in [3, 13, 23] as [UInt32] { end(number, &table, at: Int64(number)) }
    for _ in 0..<3 { #expect(room(&table, "com.3") == [3], "asking forgets nothing") }
    #expect(room(&table, "com.1") == [3], "the oldest of all, since it has none that is over")
    for number in UInt32(kept)..<UInt32(Limits.namedActivities) { table.insert(number, Self.activity("com.\(number)", "n\(number)")) }
    #expect(room(&table, "com.new").map(\.count) == 1)
    for number in [3, 13, 23] as [UInt32] { _ = table.remove(number) }
    for number in [100_003, 100_013, 100_023] as [UInt32] { table.insert(number, Self.activity("com.\(number)", "n\(number)")) }
    #expect(refusal(&table, "com.new") == ActivityRefusal(share: .all(Limits.namedActivities), measure: .count))
  }

  /// The same for the bytes of their texts: as many leave as are as large as the one that comes.
  @Test func anAppsTextsHaveTheirShare() {
    var table = ActivityTable()
    let text = "\"" + String(repeating: "x", count: 1 << 20) + "\""
    for number in UInt32(1)...UInt32((Limits.namedActivityBytes / Limits.shareOfApp) >> 20) {
      #expect(room(&table, "com.a") == [])
      table.insert(number, Self.activity("com.a", "n\(number)"))
      #expect(table.change(number) { $0.attributes = text })
    }
    let share = ShareRefusal.app("com.a", share: Limits.namedActivityBytes / Limits.shareOfApp)
    #expect(refusal(&table, "com.a") == ActivityRefusal(share: share, measure: .textBytes))
    #expect(room(&table, "com.b") == [])
    for number in 1...3 as ClosedRange<UInt32> { end(number, &table, at: Int64(number)) }
    #expect(room(&table, "com.a") == [1])
    for number in UInt32(100)...UInt32(139) {
      table.insert(number, Self.activity("com.\(number)", "n"))
      #expect(table.change(number) { $0.attributes = text })
    }
    // No more than what is kept is free, so that as many leave as are as large.
    #expect(table.remove(3) != nil && room(&table, "com.a", bytes: 1 << 20) == [1])
    #expect(room(&table, "com.a", bytes: 2 << 20) == [1, 2])
  }

  /// Those that have rested longest go first, however many are asked for; none goes before its time.
  @Test func theOldestGoFirst() {
    var table = ActivityTable()
    for number in UInt32(1)...200 {
      table.insert(number, Self.activity("com.a", "n\(number)", at: Self.start + .seconds(Int64(number))))
    }
    let span = TimeSpan.seconds(Limits.activitySeconds + Limits.dismissalSeconds)
    #expect(table.oldest(at: Self.start + span) == nil)
    var gone: [UInt32] = []
    while let number = table.oldest(at: Self.start + span + .seconds(150)) {
      gone.append(number)
      _ = table.remove(number)
    }
    #expect(gone == Array(1...150))
    #expect(table.oldest(at: Self.start + span + .seconds(151)) == 151)
    // One that ends may go at once.
    #expect(table.change(200) { ($0.phase, $0.ended) = (.ended, Self.start) })
    #expect(table.oldest(at: Self.start) == 200)
  }
}
