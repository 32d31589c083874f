import Foundation
import Primitives
import Push
import Testing

@testable import Storage

/// Every short history of one activity by name, on two devices that behave as iOS does, against what must hold whatever happens.
@Suite("Activities by name: the state machine") struct NamedActivityTests {
  private static let start = Instant(unixSeconds: 1_800_000_000)

  /// What may happen from outside.
  enum Happening: CaseIterable {
    case showNew, showSame, end
    case startTokenA, startTokenB
    /// The oldest push that has not ended reaches its device, which applies it, and registers its activity where that is new.
    case deliver
    /// The same, but the app tells nobody of the update token yet.
    case deliverSilently
    /// The device lets it pass.
    case ignore
    /// A token that an app kept to itself is registered.
    case registerLate
    /// An update token changes.
    case rotate
  }

  /// A push to a token that nobody has.
  struct Strange: Error { var due: NamedActivity.Due }

  /// A world of devices that shows what really happens to what is sent.
  struct World {
    struct Shown: Hashable {
      var id: String
      var token: DeviceToken
      var state: String
      var isEnded = false
      var isRegistered = false
    }

    var activity: NamedActivity
    var now = NamedActivityTests.start
    /// Pushes that have been made and have not ended: id, what it is, and what it carries.
    var flying: [(push: PushID, due: NamedActivity.Due, device: String, state: String)] = []
    var shown: [String: [Shown]] = [:]
    var startTokens: [String: DeviceToken] = [:]
    var nextID: UInt64 = 1
    var nextToken = 100
    var wanted = 1
    var hasAskedToEnd = false
    var startsIgnored: Set<String> = []
    /// Devices that have let an update or an end pass: what they show is their own affair.
    var stubborn: Set<String> = []
    var timestamps: [Int64] = []

    init() {
      activity = NamedActivity(
        id: PushID(high: 1, low: 1), bundleID: "app", name: "order", target: .user("u"), attributesType: "Ride", attributes: "{}",
        content: .init(state: #"{"v":1}"#, alert: "{}"), at: NamedActivityTests.start)
    }

    func device(of due: NamedActivity.Due) -> String? {
      if due.event == .start { return startTokens.first { $0.value == due.token }?.key }
      return shown.first { $0.value.contains { $0.token == due.token } }?.key
    }

    /// Makes what is due, as the store does.
    mutating func makeDues() throws {
      for due in activity.dues {
        guard let device = device(of: due) else { throw Strange(due: due) }
        let push = PushID(high: 1, low: 1000 + nextID)
        nextID += 1
        timestamps.append(activity.nextTimestamp(at: now))
        flying.append((push, due, device, activity.content.state))
        activity.made(due, push, .forwarded, at: now)
        // The lane of a token keeps the newest plain update, as the store's lanes do.
      }
      #expect(activity.dues.isEmpty, "what has been made is not made again")
    }

    mutating func register(_ device: String, _ place: Int) {
      shown[device]![place].isRegistered = true
      let it = shown[device]![place]
      _ = activity.found(updateToken: it.token, activityID: it.id, device: device, at: now)
    }

    mutating func happen(_ happening: Happening) throws {
      now = now + .seconds(1)
      switch happening {
      case .showNew:
        guard activity.phase == .running else { return }
        wanted += 1
        if activity.show(.init(state: "{\"v\":\(wanted)}"), at: now), activity.isUnstarted { activity.retryStarts() }
      case .showSame:
        guard activity.phase == .running else { return }
        let isNews = activity.show(activity.content, at: now)
        #expect(!isNews)
      case .end:
        activity.end(state: nil, dismissalDate: nil, at: now)
        hasAskedToEnd = true
      case .startTokenA: startToken("A", 1)
      case .startTokenB: startToken("B", 2)
      case .deliver, .deliverSilently, .ignore: try settleOldest(happening)
      case .registerLate:
        for device in shown.keys.sorted() {
          if let place = shown[device]!.firstIndex(where: { !$0.isRegistered }) { return register(device, place) }
        }
      case .rotate:
        for device in shown.keys.sorted() {
          guard let place = shown[device]!.firstIndex(where: { $0.isRegistered && !$0.isEnded }) else { continue }
          shown[device]![place].token = Bench.token(nextToken)
          nextToken += 1
          // What was on its way to the old token comes to nothing.
          return register(device, place)
        }
      }
    }

    private mutating func startToken(_ device: String, _ number: Int) {
      startTokens[device] = Bench.token(number)
      activity.found(startToken: Bench.token(number), device: device)
    }

    private mutating func settleOldest(_ happening: Happening) throws {
      guard !flying.isEmpty else { return }
      let (push, due, device, state) = flying.removeFirst()
      if happening == .ignore {
        if due.event == .start { startsIgnored.insert(device) } else { stubborn.insert(device) }
        activity.pushEnded(push, .ignored, .startBudgetSpent, at: now)
        return
      }
      switch due.event {
      case .start:
        let token = Bench.token(nextToken)
        nextToken += 1
        shown[device, default: []].append(Shown(id: "\(device)-\(nextToken)", token: token, state: state))
        if happening == .deliver { register(device, shown[device]!.count - 1) }
      case .update, .end:
        guard let place = shown[device]?.firstIndex(where: { $0.token == due.token }) else {
          return activity.pushEnded(push, .failed, .unregistered, at: now)
        }
        #expect(!shown[device]![place].isEnded, "nothing is sent to what has been ended")
        shown[device]![place].state = state
        if due.event == .end { shown[device]![place].isEnded = true }
      case .none: Issue.record("no event")
      }
      activity.pushEnded(push, .applied, .none, at: now)
    }

    /// What must hold at any time.
    func check(_ history: [Happening]) {
      for (device, activities) in shown {
        #expect(activities.count <= 1, "started once on \(device): \(history)")
      }
      #expect(Set(timestamps).count == timestamps.count && timestamps.sorted() == timestamps, "\(history)")
      #expect(activity.pushes.count <= Limits.activityPushes)
    }

    /// Lets everything come that is on its way, and has every app register; then what was asked for is shown.
    mutating func quiesce(_ history: [Happening]) throws {
      for _ in 0..<20 {
        try makeDues()
        if !flying.isEmpty {
          try happen(.deliver)
        } else if shown.values.contains(where: { $0.contains { !$0.isRegistered } }) {
          try happen(.registerLate)
        } else {
          break
        }
        check(history)
      }
      #expect(flying.isEmpty && activity.dues.isEmpty, "\(history)")
      for (device, activities) in shown where !stubborn.contains(device) {
        for it in activities {
          if hasAskedToEnd {
            #expect(it.isEnded, "\(device) was not ended: \(history)")
          } else {
            #expect(it.state == activity.content.state, "\(device) shows \(it.state): \(history)")
          }
        }
      }
      if hasAskedToEnd { #expect(activity.phase == .ended, "\(history)") }
      if !hasAskedToEnd, !startTokens.isEmpty, startsIgnored.isEmpty {
        #expect(shown.count == startTokens.count, "started on every device: \(history)")
      }
    }
  }

  /// All histories of up to four happenings, and five with WIDGETPUSH_LONG; each prefix is checked, and each history runs out.
  @Test func everyShortHistory() throws {
    var count = 0
    func go(_ world: World, _ history: [Happening]) throws {
      var ending = world
      try ending.quiesce(history)
      count += 1
      guard history.count < Self.length else { return }
      for happening in Happening.allCases {
        var next = world
        try next.happen(happening)
        try next.makeDues()
        next.check(history + [happening])
        try go(next, history + [happening])
      }
    }
    try go(World(), [])
    #expect(count == (0...Self.length).reduce(0) { $0 + Self.power($1) })
  }

  private static let length = ProcessInfo.processInfo.environment["WIDGETPUSH_LONG"] == nil ? 4 : 5
  private static func power(_ exponent: Int) -> Int { (0..<exponent).reduce(1) { product, _ in product * Happening.allCases.count } }

  // MARK: Single rules

  private func activity(_ adjust: (inout NamedActivity) -> Void = { _ in }) -> NamedActivity {
    var activity = World().activity
    adjust(&activity)
    return activity
  }

  /// Without device names a second push-to-start token may be the first one's successor, which iOS gives out right after a start.
  @Test func aNamelessStartTokenStartsNothingAgain() {
    let activity = activity { activity in
      activity.found(startToken: Bench.token(1), device: nil)
      activity.found(startToken: Bench.token(2), device: nil)
      activity.found(startToken: Bench.token(3), device: "A")
    }
    #expect(activity.dues.map(\.token) == [Bench.token(2)])
  }

  @Test func theNewestContentIsHeldForTheToken() throws {
    var activity = activity { $0.found(startToken: Bench.token(1), device: "A") }
    let push = PushID(high: 1, low: 7)
    activity.made(try #require(activity.dues.first), push, .forwarded, at: Self.start)
    for version in 2...9 { _ = activity.show(.init(state: "{\"v\":\(version)}"), at: Self.start) }
    activity.pushEnded(push, .accepted, .none, at: Self.start)
    #expect(activity.dues.isEmpty && activity.started == Self.start)
    let isTaken = activity.found(updateToken: Bench.token(5), activityID: "x", device: "A", at: Self.start)
    #expect(isTaken && activity.dues == [.init(leg: 0, event: .update, token: Bench.token(5))])
    #expect(activity.payload(.update, timestamp: 5).text == #"{"aps":{"timestamp":5,"event":"update","content-state":{"v":9}}}"#)
  }

  /// What is none of its own is left for others.
  @Test func aStrangersTokenIsLeft() {
    var activity = activity()
    let (a, b) = (Bench.token(5), Bench.token(6))
    let taken = [(a, "x", "A"), (a, "order", "A"), (b, "y", "B"), (b, "order", "B")].map { token, id, device in
      activity.found(updateToken: token, activityID: id, device: device, at: Self.start)
    }
    #expect(taken == [false, true, false, true], "nothing was started; its name; another device; its name there")
    #expect(activity.legs.count == 2)
  }

  /// A token that an upstream calls dead is forgotten, and its successor shows the newest again.
  @Test func aLostTokenIsWaitedFor() throws {
    var activity = activity()
    let isTaken = activity.found(updateToken: Bench.token(5), activityID: "order", device: "A", at: Self.start)
    let due = try #require(activity.dues.first)
    activity.made(due, PushID(high: 1, low: 9), .refused(.unregistered, .unregistered), at: Self.start)
    #expect(isTaken && activity.dues.isEmpty && activity.legs[0].updateToken == nil && activity.pushes.isEmpty)
    let isBack = activity.found(updateToken: Bench.token(6), activityID: "order", device: "A", at: Self.start)
    #expect(isBack && activity.dues == [.init(leg: 0, event: .update, token: Bench.token(6))])
    // While there is no room, it is made again.
    activity.made(activity.dues[0], PushID(high: 1, low: 10), .refused(.serviceUnavailable), at: Self.start)
    #expect(activity.dues.count == 1)
    activity.made(activity.dues[0], PushID(high: 1, low: 11), .waiting(due: nil, .inFlight), at: Self.start)
    #expect(activity.dues.isEmpty)
  }

  @Test func aStartThatCameToNothingIsMadeAgainWhenAsked() throws {
    var activity = activity { $0.found(startToken: Bench.token(1), device: "A") }
    activity.made(activity.dues[0], PushID(high: 1, low: 9), .ended(.ignored, .startBudgetSpent), at: Self.start)
    #expect(activity.isUnstarted && activity.dues.isEmpty && activity.legs[0].cause == .startBudgetSpent)
    activity.retryStarts()
    #expect(activity.dues == [.init(leg: 0, event: .start, token: Bench.token(1))])
  }

  @Test func itEndsByItselfAfterEightHours() throws {
    var activity = activity()
    let isTaken = activity.found(updateToken: Bench.token(5), activityID: "order", device: "A", at: Self.start)
    activity.expire(at: Self.start + .seconds(8 * 3600 - 1))
    #expect(isTaken && activity.phase == .running)
    activity.expire(at: Self.start + .seconds(9 * 3600))
    #expect(activity.phase == .ended && activity.ended == Self.start + .seconds(8 * 3600) && activity.legs[0].cause == .activityEnded)
    #expect(activity.dues.isEmpty)
  }

  @Test func whatWasNeverStartedIsEndedAtOnce() {
    var activity = activity { $0.found(startToken: Bench.token(1), device: "A") }
    activity.end(state: nil, dismissalDate: nil, at: Self.start)
    #expect(activity.phase == .ended && activity.dues.isEmpty)
  }

  @Test func theEndCarriesTheLastContent() {
    var activity = activity()
    _ = activity.found(updateToken: Bench.token(5), activityID: "order", device: "A", at: Self.start)
    activity.end(state: #"{"v":"done"}"#, dismissalDate: "1800000060", at: Self.start)
    #expect(activity.dues == [.init(leg: 0, event: .end, token: Bench.token(5))])
    #expect(
      activity.payload(.end, timestamp: 9).text
        == #"{"aps":{"timestamp":9,"event":"end","content-state":{"v":"done"},"dismissal-date":1800000060}}"#)
  }

  @Test func textInTheTypeIsEscaped() {
    let payload = NamedActivity.payload(
      .start, timestamp: 1, content: .init(state: "{}", alert: "{}", staleDate: "5"), attributesType: "a\"\\\n\u{1}ü", attributes: "{}",
      startAlert: "{}")
    #expect(payload.text.contains(#""attributes-type":"a\"\\\u000a\u0001ü""#) && payload.text.contains(#""stale-date":5"#))
    #expect(payload.traits.lane == .keep && payload.traits.hasAlert)
  }
}
