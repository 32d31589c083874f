public import Primitives
import Push

extension DeviceFleet {
  /// The push arrives: reloads widgets, refreshes a control, starts, updates or ends an activity, shows an alert, or does nothing and says why.
  ///
  /// O(widgets of the app) for a plain reload, and no allocation for a token that stands for itself.
  ///
  /// - Parameters:
  ///   - known: What `known(_:)` has just found of its token.
  ///   - bundleID: The app of `apns-topic`, without the push type's suffix.
  ///   - payload: The body.
  public mutating func receive(
    _ push: ReceivedPush, _ known: KnownToken?, bundleID: RawSpan, payload: RawSpan, at instant: Instant
  ) -> PushOutcome {
    let now = set(now: instant)
    guard let index = known?.index ?? adopt(push.token, TokenKind(taking: push.type), bundleID: bundleID.string) else {
      return record(
        .refused(.serviceUnavailable, since: nil, detail: "as many push tokens are in use as this mock device can hold"), of: push)
    }
    if case .unregistered(let since) = tokens[index].owner {
      return record(.refused(.unregistered, since: since, detail: nil), of: push)
    }
    if !(tokens[index].kind.takes(push.type) && bundleID.equals(tokens[index].bundleID)) {
      guard tokens[index].foreign else { return record(mismatch(index, push, bundleID), of: push) }
      adoptAgain(index, TokenKind(taking: push.type), bundleID: bundleID.string)
    }
    switch tokens[index].kind {
    case .widgets, .controls:
      do {
        try ReloadPayload.check(payload)
      } catch {
        return record(.ignored(error.cause, detail: error.sentence(in: payload)), of: push, index, isOfPayloadAlone: true)
      }
      return reload(index, push, at: now)
    case .liveactivity, .pushToStart: return receiveActivityPush(index, push, payload, at: now)
    case .app: return receiveAppPush(index, push, payload, at: now)
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: return receiveHandled(index, push, payload, at: now)
    }
  }

  /// Reloads what the token stands for.
  private mutating func reload(_ index: Int, _ push: ReceivedPush, at now: Instant) -> PushOutcome {
    let entry = tokens[index]
    switch entry.owner {
    case .adopted:
      apply(push, toAdopted: index, at: now)
      return record(
        .applied(.reloaded, detail: nil), of: push, index, what: entry.kind == .widgets ? .widgetsReloaded : .controlReloaded)
    case .app(let device):
      let reloaded = reloadWidgets(of: entry, push, at: now)
      guard !reloaded.isEmpty else {
        let sentence = "\(entry.bundleID) has no push-enabled widget placed on \(device)"
        return record(.ignored(.noSuchWidget, detail: sentence), of: push, index)
      }
      let names = reloaded.count == 1 ? "widget \(reloaded[0])" : "\(reloaded.count) widgets"
      return record(.applied(.reloaded, detail: names), of: push, index, what: .widgetsReloaded, items: reloaded)
    case .item(_, let id):
      guard reloadControl(of: entry, push, at: now) else {
        return record(.ignored(.noSuchControl, detail: nil), of: push, index)
      }
      return record(.applied(.reloaded, detail: "control \(id)"), of: push, index, what: .controlReloaded, items: [id])
    case .gone(let cause): return record(.ignored(cause, detail: nil), of: push, index)
    case .unregistered(let since): return record(.refused(.unregistered, since: since, detail: nil), of: push, index)
    }
  }

  /// Counts a push that the adopted entry's one item took.
  mutating func apply(_ push: ReceivedPush, toAdopted index: Int, at now: Instant) {
    tokens[index].applied &+= 1
    tokens[index].lastApplied = now
    tokens[index].lastPush = push.id
  }

  /// Reloads every push-enabled widget of the app that has the token; the ids of those.
  private mutating func reloadWidgets(of entry: TokenEntry, _ push: ReceivedPush, at now: Instant) -> [String] {
    guard let place = place(of: entry) else { return [] }
    var reloaded: [String] = []
    let own = self[place].widgetsToken
    for widget in self[place].widgets.indices
    where self[place].widgets[widget].pushEnabled && (self[place].widgets[widget].token ?? own) == entry.token {
      self[place].widgets[widget].reloads.add(push.id, at: now)
      reloaded.append(self[place].widgets[widget].id)
    }
    return reloaded
  }

  /// Reloads exactly the control that owns the token; false when there is none.
  private mutating func reloadControl(of entry: TokenEntry, _ push: ReceivedPush, at now: Instant) -> Bool {
    guard let place = place(of: entry), let control = self[place].controls.firstIndex(where: { $0.token == entry.token })
    else { return false }
    self[place].controls[control].reloads.add(push.id, at: now)
    return true
  }

  private func mismatch(_ index: Int, _ push: ReceivedPush, _ bundleID: RawSpan) -> PushOutcome {
    let entry = tokens[index]
    let sentence =
      entry.kind.takes(push.type)
      ? "the token belongs to \(entry.bundleID), not to \(bundleID.string)"
      : "the token is one for \(entry.kind.name), which takes no \(push.type) push"
    return .refused(.deviceTokenNotForTopic, since: nil, detail: sentence)
  }

  /// Logs the outcome and returns it, with what a silent gateway has left unchecked.
  ///
  /// - Parameter isOfPayloadAlone: Nothing that the gateway could tell would change it.
  mutating func record(
    _ outcome: PushOutcome, of push: ReceivedPush, _ index: Int? = nil, what: DeviceEvent.What? = nil, items: [String] = [],
    isOfPayloadAlone: Bool = false
  ) -> PushOutcome {
    let index = index ?? tokens.find(push.token)
    let outcome = isOfPayloadAlone ? outcome : outcome.adding(unchecked(of: push.type, index))
    var event = DeviceEvent(what ?? .pushIgnored, at: now, token: push.token)
    if case .refused = outcome { event.what = .pushRefused }
    if let index {
      event.device = deviceName(of: tokens[index])
      event.bundleID = tokens[index].bundleID
    }
    event.push = push.id
    event.disposition = outcome.disposition
    event.cause = outcome.cause
    event.items = items
    event.detail = outcome.detail
    if case .refused(let reason, _, let detail) = outcome { event.detail = detail.map { "\(reason): \($0)" } ?? reason.description }
    log.append(event)
    return outcome
  }
}

extension DeviceFleet {
  /// What the gateway was to be asked about a push and did not tell; nil where nothing hangs on it, or it tells.
  func unchecked(of type: PushType, _ index: Int?) -> String? {
    guard let gatewaySilence else { return nil }
    let followsGateway = index.map { tokens[$0].followsGateway } ?? false
    let facts: String
    switch (followsGateway, type == .liveactivity) {
    case (true, true): facts = "what its token was registered as and its app's schemas were"
    case (true, false): facts = "what its token was registered as was"
    case (false, true): facts = "its app's schemas were"
    case (false, false): return nil
    }
    return "\(facts) \(Remedy.uncheckedMark), since \(gatewaySilence)"
  }
}

extension RawSpan {
  /// Whether the bytes are exactly the UTF-8 of `text`.
  fileprivate func equals(_ text: String) -> Bool {
    let utf8 = text.utf8
    guard byteCount == utf8.count else { return false }
    var offset = 0
    for byte in utf8 {
      if byte != self.byte(offset) { return false }
      offset += 1
    }
    return true
  }
}
