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
  private var byOwner: [Owner: Set<UInt32>] = [:]
  private var byToken: [DeviceToken: UInt32] = [:]
  /// Bytes of the texts of all.
  private(set) var textBytes = 0

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

  /// The activities of an app in the order of their names, from behind one on, at most `limit`; and whether there are more.
  func page(_ include: (NamedActivity) -> Bool, after: Name?, limit: Int) -> (page: [NamedActivity], hasMore: Bool) {
    func isBefore(_ a: Name, _ b: Name) -> Bool { (a.bundleID, a.name) < (b.bundleID, b.name) }
    let names = byName.keys.filter { name in after.map { isBefore($0, name) } ?? true }.sorted(by: isBefore)
    var page: [NamedActivity] = []
    for name in names {
      guard let activity = byName[name].flatMap({ activities[$0] }), include(activity) else { continue }
      if page.count == limit { return (page, true) }
      page.append(activity)
    }
    return (page, false)
  }

  /// The one to forget for a new one: the one that has ended first, or has rested longest beyond what any may last.
  func oldest(at now: Instant) -> UInt32? {
    let over = activities.filter { _, activity in
      activity.phase == .ended || now - activity.updated >= .seconds(Limits.activitySeconds + Limits.dismissalSeconds)
    }
    return over.min { ($0.value.ended ?? $0.value.updated) < ($1.value.ended ?? $1.value.updated) }?.key
  }

  mutating func insert(_ number: UInt32, _ activity: NamedActivity) {
    activities[number] = activity
    byName[Name(bundleID: activity.bundleID, name: activity.name)] = number
    link(number, activity)
  }

  mutating func remove(_ number: UInt32) -> NamedActivity? {
    guard let activity = activities.removeValue(forKey: number) else { return nil }
    unlink(number, activity)
    let name = Name(bundleID: activity.bundleID, name: activity.name)
    if byName[name] == number { byName[name] = nil }
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
    // What has ended wants nothing any more.
    guard activity.phase != .ended else { return }
    byOwner[Owner(bundleID: activity.bundleID, target: activity.target), default: []].insert(number)
    for case let token? in activity.legs.map(\.updateToken) { byToken[token] = number }
  }

  private mutating func unlink(_ number: UInt32, _ activity: NamedActivity) {
    textBytes -= activity.textBytes
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
