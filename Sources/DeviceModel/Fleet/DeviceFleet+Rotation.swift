public import Primitives
public import Push

extension DeviceFleet {
  /// A push token that was replaced.
  public struct RotatedToken: Sendable, Equatable {
    /// What the token names.
    public var kind: TokenKind
    /// The app.
    public var bundleID: String
    /// The token that is answered 410 from now on.
    public var old: DeviceToken
    /// The token that stands in its place.
    public var new: DeviceToken
  }

  /// Replaces tokens of a device, as APNs does now and then; push handlers register the new ones and take the old ones back.
  ///
  /// - Parameters:
  ///   - bundleID: Only tokens of this app; nil means of all.
  ///   - kind: Only tokens of this kind; nil means all.
  ///   - id: Only the token of this control or activity; nil means all.
  public mutating func rotateTokens(of device: String, bundleID: String?, kind: TokenKind?, id: String?, at instant: Instant)
    throws(DeviceError) -> [RotatedToken]
  {
    let now = set(now: instant)
    let name = try hosted(device)
    if let bundleID { _ = try place(of: bundleID, on: name) }
    var rotated: [RotatedToken] = []
    for app in devices[name]!.apps.indices {
      let place = AppPlace(device: name, app: app)
      guard bundleID == nil || self[place].bundleID == bundleID else { continue }
      for token in Self.tokens(of: self[place]) {
        guard let index = tokens.find(token) else { continue }
        let entry = tokens[index]
        guard kind == nil || entry.kind == kind, id == nil || entry.owner == .item(device: name, id: id ?? "") else { continue }
        rotated.append(try rotate(entry, at: place, now))
      }
    }
    guard !rotated.isEmpty else {
      throw DeviceError(.notFound, "\(name) has no push token of that app, type and id")
    }
    return rotated
  }

  private mutating func rotate(_ entry: TokenEntry, at place: AppPlace, _ now: Instant) throws(DeviceError) -> RotatedToken {
    var path = [place.device, entry.bundleID]
    if case .item(_, let id) = entry.owner { path.append(id) }
    let new = try mint(
      entry.kind, bundleID: entry.bundleID, path: path, owner: entry.owner, generation: entry.generation + 1)
    self[place].replace(entry.token, by: new)
    var event = DeviceEvent(.tokenRotated, at: now, device: place.device, bundleID: entry.bundleID, token: new)
    event.detail = "replaces \(entry.token)"
    log.append(event)
    // In this order, so that the gateway is never without a token, and has the old one's budgets to give to the new.
    let isKnown = entry.foreign || entry.registration == .registered || entry.registration == .pending
    register(new, replacing: isKnown ? entry.token : nil)
    unregister(entry.token)
    retire(entry.token, as: .unregistered(since: now))
    return RotatedToken(kind: entry.kind, bundleID: entry.bundleID, old: entry.token, new: new)
  }
}

extension App {
  /// Has `new` stand wherever `old` does.
  fileprivate mutating func replace(_ old: DeviceToken, by new: DeviceToken) {
    if appToken == old { appToken = new }
    if pushToStartToken == old { pushToStartToken = new }
    if widgetsToken == old { widgetsToken = new }
    for index in widgets.indices where widgets[index].token == old { widgets[index].token = new }
    for index in controls.indices where controls[index].token == old { controls[index].token = new }
    for index in activities.indices where activities[index].token == old { activities[index].token = new }
    for index in handlers.indices where handlers[index].token == old { handlers[index].token = new }
    for index in others.indices where others[index] == old { others[index] = new }
  }
}
