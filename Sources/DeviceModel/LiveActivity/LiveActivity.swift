import JSON
import Primitives

/// One Live Activity as a pure state machine.
///
/// Its state is a function of what was pushed and of the instant one looks at it: nothing has to run for an activity to become stale,
/// to end after eight hours or to leave the Lock Screen four hours later.
///
/// Source: Apple, "Displaying live data with Live Activities" and "Starting and updating Live Activities with ActivityKit push
/// notifications"; the timestamp rule as Apple's engineers state it in forum thread 776165.
struct LiveActivity: Sendable, Equatable {
  /// What a person sees of it.
  enum State: String, Sendable {
    /// In the Dynamic Island and on the Lock Screen.
    case active
    /// The same, marked as out of date.
    case stale
    /// Gone from the Dynamic Island, still on the Lock Screen.
    case ended
    /// Gone.
    case dismissed
  }

  /// What an update did.
  enum UpdateResult: Sendable, Equatable {
    case updated
    /// Older than the newest one that was applied, which has this timestamp.
    case staleTimestamp(newest: Int64)
    /// The activity had ended at that instant.
    case hadEnded(Instant)
  }

  /// The longest an activity runs.
  static let longestLife = TimeSpan.seconds(8 * 3600)
  /// The longest an ended one stays on the Lock Screen.
  static let longestAfterlife = TimeSpan.seconds(4 * 3600)
  /// How far ahead of the clock a push's timestamp may lie.
  static let timestampLead = TimeSpan.seconds(8 * 3600)

  let attributesType: String
  let attributes: JSONObject
  let startedAt: Instant
  private(set) var contentState: JSONObject
  /// The newest timestamp applied, in Unix seconds.
  private(set) var timestamp: Int64?
  private(set) var staleDate: Instant?
  private(set) var relevanceScore: Double
  private(set) var endedAt: Instant?
  private(set) var dismissalDate: Instant?
  var updates = 0

  /// An activity that starts at `now`, by a push or, without a timestamp, by its app.
  init(
    attributesType: String, attributes: JSONObject, contentState: JSONObject, timestamp: Int64? = nil, staleDate: Instant? = nil,
    relevanceScore: Double? = nil, at now: Instant
  ) {
    self.attributesType = attributesType
    self.attributes = attributes
    self.contentState = contentState
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore ?? 0
    startedAt = now
    self.timestamp = timestamp
  }

  /// When it ended or, if nothing else happens, will end.
  var endInstant: Instant { endedAt ?? startedAt + Self.longestLife }

  /// When it leaves, or will leave, the Lock Screen.
  var dismissalInstant: Instant { dismissalDate ?? endInstant + Self.longestAfterlife }

  /// The state at that instant.
  func state(at now: Instant) -> State {
    if now >= dismissalInstant { return .dismissed }
    if now >= endInstant { return .ended }
    return staleDate.map { now >= $0 } ?? false ? .stale : .active
  }

  /// The next instant after `now` at which the state changes by itself, with the new state; nil when it never will.
  func nextChange(after now: Instant) -> (at: Instant, state: State)? {
    switch state(at: now) {
    case .active:
      if let staleDate, staleDate < endInstant { return (staleDate, .stale) }
      return (endInstant, endInstant >= dismissalInstant ? .dismissed : .ended)
    case .stale: return (endInstant, endInstant >= dismissalInstant ? .dismissed : .ended)
    case .ended: return (dismissalInstant, .dismissed)
    case .dismissed: return nil
    }
  }

  /// Whether a push is dropped, whatever its event, since its timestamp is more than eight hours ahead, as one in milliseconds is.
  static func isAhead(_ push: ActivityPush, at now: Instant) -> Bool { push.sentAt > now + timestampLead }

  /// Applies an `update`: the newest timestamp wins, and an omitted stale-date means never stale.
  mutating func update(_ push: ActivityPush, at now: Instant) -> UpdateResult {
    if now >= endInstant { return .hadEnded(endInstant) }
    if let timestamp, push.timestamp < timestamp { return .staleTimestamp(newest: timestamp) }
    timestamp = push.timestamp
    take(push)
    staleDate = push.staleDate
    updates += 1
    return .updated
  }

  /// Applies an `end`, whose timestamp may lie in the past; false when it had ended before.
  ///
  /// The dismissal date is clipped to four hours from now; one in the past removes the activity at once, none leaves it for the four hours.
  mutating func end(_ push: ActivityPush, at now: Instant) -> Bool {
    guard now < endInstant else { return false }
    take(push)
    endedAt = now
    dismissalDate = push.dismissalDate.map { max(now, min($0, now + Self.longestAfterlife)) }
    return true
  }

  /// The person, or the system, ends and removes it at once.
  mutating func dismiss(at now: Instant) {
    if now < endInstant { endedAt = now }
    if now < dismissalInstant { dismissalDate = now }
  }

  /// The system ends it and leaves it on the Lock Screen.
  mutating func endBySystem(at now: Instant) {
    if now < endInstant { endedAt = now }
  }

  private mutating func take(_ push: ActivityPush) {
    if let contentState = push.contentState { self.contentState = contentState }
    if let relevanceScore = push.relevanceScore { self.relevanceScore = relevanceScore }
  }
}
