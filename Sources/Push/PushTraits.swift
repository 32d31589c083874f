/// How a push behaves among the others that wait in its token's lane.
public enum LaneClass: UInt8, CaseIterable, Sendable {
  /// A reload signal: it carries no state, so it merges into one that waits already.
  case reload
  /// A Live Activity update that only shows newer state: it gives way to a newer update and to an end with a content-state.
  case activityUpdate
  /// An end that carries the last content-state: plain updates give way to it, it gives way to nothing.
  case activityEndWithState
  /// A background push: only the newest is kept, so it gives way to a newer one; and since it may wait for its budget, it holds up no
  /// other push (Apple, "Pushing background updates to your App").
  case background
  /// Anything else: it never gives way, and nothing gives way to it.
  case keep
}

/// The `event` of a Live Activity push.
///
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
public enum ActivityEvent: UInt8, CaseIterable, Sendable {
  /// Not a Live Activity push, or one whose event cannot be told.
  case none
  case start, update, end

  /// The name used in JSON; empty for `none`.
  public var text: StaticString {
    switch self {
    case .none: ""
    case .start: "start"
    case .update: "update"
    case .end: "end"
    }
  }
}

/// What a payload says that matters after it has been checked; the payload itself is never looked at again.
public struct PushTraits: Hashable, Sendable {
  /// How it behaves in its lane.
  public var lane: LaneClass
  /// The event of a Live Activity push.
  public var activity: ActivityEvent
  /// Whether it has a `content-state` object.
  public var hasContentState: Bool
  /// Whether it has an `alert`.
  public var hasAlert: Bool
  /// The `timestamp` of a Live Activity push in Unix seconds, 0 when it has none; a device ignores an update that is
  /// older than the newest it has seen.
  public var timestamp: Int64

  /// Traits with these values.
  public init(
    lane: LaneClass, activity: ActivityEvent = .none, hasContentState: Bool = false, hasAlert: Bool = false, timestamp: Int64 = 0
  ) {
    self.lane = lane
    self.activity = activity
    self.hasContentState = hasContentState
    self.hasAlert = hasAlert
    self.timestamp = timestamp
  }

  /// The traits of a `widgets` or `controls` push.
  public static let reload = PushTraits(lane: .reload)
}
