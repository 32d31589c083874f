import Primitives
import Push

/// What the mock knows of one push token.
///
/// A token that was pushed to before anything else named it is *adopted*: this entry is then all there is of its device, its app
/// and its one item, so that a hundred thousand such tokens cost a table and no object graph. It becomes a full `Device` when
/// somebody touches that device over the control API.
struct TokenEntry: Sendable {
  /// What stands behind the token.
  enum Owner: Sendable, Equatable {
    /// Nothing but this entry.
    case adopted
    /// The push-enabled widgets of the app, the app itself or its push-to-start stream, on that device.
    case app(device: String)
    /// One control or activity of the app on that device.
    case item(device: String, id: String)
    /// Nothing any more; pushes are answered 200 and do nothing, for this cause.
    case gone(Cause)
    /// The app was removed, or the token replaced: 410 with this instant.
    case unregistered(since: Instant)
  }

  /// What the gateway said the token was registered as; in a box, since few entries have one.
  indirect enum Word: Sendable, Equatable {
    case registration(Registration)
  }

  let token: DeviceToken
  var kind: TokenKind
  var bundleID: String
  var owner: Owner
  /// Whether somebody else registered it at the gateway; such a token is never registered over again from here.
  var foreign: Bool
  var generation = 0
  /// What it was registered as, where that tells more than its kind and its app.
  var word: Word?
  var registration = RegistrationState.none
  /// Pushes that were applied while the token was adopted.
  var applied: UInt32 = 0
  var lastApplied: Instant?
  var lastPush: PushID?

  init(token: DeviceToken, kind: TokenKind, bundleID: String, owner: Owner, foreign: Bool) {
    self.token = token
    self.kind = kind
    self.bundleID = bundleID
    self.owner = owner
    self.foreign = foreign
  }

  /// Whether what stands behind it follows what the gateway says of it: somebody else may register it anew at any time.
  var followsGateway: Bool {
    guard foreign else { return false }
    switch owner {
    case .adopted, .app, .item: return true
    case .gone, .unregistered: return false
    }
  }

  /// Whether the entry may be forgotten to make room for another.
  var isExpendable: Bool {
    // Somebody waits to hear how it went.
    if registration == .pending { return false }
    switch owner {
    case .adopted, .gone, .unregistered: return true
    case .app, .item: return false
    }
  }
}

/// How far a token's registration with the gateway has come.
public enum RegistrationState: UInt8, Sendable {
  /// Nobody registers it from here.
  case none
  /// To be sent, or being sent again after a failure.
  case pending
  /// The gateway took it.
  case registered
  /// The gateway refused it for good.
  case refused

  /// The name used in JSON.
  public var name: String { "\(self)" }
}
