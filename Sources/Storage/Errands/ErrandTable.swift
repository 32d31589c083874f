import Primitives
public import Push

/// For what a push was made that no provider sent.
public enum PushErrand: Hashable, Sendable {
  /// A reload, by its id.
  case reload(PushID)
  /// A Live Activity, by its name.
  case activity(name: String)
}

/// What the gateway does of its own accord, by number: reloads and activities by name; part of the state, and as pure.
///
/// The apns-id of each push that is made for an errand begins with the errand's own eight bytes, which are random. So the log, the journal
/// and saved pages say whose a push is without a byte more.
struct ErrandTable {
  private(set) var reloads: [UInt32: Reload] = [:]
  private(set) var activities = ActivityTable()
  /// What activities have not been told yet.
  var news: [ActivityNews] = []
  /// The activities that may have a push to make.
  var restless: Set<UInt32> = []
  /// When pushes of activities that could not be taken in are made again, by the steady clock.
  var retryAt: Instant?
  /// The numbers of the reloads, the oldest first.
  private var reloadOrder: [UInt32] = []
  /// Bytes of the names that all of them list.
  private var reloadNameBytes = 0
  /// The errands by the first half of their pushes' ids.
  private var numbers: [UInt64: UInt32] = [:]
  private var last: UInt32 = 0
  private var new: Set<UInt32> = []
  private var moved: Set<UInt32> = []
  private var forgotten: [UInt32] = []

  /// Whether there is any.
  var isEmpty: Bool { numbers.isEmpty }
  /// Pushes of all reloads that have been taken in and have not ended.
  private(set) var openCount = 0
  /// Those among them that are on their way.
  private(set) var forwardingCount = 0

  // MARK: Whose a push is

  /// The number of the errand that has made a push; nil for a provider's.
  func number(of push: PushID) -> UInt32? { numbers.isEmpty ? nil : numbers[push.high] }

  /// What has made a push of that app; nil for a provider's, or when it is forgotten.
  func errand(of push: PushID, bundleID: @autoclosure () -> String) -> PushErrand? {
    guard let number = number(of: push) else { return nil }
    if let reload = reloads[number] { return reload.request.selector.bundleID == bundleID() ? .reload(reload.id) : nil }
    return activities[number].flatMap { $0.bundleID == bundleID() ? .activity(name: $0.name) : nil }
  }

  /// A first half for the ids of an errand's pushes. Random beyond what a seed gives: these are told to others, who must not learn
  /// anything about the state's own generator from them.
  private func makeKey() -> UInt64 {
    while true {
      let key = UInt64.random(in: 1 ... .max)
      if numbers[key] == nil { return key }
    }
  }

  /// The id of the next push of an errand.
  static func pushID(of errand: PushID) -> PushID { PushID(high: errand.high, low: .random(in: 1 ... .max)) }

  // MARK: Reloads

  /// The running reloads.
  var running: [UInt32] { reloadOrder.filter { reloads[$0]?.state == .running } }

  /// The reload with that id.
  func reload(_ id: PushID) -> (number: UInt32, Reload)? {
    guard let number = numbers[id.high], let reload = reloads[number], reload.id == id else { return nil }
    return (number, reload)
  }

  /// Reloads that `include` wants, newest first, from behind number `before` on, at most `limit`, or until their names have as many
  /// bytes as a page may; and whether there are more.
  func page(before: UInt32, limit: Int, _ include: (Reload) -> Bool) -> (reloads: [Reload], last: UInt32, hasMore: Bool) {
    var found: [Reload] = []
    var (last, bytes) = (before, 0)
    for number in reloadOrder.reversed() where number < before {
      guard let reload = reloads[number], include(reload) else { continue }
      if found.count == limit || bytes >= Limits.pageBytes { return (found, last, true) }
      found.append(reload)
      bytes += reload.request.selector.nameBytes
      last = number
    }
    return (found, last, false)
  }

  /// Begins a reload, unless its key is known or too many run.
  mutating func begin(_ request: ReloadRequest, at now: Instant) -> (ReloadAnswer, number: UInt32?) {
    if let earlier = reload(keyOf: request) { return (earlier.request == request ? .repeated(earlier) : .keyInUse(earlier.id), nil) }
    if let refusal = refusal(of: request) { return (.tooMany(refusal), nil) }
    let reload = Reload(id: PushID(high: makeKey(), low: .random(in: 1 ... .max)), request: request, created: now)
    last += 1
    add(last, reload)
    new.insert(last)
    while reloadOrder.count > Limits.reloadsRemembered || reloadNameBytes > Limits.reloadNameBytes,
      let oldest = reloadOrder.first(where: { reloads[$0]?.state != .running })
    {
      forget(oldest)
    }
    return (.begun(reload), last)
  }

  /// Why the one who asks gets no reload more; nil where he does.
  private func refusal(of request: ReloadRequest) -> ShareRefusal? {
    let running = running.compactMap { reloads[$0]?.request }
    let bundleID = request.selector.bundleID
    let token = request.caller.isEmpty ? nil : (request.caller, running.count { $0.caller == request.caller })
    return FairShare(of: Limits.reloadsRunning).refusal(
      used: running.count, token: token, apps: [(bundleID, running.count { $0.selector.bundleID == bundleID })])
  }

  /// The reload for which a request's key stands. O(reloads).
  private func reload(keyOf request: ReloadRequest) -> Reload? {
    guard let key = request.key else { return nil }
    return reloads.values.first {
      $0.request.key == key && $0.request.caller == request.caller && $0.request.selector.bundleID == request.selector.bundleID
    }
  }

  // MARK: Activities

  /// Takes in a new activity, which `make` makes with its id; its number.
  mutating func begin(_ make: (PushID) -> NamedActivity) -> UInt32 {
    let activity = make(PushID(high: makeKey(), low: .random(in: 1 ... .max)))
    last += 1
    activities.insert(last, activity)
    numbers[activity.id.high] = last
    new.insert(last)
    return last
  }

  /// Changes an activity, and has the next commit say so; it may then have a push to make.
  mutating func changeActivity(_ number: UInt32, _ body: (inout NamedActivity) -> Void) {
    guard activities.change(number, body) else { return }
    moved.insert(number)
    restless.insert(number)
  }

  /// Forgets the activities that make way for a new one, see `ActivityTable.room`; none where it tells why there is no room.
  mutating func makeRoom(for bundleID: String, replacing old: UInt32?, bytes: Int, at now: Instant) -> ActivityRefusal? {
    switch activities.room(for: bundleID, replacing: old, bytes: bytes, at: now) {
    case .failure(let refusal): return refusal
    case .success(let leaving): for number in leaving { forgetActivity(number) }
    }
    return nil
  }

  /// Forgets an activity.
  mutating func forgetActivity(_ number: UInt32) {
    guard let activity = activities.remove(number) else { return }
    forgetErrand(number, key: activity.id.high)
  }

  /// Changes a reload, and has the next commit say so.
  mutating func change(_ number: UInt32, _ body: (inout Reload) -> Void) {
    guard var reload = reloads.removeValue(forKey: number) else { return }
    body(&reload)
    reloads[number] = reload
    moved.insert(number)
  }

  // MARK: What becomes of their pushes

  /// A push has been taken in, and waits or goes.
  mutating func opened(_ number: UInt32) {
    guard reloads[number] != nil else { return }
    openCount += 1
    reloads[number]?.open += 1
  }

  /// A push goes to its upstream, or comes back from there.
  mutating func moved(_ number: UInt32, forwarding change: Int) {
    guard reloads[number] != nil else { return }
    forwardingCount += change
    reloads[number]?.forwarding += change
  }

  /// A push that had been taken in has ended; `disposition` is nil where its device has told before.
  mutating func ended(_ number: UInt32, _ push: PushID, _ disposition: Disposition?, _ cause: Cause) {
    guard reloads[number] != nil else { return noteEnd(number, push, disposition, cause) }
    openCount -= 1
    reloads[number]?.open -= 1
    if let disposition { count(number, disposition) }
  }

  /// A push that an activity waits for has ended, or its device has told more.
  mutating func noteEnd(_ number: UInt32, _ push: PushID, _ disposition: Disposition?, _ cause: Cause) {
    guard let disposition, activities[number] != nil else { return }
    news.append(.ended(number, push, disposition, cause))
  }

  /// A push has ended so, or, with -1, has ended otherwise after all.
  mutating func count(_ number: UInt32, _ disposition: Disposition, _ change: Int = 1) {
    guard reloads[number] != nil else { return }
    reloads[number]?.ends[Int(disposition.rawValue)] += change
    moved.insert(number)
  }

  // MARK: Saving

  /// Whether the next commit has something to save.
  var hasChanges: Bool { !new.isEmpty || !moved.isEmpty || !forgotten.isEmpty }

  /// What the next commit saves.
  var changes: [ErrandChange] {
    var changes = forgotten.map { ErrandChange.forget(number: $0) }
    for number in new {
      if let fixed = fixed(number), let progress = progress(number) {
        changes.append(.put(number: number, fixed: fixed, progress: progress))
      }
    }
    for number in moved where !new.contains(number) {
      if let progress = progress(number) { changes.append(.progress(number: number, progress)) }
    }
    return changes
  }

  /// The commit has saved every change.
  mutating func committed() {
    guard hasChanges else { return }
    new.removeAll()
    moved.removeAll()
    forgotten.removeAll()
  }

  /// Takes what an engine has saved.
  mutating func load(_ number: UInt32, fixed: UnsafeRawBufferPointer, progress: UnsafeRawBufferPointer) throws(ByteReader.Malformed) {
    last = max(last, number)
    var (fixed, progress) = (ByteReader(fixed), ByteReader(progress))
    switch Family(rawValue: try fixed.read()) {
    case .reload: add(number, try ReloadCoding.decode(&fixed, &progress))
    case .activity:
      let activity = try ActivityCoding.decode(&fixed, &progress)
      activities.insert(number, activity)
      numbers[activity.id.high] = number
      restless.insert(number)
    case nil: break
    }
  }

  private enum Family: UInt8 { case reload = 1, activity }

  private func fixed(_ number: UInt32) -> [UInt8]? {
    let arena = ByteArena(capacity: 512)
    if let reload = reloads[number] {
      arena.append(Family.reload.rawValue)
      ReloadCoding.fixed(reload, to: arena)
    } else if let activity = activities[number] {
      arena.append(Family.activity.rawValue)
      ActivityCoding.fixed(activity, to: arena)
    } else {
      return nil
    }
    return Array(arena.buffer)
  }

  private func progress(_ number: UInt32) -> [UInt8]? {
    let arena = ByteArena(capacity: 256)
    if let reload = reloads[number] {
      ReloadCoding.progress(reload, to: arena)
    } else if let activity = activities[number] {
      ActivityCoding.progress(activity, to: arena)
    } else {
      return nil
    }
    return Array(arena.buffer)
  }

  private mutating func add(_ number: UInt32, _ reload: Reload) {
    reloads[number] = reload
    reloadOrder.append(number)
    reloadNameBytes += reload.request.selector.nameBytes
    numbers[reload.id.high] = number
  }

  private mutating func forget(_ number: UInt32) {
    guard let reload = reloads.removeValue(forKey: number) else { return }
    openCount -= reload.open
    forwardingCount -= reload.forwarding
    reloadOrder.removeAll { $0 == number }
    reloadNameBytes -= reload.request.selector.nameBytes
    forgetErrand(number, key: reload.id.high)
  }

  private mutating func forgetErrand(_ number: UInt32, key: UInt64) {
    numbers[key] = nil
    moved.remove(number)
    restless.remove(number)
    // One that the engine has never seen needs no forgetting.
    if new.remove(number) == nil { forgotten.append(number) }
  }
}
