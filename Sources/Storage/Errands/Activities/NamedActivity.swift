public import Primitives
public import Push

/// A Live Activity that a backend calls by a name of its own: what it is to show, and how far each device is with that.
///
/// Pure, and told of everything: what is to be done follows from the state (`dues`), whatever has led to it, so that nothing is forgotten
/// when a push could not be taken in at once. A device is a leg: started once, by a push to its push-to-start token; then updated and ended
/// through the update token that its app registers.
public struct NamedActivity: Hashable, Sendable {
  /// Where it is shown.
  public enum Target: Hashable, Sendable {
    /// On every device of a user.
    case user(String)
    /// On one device.
    case device(String)
  }

  /// What it shows; the parts are JSON texts.
  public struct Content: Hashable, Sendable {
    /// The content-state, an object.
    public var state: String
    /// The alert with which it is shown, an object; nil for none.
    public var alert: String?
    /// When it is stale, a number of Unix seconds; nil for never.
    public var staleDate: String?

    /// Content of these parts.
    public init(state: String, alert: String? = nil, staleDate: String? = nil) {
      self.state = state
      self.alert = alert
      self.staleDate = staleDate
    }
  }

  /// What was last asked of it.
  public enum Phase: UInt8, CaseIterable, Sendable {
    /// To be shown.
    case running
    /// To be ended, wherever it runs.
    case ending
    /// It has ended everywhere; nothing more happens to it.
    case ended
  }

  /// One device.
  public struct Leg: Hashable, Sendable {
    /// How far it is.
    public enum State: UInt8, CaseIterable, Sendable {
      /// A start is to be sent, or on its way.
      case starting
      /// It runs.
      case started
      /// The start has come to nothing.
      case failed
      /// It has been ended.
      case ended
    }

    /// How far it is.
    public internal(set) var state = State.starting
    /// Its name, where a registration tells it.
    public internal(set) var device: String?
    /// Where its start goes; nil where the app has started it.
    public internal(set) var startToken: DeviceToken?
    /// Where updates go; nil until the app has registered it.
    public internal(set) var updateToken: DeviceToken?
    /// The activity's id on the device.
    public internal(set) var activityID: String?
    /// Why it has failed, or how its end has ended.
    public internal(set) var cause = Cause.none
    /// The version of the content that it was sent last; 0 for none.
    public internal(set) var shown: UInt32 = 0
    /// The push that starts it, or, once `isEndSent`, that ends it.
    var push: PushID?
    /// The latest update, while nobody knows whether it has come.
    var update: PushID?
    var isEndSent = false

    /// Whether it may still come to show something.
    var isOpen: Bool { state == .starting || state == .started }
  }

  /// A push that was made for it.
  public struct Sent: Hashable, Sendable {
    /// Its id.
    public var id: PushID
    /// What it was to do.
    public var event: ActivityEvent
  }

  /// Its id, of which each of its pushes has the first half in its own.
  let id: PushID
  /// The app.
  public let bundleID: String
  /// The backend's name for it.
  public let name: String
  /// Where it is shown.
  public internal(set) var target: Target
  /// The Swift type of its attributes.
  public internal(set) var attributesType: String
  /// Its attributes, an object as JSON text.
  public internal(set) var attributes: String
  /// The newest content.
  public internal(set) var content: Content
  /// The number of the newest content, from 1.
  public internal(set) var version: UInt32 = 1
  /// What was last asked of it.
  public internal(set) var phase = Phase.running
  /// The devices.
  public internal(set) var legs: [Leg] = []
  /// When it was asked for first.
  public let created: Instant
  /// When it was last asked for anything.
  public internal(set) var updated: Instant
  /// When it was first known to run.
  public internal(set) var started: Instant?
  /// When it was over.
  public internal(set) var ended: Instant?
  /// The latest pushes made for it, at most `Limits.activityPushes`, the oldest first.
  public internal(set) var pushes: [Sent] = []
  /// When it leaves the Lock Screen once ended, a number of Unix seconds; nil leaves that to the device.
  var dismissalDate: String?
  /// The alert of the first content, without which no device starts anything.
  var startAlert: String
  /// The latest timestamp sent: a device lets nothing pass that is older.
  var timestamp: Int64 = 0

  init(
    id: PushID, bundleID: String, name: String, target: Target, attributesType: String, attributes: String, content: Content,
    at now: Instant
  ) {
    self.id = id
    self.bundleID = bundleID
    self.name = name
    self.target = target
    self.attributesType = attributesType
    self.attributes = attributes
    self.content = content
    created = now
    updated = now
    startAlert = content.alert ?? ""
  }

  /// Whether nothing has been started anywhere, so that it can still become another.
  public var isUnstarted: Bool { legs.allSatisfy { $0.state == .failed } }
}
