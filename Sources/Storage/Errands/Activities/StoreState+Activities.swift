import Delivery
import Primitives
import Push

/// Something that an activity by name must be told of.
enum ActivityNews {
  /// A token has been registered, or registered again.
  case registered(Registration)
  /// A token is registered no more, or dead.
  case gone(DeviceToken)
  /// A push that was made for an activity has ended.
  case ended(UInt32, PushID, Disposition, Cause)
}

// Pushes that the gateway makes for activities by name: whatever a round brings is gathered, and what follows from it is admitted before
// the round's commit, which holds both.
extension StoreState {
  /// Notes that a token is there, where an activity may wait for it.
  mutating func noteRegistered(_ registration: Registration) {
    guard registration.kind == .liveactivity || registration.kind == .pushToStart, !errands.activities.isEmpty,
      !errands.activities.numbers(of: registration).isEmpty
    else { return }
    errands.news.append(.registered(registration))
  }

  /// Notes that a token is of no use any more, where an activity has it.
  mutating func noteGone(_ number: UInt32) {
    guard tokens[number].pointee.kind == .liveactivity, !errands.activities.isEmpty else { return }
    let token = tokens.token(number)
    if errands.activities.number(ofToken: token) != nil { errands.news.append(.gone(token)) }
  }

  /// When an activity is to be looked at by itself, by the steady clock: a push could not be taken in.
  var nextActivityDue: Instant? { errands.retryAt }

  /// Whether there is anything to tell or to make.
  func hasActivityWork(at now: Instant) -> Bool {
    !errands.news.isEmpty || !errands.restless.isEmpty || errands.retryAt.map { steady(now) >= $0 } ?? false
  }

  /// Tells the activities of what has happened, and makes the pushes that follow.
  ///
  /// - Parameter batch: Gives the batch that goes to a token's loop.
  mutating func carryOutActivities(loops: Int, at now: Instant, _ batch: (Int) -> Batch) {
    if let retryAt = errands.retryAt, steady(now) >= retryAt {
      errands.retryAt = nil
      errands.restless.formUnion(errands.activities.activities.keys)
    }
    // What is made may be news itself: a start that ends with its admission. Nothing is made twice, so that this comes to an end.
    for _ in 0..<Self.activityPasses where !errands.news.isEmpty || !errands.restless.isEmpty {
      tell(at: now)
      let numbers = errands.restless.sorted()
      errands.restless.removeAll()
      for number in numbers {
        for due in errands.activities[number]?.dues ?? [] { make(due, for: number, loops: loops, at: now, batch) }
      }
    }
  }

  private static var activityPasses: Int { 4 }

  /// Tells activities how those of their pushes have ended that the log knows the end of: what they had not been told before a crash.
  mutating func reconcileActivities() {
    for (number, activity) in errands.activities.activities {
      for case let push? in activity.legs.filter(\.isOpen).flatMap({ [$0.push, $0.update] }) {
        guard let entry = log.find(push) else { continue }
        let last = log.last(of: entry)
        if last.disposition.isFinal { errands.news.append(.ended(number, push, last.disposition, last.cause)) }
      }
    }
  }

  private mutating func tell(at now: Instant) {
    let news = errands.news
    errands.news.removeAll()
    for item in news {
      switch item {
      case .gone(let token):
        if let number = errands.activities.number(ofToken: token) { errands.changeActivity(number) { $0.lost(token, at: now) } }
      case .ended(let number, let push, let disposition, let cause):
        errands.changeActivity(number) { $0.pushEnded(push, disposition, cause, at: now) }
      case .registered(let registration): tell(of: registration, at: now)
      }
    }
  }

  private mutating func tell(of registration: Registration, at now: Instant) {
    let token = registration.token
    let numbers = errands.activities.numbers(of: registration)
    if registration.kind == .pushToStart {
      for number in numbers { errands.changeActivity(number) { $0.found(startToken: token, device: registration.device) } }
      return
    }
    guard let activity = registration.activity else { return }
    // Those that know its id, or are called by it, come before those that wait for any.
    let ordered = numbers.sorted { a, b in
      let (first, second) = (knows(a, activity.id), knows(b, activity.id))
      return first == second ? a < b : first
    }
    for number in ordered where errands.activities[number]?.attributesType == activity.attributesType {
      var isTaken = false
      errands.changeActivity(number) {
        isTaken = $0.found(updateToken: token, activityID: activity.id, device: registration.device, at: now)
      }
      if isTaken { return }
    }
  }

  private func knows(_ number: UInt32, _ activityID: String) -> Bool {
    guard let activity = errands.activities[number] else { return false }
    return activity.name == activityID || activity.legs.contains { $0.activityID == activityID }
  }

  private mutating func make(_ due: NamedActivity.Due, for number: UInt32, loops: Int, at now: Instant, _ batch: (Int) -> Batch) {
    guard var activity = errands.activities[number] else { return }
    let push = ErrandTable.pushID(of: activity.id)
    // By the machine's clock, like the dates that backends send.
    let payload = activity.payload(due.event, timestamp: activity.nextTimestamp(at: now - machineLead))
    let found = tokens.find(due.token)
    let loop = loops == 1 ? 0 : Int(tokens.hash(of: due.token) % UInt64(loops))
    let batch = batch(loop)
    let topic = batch.append("\(activity.bundleID)\(PushType.liveactivity.topicSuffix)")
    var operation = AdmitOperation(
      reply: 0, id: push, token: due.token, type: .liveactivity, priority: .immediate, prioritySent: true, traits: payload.traits,
      received: now, topic: topic, bundleID: ByteRange(offset: Int(topic.offset), count: activity.bundleID.utf8.count),
      payload: batch.append(payload.text))
    if found.map({ tokens[$0].pointee.isActive }) ?? false {
      errand = number
      admit(&operation, nil, batch, known: found, at: now)
      errand = none
    } else {
      // Not by admission, which might register it.
      operation.result = .refused(.badDeviceToken, .tokenUnknown)
    }
    var isRefused = false
    if case .refused = operation.result {
      isRefused = true
      errands.retryAt = errands.retryAt ?? steady(now) + .seconds(Limits.activityRetrySeconds)
    }
    let timestamp = activity.timestamp
    errands.changeActivity(number) { activity in
      if !isRefused { activity.timestamp = timestamp }
      activity.made(due, push, operation.result, at: now)
    }
  }
}
