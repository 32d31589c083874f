import JSON
public import Primitives
public import Push

/// What the devices made of a broadcast.
public struct BroadcastOutcome: Sendable, Equatable {
  /// What became of it as a whole: applied, when any activity did what it asked.
  public var outcome: PushOutcome
  /// How many running activities follow the channel.
  public var reached: Int
  /// How many of them did what it asked.
  public var applied: Int

  /// The counts, in the form in which a gateway reads them, and what else there is to say.
  public var detail: String {
    let counts = "reached=\(reached) applied=\(applied)"
    return outcome.detail.map { "\(counts) \($0)" } ?? counts
  }
}

/// An activity that follows a channel.
struct ChannelFollower: Sendable, Equatable {
  var device: String
  var bundleID: String
  var id: String
}

extension DeviceFleet {
  /// A broadcast arrives, and fans out to every running activity of the app that follows its channel. O(followers).
  public mutating func receiveBroadcast(
    _ id: PushID, channel: ChannelID, bundleID: String, payload: RawSpan, at instant: Instant
  ) -> BroadcastOutcome {
    let now = set(now: instant)
    let running = runningFollowers(of: channel, now)
    let wanted = running.filter { $0.bundleID == bundleID }
    guard !wanted.isEmpty else {
      return BroadcastOutcome(outcome: recordIgnored(id, bundleID, .noSubscribers, detail: "channel \(channel)"), reached: 0, applied: 0)
    }
    let push: ActivityPush
    do {
      push = try readBroadcast(payload)
    } catch {
      let outcome = recordIgnored(id, bundleID, error.cause, detail: error.sentence(in: payload))
      return BroadcastOutcome(outcome: outcome, reached: wanted.count, applied: 0)
    }
    var outcomes: [PushOutcome] = []
    for follower in wanted { if let outcome = apply(push, id, to: follower, now) { outcomes.append(outcome) } }
    let applied = outcomes.filter { $0.disposition == .applied }
    // One that was let pass tells more than those that went well.
    let telling = outcomes.first { $0.disposition != .applied } ?? applied.first
    let detail = outcomes.count == 1 || applied.count < outcomes.count ? telling?.detail : unchecked(of: .liveactivity, nil)
    let whole: PushOutcome =
      applied.first.map { .applied($0.cause, detail: detail) } ?? .ignored(telling?.cause ?? .noSubscribers, detail: detail)
    return BroadcastOutcome(outcome: whole, reached: outcomes.count, applied: applied.count)
  }

  /// The stored message of a channel arrives for the one activity that has begun to follow it; what it is too late for it ignores.
  public mutating func receiveStoredMessage(_ id: PushID, for token: DeviceToken, payload: RawSpan, at instant: Instant) {
    let now = set(now: instant)
    guard let index = tokens.find(token), let place = place(of: tokens[index]),
      let hosted = self[place].activities.first(where: { $0.token == token })
    else { return }
    let follower = ChannelFollower(device: place.device, bundleID: self[place].bundleID, id: hosted.id)
    do {
      _ = apply(try readBroadcast(payload), id, to: follower, now)
    } catch {
      let detail = error.sentence(in: payload)
      _ = record(
        .ignored(error.cause, detail: detail), of: ReceivedPush(id: id, token: token, type: .liveactivity), index, isOfPayloadAlone: true)
    }
  }

  /// Notes that the activity follows the channel, and has the gateway asked for the channel and what came before.
  ///
  /// - Parameter environment: Where the channel must have been made; nil where the gateway has looked already.
  mutating func follow(_ channel: ChannelID, _ hosted: HostedActivity, in environment: PushEnvironment?, at place: AppPlace) {
    let bundleID = self[place].bundleID
    followers[channel] = runningFollowers(of: channel, now) + [ChannelFollower(device: place.device, bundleID: bundleID, id: hosted.id)]
    guard registersTokens else { return }
    setChannelCheck(.pending, of: hosted.token)
    effects.append(.fetchMessage(hosted.token, bundleID: bundleID, channel, environment))
  }

  /// Takes what the gateway says of the channel that the activity of that token follows. Without one the activity has not begun: it goes, and
  /// an event tells why.
  public mutating func noteChannel(_ check: ChannelCheck, of token: DeviceToken, at instant: Instant) {
    let now = set(now: instant)
    guard case .unknown(let sentence) = check else { return setChannelCheck(check, of: token) }
    guard let place = tokens.find(token).flatMap({ self.place(of: tokens[$0]) }),
      let position = self[place].activities.firstIndex(where: { $0.token == token })
    else { return }
    let hosted = self[place].activities.remove(at: position)
    retire(token, as: .gone(.channelUnknown))
    var event = DeviceEvent(.activityEnded, at: now, device: place.device, bundleID: self[place].bundleID, token: token)
    (event.items, event.disposition, event.cause, event.detail) = ([hosted.id], .ignored, .channelUnknown, sentence)
    log.append(event)
  }

  /// What the gateway has said of the channel that the activity of that token follows, or followed.
  public func channelCheck(of token: DeviceToken) -> ChannelCheck {
    guard let index = tokens.find(token) else { return .unchecked }
    if let place = place(of: tokens[index]), let hosted = self[place].activities.first(where: { $0.token == token }) {
      return hosted.channelCheck
    }
    let refusal = log.events(after: 0, limit: .max) { $0.token == token && $0.cause == .channelUnknown }.events.last
    return refusal.map { .unknown($0.detail ?? "the app has no such channel") } ?? .unchecked
  }

  private mutating func setChannelCheck(_ check: ChannelCheck, of token: DeviceToken) {
    guard let place = tokens.find(token).flatMap({ self.place(of: tokens[$0]) }),
      let position = self[place].activities.firstIndex(where: { $0.token == token })
    else { return }
    self[place].activities[position].channelCheck = check
  }

  /// The channel's followers without those that are over, which are forgotten.
  private mutating func runningFollowers(of channel: ChannelID, _ now: Instant) -> [ChannelFollower] {
    guard let known = followers[channel] else { return [] }
    let running = known.filter { follower in
      guard let place = place(of: follower), let hosted = self[place].activities.first(where: { $0.id == follower.id }) else {
        return false
      }
      return hosted.channel == channel && now < hosted.activity.endInstant
    }
    followers[channel] = running.isEmpty ? nil : running
    return running
  }

  private func place(of follower: ChannelFollower) -> AppPlace? {
    devices[follower.device]?.index(of: follower.bundleID).map { AppPlace(device: follower.device, app: $0) }
  }

  private mutating func apply(_ push: ActivityPush, _ id: PushID, to follower: ChannelFollower, _ now: Instant) -> PushOutcome? {
    guard let place = place(of: follower), let hosted = self[place].activities.first(where: { $0.id == follower.id }),
      let index = tokens.find(hosted.token)
    else { return nil }
    return changeActivity(push, at: place, index, ReceivedPush(id: id, token: hosted.token, type: .liveactivity), now)
  }

  /// Source: Apple, "Sending broadcast push notification requests to APNs": a broadcast updates and ends, and starts nothing.
  private func readBroadcast(_ payload: RawSpan) throws(PayloadProblem) -> ActivityPush {
    let aps = try JSONValue.aps(of: payload)
    guard aps["event"] != "start" else {
      throw PayloadProblem(cause: .tokenKindMismatch, sentence: "aps.event must be \"update\" or \"end\": a broadcast starts no activity")
    }
    return try ActivityPush(aps: aps, shift: shift)
  }

  private mutating func recordIgnored(_ id: PushID, _ bundleID: String, _ cause: Cause, detail: String) -> PushOutcome {
    var event = DeviceEvent(.pushIgnored, at: now, bundleID: bundleID)
    (event.push, event.disposition, event.cause, event.detail) = (id, .ignored, cause, detail)
    log.append(event)
    return .ignored(cause, detail: detail)
  }
}
