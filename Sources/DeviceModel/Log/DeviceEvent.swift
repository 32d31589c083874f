public import JSON
public import Primitives
public import Push

/// One thing that happened on a device, or that did not and why.
public struct DeviceEvent: Sendable, Equatable {
  /// What happened; the values of `event` in JSON.
  public enum What: UInt8, CaseIterable, Sendable {
    // By pushes.
    case widgetsReloaded, controlReloaded, activityStarted, activityUpdated, activityEnded, alertShown, badgeSet, soundPlayed
    case appWoken, callReported, complicationUpdated, filesSignaled, locationQueried, checkedIn, speakerAnnounced, passUpdated
    case pushIgnored, pushRefused, pushFaulted
    // By themselves.
    case activityStale, activityDismissed
    // By a person.
    case deviceAdded, deviceChanged, deviceRemoved, appInstalled, appChanged, appRemoved
    case widgetPlaced, widgetRemoved, controlPlaced, controlRemoved
    // With the gateway.
    case tokenRotated, tokenAdopted, tokenRegistered, tokenUnregistered, registrationFailed

    /// The name used in JSON.
    public var name: String { "\(self)" }

    /// The event of that name, or nil.
    public init?(name: String) {
      guard let match = What.allCases.first(where: { $0.name == name }) else { return nil }
      self = match
    }
  }

  /// Counts the events of the process from 1; the cursor of lists.
  public internal(set) var sequence: UInt64 = 0
  /// When it happened.
  public var at: Instant
  /// What happened.
  public var what: What
  /// The device; nil stands for the one that is named by its only token.
  public var device: String?
  /// The app, where one was concerned.
  public var bundleID: String?
  /// The push token, where one was concerned.
  public var token: DeviceToken?
  /// The push that did it.
  public var push: PushID?
  /// What became of that push.
  public var disposition: Disposition?
  /// Why.
  public var cause = Cause.none
  /// The ids of the widgets, the control or the activity.
  public var items: [String] = []
  /// More, as one sentence.
  public var detail: String?
  /// Somebody has had it forgotten; its number stays.
  var isForgotten = false

  init(_ what: What, at now: Instant, device: String? = nil, bundleID: String? = nil, token: DeviceToken? = nil) {
    self.what = what
    at = now
    self.device = device
    self.bundleID = bundleID
    self.token = token
  }

  /// The device's name; a device that was made for a token has the token's hexadecimal text.
  public var deviceName: String? { device ?? token?.hex }

  /// The event as a member of the list in `GET …/events`.
  public var json: JSONValue {
    var object: JSONObject = ["sequence": .integer(Int64(sequence)), "at": .string(at.description), "event": .string(what.name)]
    object["device"] = deviceName.map { .string($0) }
    object["bundleID"] = bundleID.map { .string($0) }
    if !items.isEmpty { object["items"] = .array(items.map { .string($0) }) }
    object["token"] = token.map { .string($0.hex) }
    object["push"] = push.map { .string($0.description) }
    object["disposition"] = disposition.map { .string($0.name) }
    if cause != .none { object["cause"] = .string(cause.name) }
    object["detail"] = detail.map { .string($0) }
    return .object(object)
  }
}
