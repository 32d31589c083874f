import Primitives
import Push

/// The activities by name, found by it, by whose they are, and by their update tokens.
struct ActivityTable {
  /// An app and the backend's name for an activity.
  struct Name: Hashable {
    var bundleID: String
    var name: String
  }

  /// Whose activities: of one user, or on one device, in one app.
  private struct Owner: Hashable {
    var bundleID: String
    var target: NamedActivity.Target
  }

  private(set) var activities: [UInt32: NamedActivity] = [:]
  private var byName: [Name: UInt32] = [:]
  /// The apps that have some, and the names of each app's.
  private var apps = SortedNames()
  private(set) var namesOfApp: [String: SortedNames] = [:]
  private var byOwner: [Owner: Set<UInt32>] = [:]
  private var byToken: [DeviceToken: UInt32] = [:]
  /// Some that may be forgotten for new ones, the first to go last.
  var over: [UInt32] = []
  /// Before when there are no more of them, unless one ends.
  private var noneOverBefore = Instant.distantPast
  /// Bytes of the texts of all.
  private(set) var textBytes = 0
  /// Bytes of the texts of each app's.
  private(set) var textBytesOfApp: [String: Int] = [:]

  var isEmpty: Bool { activities.isEmpty }
  var count: Int { activities.count }

  subscript(number: UInt32) -> NamedActivity? { activities[number] }

  /// The number of the activity of that name.
  func number(_ bundleID: String, _ name: String) -> UInt32? { byName[Name(bundleID: bundleID, name: name)] }

  /// The activity that has this update token.
  func number(ofToken token: DeviceToken) -> UInt32? { byToken[token] }

  /// The activities that a registration may belong to, the oldest first.
  func numbers(of registration: Registration) -> [UInt32] {
    guard !isEmpty else { return [] }
    var numbers: Set<UInt32> = []
    let targets = [registration.user.map(NamedActivity.Target.user), registration.device.map(NamedActivity.Target.device)]
    for case let target? in targets {
      numbers.formUnion(byOwner[Owner(bundleID: registration.bundleID, target: target)] ?? [])
    }
    return numbers.sorted()
  }

  /// The activities of apps, all of them where `apps` is nil, in the order of app and name, from behind one on, at most `limit`; and
  /// whether there are more. O(apps + limit).
  func page(of apps: Set<String>?, after: Name?, limit: Int) -> (page: [NamedActivity], hasMore: Bool) {
    var page: [NamedActivity] = []
    let candidates = apps.map { $0.sorted()[...] } ?? self.apps.names[...]
    for app in candidates where after.map({ app >= $0.bundleID }) ?? true {
      for name in namesOfApp[app]?.behind(app == after?.bundleID ? after?.name : nil) ?? [] {
        guard let activity = number(app, name).flatMap({ activities[$0] }) else { continue }
        if page.count == limit { return (page, true) }
        page.append(activity)
      }
    }
    return (page, false)
  }

  /// The one to forget for a new one: the one that has ended first, or has rested longest beyond what any may last. It finds several at
  /// once, so that one that is asked for again and again does not look at all of them each time.
  mutating func oldest(at now: Instant) -> UInt32? {
    while let number = over.popLast() {
      if let activity = activities[number], Self.restUntil(activity) <= now { return number }
    }
    guard now >= noneOverBefore else { return nil }
    var found: [(number: UInt32, since: Instant)] = []
    noneOverBefore = .distantFuture
    for (number, activity) in activities {
      let end = Self.restUntil(activity)
      if end <= now { found.append((number, activity.ended ?? activity.updated)) } else { noneOverBefore = min(noneOverBefore, end) }
    }
    found.sort { $0.since < $1.since }
    over = found.prefix(Limits.activitiesForgotten).reversed().map(\.number)
    if !over.isEmpty { noneOverBefore = .distantPast }
    return over.popLast()
  }

  /// From when on an activity may be forgotten.
  static func restUntil(_ activity: NamedActivity) -> Instant {
    guard activity.phase != .ended else { return .distantPast }
    return activity.updated + .seconds(Limits.activitySeconds + Limits.dismissalSeconds)
  }

  mutating func insert(_ number: UInt32, _ activity: NamedActivity) {
    activities[number] = activity
    if byName.updateValue(number, forKey: Name(bundleID: activity.bundleID, name: activity.name)) == nil {
      if namesOfApp[activity.bundleID] == nil { apps.insert(activity.bundleID) }
      namesOfApp[activity.bundleID, default: SortedNames()].insert(activity.name)
    }
    link(number, activity)
  }

  mutating func remove(_ number: UInt32) -> NamedActivity? {
    guard let activity = activities.removeValue(forKey: number) else { return nil }
    unlink(number, activity)
    let name = Name(bundleID: activity.bundleID, name: activity.name)
    guard byName[name] == number else { return activity }
    byName[name] = nil
    namesOfApp[name.bundleID]?.remove(name.name)
    if namesOfApp[name.bundleID]?.isEmpty ?? false {
      namesOfApp[name.bundleID] = nil
      apps.remove(name.bundleID)
    }
    return activity
  }

  /// Changes one; false when there is no such, or nothing has changed.
  mutating func change(_ number: UInt32, _ body: (inout NamedActivity) -> Void) -> Bool {
    guard let before = activities[number] else { return false }
    var activity = before
    body(&activity)
    guard activity != before else { return false }
    unlink(number, before)
    activities[number] = activity
    link(number, activity)
    return true
  }

  private mutating func link(_ number: UInt32, _ activity: NamedActivity) {
    textBytes += activity.textBytes
    textBytesOfApp[activity.bundleID, default: 0] += activity.textBytes
    // What has ended wants nothing any more, and may go.
    noneOverBefore = min(noneOverBefore, Self.restUntil(activity))
    guard activity.phase != .ended else { return }
    byOwner[Owner(bundleID: activity.bundleID, target: activity.target), default: []].insert(number)
    for case let token? in activity.legs.map(\.updateToken) { byToken[token] = number }
  }

  private mutating func unlink(_ number: UInt32, _ activity: NamedActivity) {
    textBytes -= activity.textBytes
    if let left = textBytesOfApp[activity.bundleID].map({ $0 - activity.textBytes }) {
      textBytesOfApp[activity.bundleID] = left > 0 ? left : nil
    }
    let owner = Owner(bundleID: activity.bundleID, target: activity.target)
    byOwner[owner]?.remove(number)
    if byOwner[owner]?.isEmpty ?? false { byOwner[owner] = nil }
    for case let token? in activity.legs.map(\.updateToken) where byToken[token] == number { byToken[token] = nil }
  }
}

extension NamedActivity {
  /// Bytes of its texts.
  var textBytes: Int {
    attributes.utf8.count + content.state.utf8.count + (content.alert?.utf8.count ?? 0) + startAlert.utf8.count + name.utf8.count
  }
}
