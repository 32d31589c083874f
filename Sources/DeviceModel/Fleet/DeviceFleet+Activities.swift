import JSON
import Primitives
import Push
import Rules

extension DeviceFleet {
  /// A Live Activity push: checked as the device checks it, then given to the one activity, or to the app to start one.
  mutating func receiveActivityPush(_ index: Int, _ push: ReceivedPush, _ payload: RawSpan, at now: Instant) -> PushOutcome {
    let activityPush: ActivityPush
    do {
      activityPush = try ActivityPush(aps: JSONValue.aps(of: payload), shift: shift)
    } catch {
      return record(.ignored(error.cause, detail: error.sentence(in: payload)), of: push, index, isOfPayloadAlone: true)
    }
    if case .gone(let cause) = tokens[index].owner { return record(.ignored(cause, detail: nil), of: push, index) }
    if tokens[index].owner == .adopted {
      tokens[index].kind = activityPush.event.isStart ? .pushToStart : .liveactivity
      guard materialise(index) else {
        return record(.ignored(.activityLimitReached, detail: tooManyDevices.message), of: push, index)
      }
    }
    guard let place = place(of: tokens[index]) else {
      return record(.ignored(.noSuchApp, detail: nil), of: push, index)
    }
    switch (tokens[index].kind, activityPush.event) {
    case (.pushToStart, .start(let start)):
      return startActivity(start, activityPush, at: place, index, push, now)
    case (.pushToStart, _):
      let sentence = "an update or end goes to the activity's update token; this is a push-to-start token"
      return record(.ignored(.tokenKindMismatch, detail: sentence), of: push, index)
    case (_, .start):
      let sentence = "a start goes to the app's push-to-start token; this is the update token of an activity"
      return record(.ignored(.tokenKindMismatch, detail: sentence), of: push, index)
    case (_, .update), (_, .end): return changeActivity(activityPush, at: place, index, push, now)
    }
  }

  private mutating func startActivity(
    _ start: ActivityPush.Start, _ activityPush: ActivityPush, at place: AppPlace, _ index: Int, _ push: ReceivedPush,
    _ now: Instant
  ) -> PushOutcome {
    let manifest = manifest(at: place)
    let known = manifest.activities.map(\.attributesType)
    guard known.isEmpty || known.contains(start.attributesType) else {
      let nearest = nearestName(to: start.attributesType, among: known).map { "; is \($0) meant?" } ?? ""
      let sentence = "the app has no attributes type \(start.attributesType); it has \(known.joined(separator: ", "))\(nearest)"
      return record(.ignored(.attributesTypeUnknown, detail: sentence), of: push, index)
    }
    if let sentence = aheadOfTime(activityPush, now) {
      return record(.ignored(.futureTimestamp, detail: sentence), of: push, index, isOfPayloadAlone: true)
    }
    let contentState = activityPush.contentState ?? [:]
    if let problem = problem(attributes: start.attributes, contentState: contentState, of: start.attributesType, at: place) {
      return record(.ignored(problem.cause, detail: problem.detail), of: push, index)
    }
    let activity = LiveActivity(
      attributesType: start.attributesType, attributes: start.attributes, contentState: contentState,
      timestamp: activityPush.timestamp, staleDate: activityPush.staleDate, relevanceScore: activityPush.relevanceScore,
      at: now)
    let hosted: HostedActivity
    do {
      hosted = try add(activity, id: nil, channel: start.channel, at: place)
    } catch {
      return record(.ignored(.activityLimitReached, detail: error.message), of: push, index)
    }
    let detail =
      "activity \(hosted.id)\(remark(attributes: start.attributes, contentState: contentState, of: start.attributesType, at: place))"
    return record(.applied(.started, detail: detail), of: push, index, what: .activityStarted, items: [hosted.id])
  }

  mutating func changeActivity(
    _ activityPush: ActivityPush, at place: AppPlace, _ index: Int, _ push: ReceivedPush, _ now: Instant
  ) -> PushOutcome {
    let activities = self[place].activities
    guard let position = activities.firstIndex(where: { $0.token == push.token }) else {
      return record(.ignored(.noSuchActivity, detail: nil), of: push, index)
    }
    let hosted = activities[position]
    guard now < hosted.activity.endInstant else {
      let sentence = "activity \(hosted.id) ended at \(hosted.activity.endInstant)"
      return record(.ignored(.activityEnded, detail: sentence), of: push, index)
    }
    if let sentence = aheadOfTime(activityPush, now) {
      return record(.ignored(.futureTimestamp, detail: sentence), of: push, index, isOfPayloadAlone: true)
    }
    let (state, type) = (activityPush.contentState, hosted.activity.attributesType)
    if let problem = problem(attributes: nil, contentState: state, of: type, at: place) {
      return record(.ignored(problem.cause, detail: problem.detail), of: push, index)
    }
    let detail = "activity \(hosted.id)\(remark(attributes: nil, contentState: state, of: type, at: place))"
    if activityPush.event == .end {
      _ = self[place].activities[position].activity.end(activityPush, at: now)
      expect(self[place].activities[position].activity)
      defer { if self[place].activities[position].activity.state(at: now) == .dismissed { noteDismissal(hosted, at: place, now) } }
      return record(.applied(.ended, detail: detail), of: push, index, what: .activityEnded, items: [hosted.id])
    }
    switch self[place].activities[position].activity.update(activityPush, at: now) {
    case .updated:
      expect(self[place].activities[position].activity)
      return record(.applied(.updated, detail: detail), of: push, index, what: .activityUpdated, items: [hosted.id])
    case .staleTimestamp(let newest):
      let sentence = "aps.timestamp \(activityPush.timestamp) is older than \(newest), which activity \(hosted.id) shows"
      return record(.ignored(.staleTimestamp, detail: sentence), of: push, index)
    case .hadEnded(let ended):
      return record(.ignored(.activityEnded, detail: "activity \(hosted.id) ended at \(ended)"), of: push, index)
    }
  }

  /// Why the push is dropped when its timestamp is too far ahead; nil when it is not.
  private func aheadOfTime(_ push: ActivityPush, _ now: Instant) -> String? {
    guard LiveActivity.isAhead(push, at: now) else { return nil }
    let unit = push.timestamp > 100_000_000_000 ? "; it looks like milliseconds, send seconds" : ""
    return "aps.timestamp \(push.timestamp) is more than 8 hours ahead of \((now - shift).unixSeconds)\(unit)"
  }

  private mutating func noteDismissal(_ hosted: HostedActivity, at place: AppPlace, _ now: Instant) {
    var event = DeviceEvent(
      .activityDismissed, at: now, device: place.device, bundleID: self[place].bundleID, token: hosted.token)
    event.items = [hosted.id]
    log.append(event)
  }

  /// Adds a running activity with a token of its own, and forgets the oldest ended one where there are too many.
  ///
  /// - Parameter environment: See `follow`.
  mutating func add(
    _ activity: LiveActivity, id: String?, channel: ChannelID? = nil, in environment: PushEnvironment? = nil, at place: AppPlace
  ) throws(DeviceError) -> HostedActivity {
    let present = self[place].activities
    let bundleID = self[place].bundleID
    guard present.count(where: { now < $0.activity.endInstant }) < Limits.activitiesPerApp else {
      throw DeviceError(
        .full, "\(bundleID) runs \(Limits.activitiesPerApp) activities on \(place.device), as many as it may; end one first")
    }
    var ended = present.filter { now >= $0.activity.endInstant }
    while ended.count >= Limits.endedActivitiesPerApp {
      let oldest = ended.removeFirst()
      self[place].activities.removeAll { $0.id == oldest.id }
      retire(oldest.token, as: .gone(.activityEnded))
    }
    let id = id ?? nextActivityID(of: activity.attributesType, at: place)
    if let remembered = self[place].activities.first(where: { $0.id == id && $0.isRemembered }) {
      self[place].activities.removeAll { $0.token == remembered.token }
      forget(remembered.token)
    }
    let token = try mint(
      .liveactivity, bundleID: bundleID, path: [place.device, bundleID, id], owner: .item(device: place.device, id: id))
    let hosted = HostedActivity(id: id, token: token, activity: activity, channel: channel)
    self[place].activities.append(hosted)
    expect(activity)
    if let channel { follow(channel, hosted, in: environment, at: place) } else { register(token) }
    return hosted
  }

  /// The name of the next activity of that type that is started without one: that of a remembered one is taken again.
  private mutating func nextActivityID(of attributesType: String, at place: AppPlace) -> String {
    let activities = self[place].activities
    var id: String
    repeat {
      self[place].activitiesStarted += 1
      id = "\(Self.stem(attributesType))-\(self[place].activitiesStarted)"
    } while activities.contains { $0.id == id && !$0.isRemembered }
    return id
  }
}

extension ActivityPush.Event {
  /// Whether it starts an activity.
  fileprivate var isStart: Bool {
    if case .start = self { true } else { false }
  }
}
