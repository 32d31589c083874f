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

  /// An app that has its share gets no more, and makes room among its own; another one is served, and its ended ones are left alone.
  @Test func anAppHasItsShare() {
    var table = ActivityTable()
    let share = UInt32(Limits.namedActivities / Limits.shareOfApp)
    table.insert(1, Self.activity("com.b", "first"))
    #expect(table.change(1) { ($0.phase, $0.ended) = (.ended, Self.start - .seconds(100)) })
    for number in 0..<share {
      #expect(table.refusal(of: "com.a") == nil)
      table.insert(10 + number, Self.activity("com.a", "n\(number)"))
    }
    #expect(table.refusal(of: "com.a") == .app("com.a", share: Int(share)) && table.refusal(of: "com.b") == nil)
    #expect(table.oldest(of: "com.a", at: Self.start) == nil)
    for (number, ended) in [(20, 2), (30, 1), (40, 3)] as [(UInt32, Int64)] {
      #expect(table.change(number) { ($0.phase, $0.ended) = (.ended, Self.start + .seconds(ended)) })
    }
    #expect(table.oldest(of: "com.a", at: Self.start) == 30)
    #expect(table.remove(30) != nil && table.refusal(of: "com.a") == nil)
  }

  /// The same for the bytes of their texts.
  @Test func anAppsTextsHaveTheirShare() {
    var table = ActivityTable()
    let text = "\"" + String(repeating: "x", count: 1 << 20) + "\""
    for number in UInt32(1)...UInt32((Limits.namedActivityBytes / Limits.shareOfApp) >> 20) {
      #expect(table.refusal(of: "com.a") == nil)
      table.insert(number, Self.activity("com.a", "n\(number)"))
      #expect(table.change(number) { $0.attributes = text })
    }
    #expect(table.refusal(of: "com.a") != nil && table.refusal(of: "com.b") == nil)
    #expect(table.remove(1) != nil && table.refusal(of: "com.a") == nil)
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
