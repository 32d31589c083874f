import Primitives
import Push

// What goes to the app itself, and to what it asked for besides: alerts, background pushes, VoIP and the like.
extension DeviceFleet {
  /// Shows an alert, wakes the app, or has Wallet fetch the pass.
  mutating func receiveAppPush(_ index: Int, _ push: ReceivedPush, _ payload: RawSpan, at now: Instant) -> PushOutcome {
    let effect: AppPushEffect
    do {
      effect = try AppPushEffect(push.type, bundleID: tokens[index].bundleID, payload)
    } catch {
      return record(.ignored(error.cause, detail: error.sentence(in: payload)), of: push, index, isOfPayloadAlone: true)
    }
    switch tokens[index].owner {
    case .adopted: apply(push, toAdopted: index, at: now)
    case .app, .item:
      guard let place = place(of: tokens[index]) else { return record(.ignored(.noSuchApp, detail: nil), of: push, index) }
      if push.type == .background { self[place].wakes.add(push.id, at: now) } else { self[place].alerts.add(push.id, at: now) }
    case .gone(let cause): return record(.ignored(cause, detail: nil), of: push, index)
    case .unregistered(let since): return record(.refused(.unregistered, since: since, detail: nil), of: push, index)
    }
    let detail = effect.cause == .alertShown ? show(effect.detail ?? "", push, index, at: now) : effect.detail
    return record(.applied(effect.cause, detail: detail), of: push, index, what: effect.event)
  }

  /// Shows a notification, perhaps in place of one of the same collapse id; what a person sees of it.
  private mutating func show(_ title: String, _ push: ReceivedPush, _ index: Int, at now: Instant) -> String {
    let replaced = notifications.show(
      .init(token: push.token, bundleID: tokens[index].bundleID, push: push.id, collapseID: push.collapseID, title: title, at: now))
    return replaced.map { "\(title), in place of the notification of push \($0.push)" } ?? title
  }

  /// Gives the push to the app's own code for its type.
  mutating func receiveHandled(_ index: Int, _ push: ReceivedPush, _ payload: RawSpan, at now: Instant) -> PushOutcome {
    let effect: AppPushEffect
    do {
      effect = try AppPushEffect(push.type, bundleID: tokens[index].bundleID, payload)
    } catch {
      return record(.ignored(error.cause, detail: error.sentence(in: payload)), of: push, index, isOfPayloadAlone: true)
    }
    switch tokens[index].owner {
    case .adopted: apply(push, toAdopted: index, at: now)
    case .app, .item:
      let token = tokens[index].token
      guard let place = place(of: tokens[index]), let handler = self[place].handlers.firstIndex(where: { $0.token == token }) else {
        return record(.ignored(.noSuchHandler, detail: nil), of: push, index)
      }
      self[place].handlers[handler].pushes.add(push.id, at: now)
    case .gone(let cause): return record(.ignored(cause, detail: nil), of: push, index)
    case .unregistered(let since): return record(.refused(.unregistered, since: since, detail: nil), of: push, index)
    }
    return record(.applied(effect.cause, detail: effect.detail), of: push, index, what: effect.event)
  }

  /// Lets the app ask for the tokens that its manifest declares, and give back those that it no longer does.
  mutating func arrangeHandlers(of place: AppPlace) throws(DeviceError) {
    let wanted = self[place].manifest.pushes
    for handler in self[place].handlers where !wanted.contains(handler.kind) {
      unregister(handler.token)
      retire(handler.token, as: .gone(.noSuchHandler))
    }
    self[place].handlers.removeAll { !wanted.contains($0.kind) }
    for kind in wanted where !self[place].handlers.contains(where: { $0.kind == kind }) {
      let bundleID = self[place].bundleID
      let token = try mint(kind, bundleID: bundleID, path: [place.device, bundleID], owner: .app(device: place.device))
      self[place].handlers.append(PushHandler(kind: kind, token: token))
      register(token)
    }
  }
}
