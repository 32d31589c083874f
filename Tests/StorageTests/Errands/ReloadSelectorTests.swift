import Primitives
import Push
import Testing

@testable import Storage

@Suite("Reload selectors and their pages") struct ReloadSelectorTests {
  private static let names: [String?] = [nil, "a", "b"]

  /// Every registration of a small world: two apps, four types, users, devices and kinds.
  static let world: [Registration] = {
    var all: [Registration] = []
    for bundle in [Bench.bundle, "com.example.other"] {
      for kind in [TokenKind.widgets, .controls, .liveactivity, .app] {
        for user in names {
          for device in names {
            for shown in names {
              var registration = Bench.registration(all.count, kind)
              registration.bundleID = bundle
              registration.user = user
              registration.device = device
              if kind == .widgets, let shown {
                registration.widgets = [.init(kind: "other", family: "systemSmall"), .init(kind: shown, family: "systemSmall")]
              }
              if kind == .controls { registration.controlKind = shown }
              all.append(registration)
            }
          }
        }
      }
    }
    return all
  }()

  /// What the contract says, in other words.
  private static func expects(_ r: Registration, kinds: [String], controls: [String], users: [String], devices: [String]) -> Bool {
    guard r.bundleID == Bench.bundle, users.isEmpty || users.contains(r.user ?? "-"), devices.isEmpty || devices.contains(r.device ?? "-")
    else { return false }
    let namesAny = !kinds.isEmpty || !controls.isEmpty
    let showsKind = !Set(r.widgets.map(\.kind)).isDisjoint(with: kinds)
    let showsControl = r.controlKind.map { controls.contains($0) } ?? false
    return r.kind == .widgets && (!namesAny || showsKind) || r.kind == .controls && (!namesAny || showsControl)
  }

  private static let choices: [[String]] = [[], ["a"], ["b", "b", "zz"]]

  /// All combinations of lists, on all registrations; and the pages of both engines, of every small size.
  @Test func everyCombination() throws {
    let memory = MemoryEngine()
    let folder = Folder()
    defer { folder.remove() }
    let file = try SQLiteEngine(path: folder.store)
    defer { file.close() }
    for engine in [memory, file] as [any Engine] {
      var commit = Commit(number: 1)
      commit.registrations = Self.world.map { .put($0, registered: Instant(unixSeconds: 1)) }
      try engine.commit(commit)
    }
    for kinds in Self.choices {
      for controls in Self.choices {
        for users in Self.choices {
          for devices in Self.choices {
            let selector = ReloadSelector(bundleID: Bench.bundle, kinds: kinds, controls: controls, users: users, devices: devices)
            let expected = Self.world.filter {
              Self.expects($0, kinds: kinds, controls: controls, users: users, devices: devices)
            }
            #expect(Self.world.filter(selector.matches) == expected, "\(selector)")
            let tokens = Set(expected.map(\.token))
            for engine in [memory, file] as [any Engine] {
              let (rows, limit) = (kinds.count + 2 * users.count + 40, 1 + controls.count + 3 * devices.count)
              var found: [DeviceToken] = []
              var position: ReloadPosition? = .start
              while let from = position {
                let page = try engine.reloadPage(selector, from: from, rows: rows, tokens: limit)
                #expect(page.tokens.count <= limit)
                try #require(page.next != from, "no progress: \(selector)")
                found += page.tokens
                position = page.next
              }
              #expect(found.count == tokens.count && Set(found) == tokens, "\(engine): \(selector)")
            }
          }
        }
      }
    }
  }

  /// A page never looks at more rows than it may, whatever matches.
  @Test func aPageIsBounded() throws {
    let engine = MemoryEngine()
    var commit = Commit(number: 1)
    commit.registrations = (0..<1000).map { .put(Bench.registration($0, .app), registered: Instant(unixSeconds: 1)) }
    try engine.commit(commit)
    let selector = ReloadSelector(bundleID: Bench.bundle)
    var pages = 0
    var position: ReloadPosition? = .start
    while let from = position {
      let page = try engine.reloadPage(selector, from: from, rows: 100, tokens: 10)
      #expect(page.tokens.isEmpty)
      position = page.next
      pages += 1
    }
    #expect((10...11).contains(pages))
  }

  @Test func aPositionBehindTheLastListIsTheEnd() throws {
    let selector = ReloadSelector(bundleID: Bench.bundle, users: ["a"])
    let page = try MemoryEngine().reloadPage(selector, from: ReloadPosition(list: 1, after: nil), rows: 10, tokens: 10)
    #expect(page.tokens.isEmpty && page.next == nil)
  }
}
