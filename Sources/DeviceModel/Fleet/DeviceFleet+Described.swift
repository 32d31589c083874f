public import Primitives
public import Push

// What the gateway knows of a token that nobody has described here: whoever registered it there said which activity or control it is of.
extension DeviceFleet {
  /// Whether the gateway should be asked what the token was registered as, before a push of that type is the first to reach it.
  ///
  /// Only for what the answer changes: to reload widgets none is needed, and of their tokens there may be a great many.
  public func isWorthAsking(about token: DeviceToken, _ type: PushType) -> Bool {
    registersTokens && (type == .liveactivity || type == .controls) && tokens.find(token) == nil
  }

  /// Adopts the token of a control or an activity as what it was registered as; one that is known already stays what it is.
  public mutating func adopt(_ registration: Registration, at instant: Instant) {
    _ = set(now: instant)
    let subject: TokenEntry.Subject
    let type: PushType
    if registration.kind == .controls, let kind = registration.controlKind {
      (subject, type) = (.control(kind: kind), .controls)
    } else if registration.kind == .liveactivity, let activity = registration.activity {
      (subject, type) = (.activity(activity), .liveactivity)
    } else {
      return
    }
    guard tokens.find(registration.token) == nil, let index = adopt(registration.token, type, bundleID: registration.bundleID) else {
      return
    }
    tokens[index].subject = subject
  }

  /// What the app declares. Nobody installs an app on an adopted device, so there it is what the app declares elsewhere.
  func manifest(at place: AppPlace) -> AppManifest {
    let own = self[place].manifest
    guard own == AppManifest(), devices[place.device]?.isAdopted == true else { return own }
    return declared[self[place].bundleID] ?? own
  }

  /// Notes what an app declares on a device that somebody set up.
  mutating func declare(_ manifest: AppManifest, at place: AppPlace) {
    guard devices[place.device]?.isAdopted == false else { return }
    declared[self[place].bundleID] = manifest
  }

  /// An app is gone from a device: what it declares is what another device has of it, if any.
  mutating func undeclare(_ bundleID: String) {
    declared[bundleID] = devices.values.lazy.filter { !$0.isAdopted }.flatMap(\.apps).first { $0.bundleID == bundleID }?.manifest
  }
}
