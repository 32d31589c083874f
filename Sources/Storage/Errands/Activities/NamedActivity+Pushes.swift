import Primitives
import Push

// The pushes that are to be made, and what becomes of them.
extension NamedActivity {
  /// A push that is to be made now.
  struct Due: Hashable {
    var leg: Int
    var event: ActivityEvent
    var token: DeviceToken
  }

  /// Every push that is to be made now, at most one a device.
  var dues: [Due] {
    legs.indices.compactMap { index in
      let leg = legs[index]
      guard leg.isOpen else { return nil }
      switch phase {
      case .running:
        if let token = leg.updateToken { return leg.shown < version ? Due(leg: index, event: .update, token: token) : nil }
        guard leg.state == .starting, leg.push == nil, let token = leg.startToken else { return nil }
        return Due(leg: index, event: .start, token: token)
      case .ending:
        guard !leg.isEndSent, let token = leg.updateToken else { return nil }
        return Due(leg: index, event: .end, token: token)
      case .ended: return nil
      }
    }
  }

  /// A push has been made; what came of its admission.
  mutating func made(_ due: Due, _ push: PushID, _ result: Admission, at now: Instant) {
    if case .refused(let reason, let cause, _, _) = result { return refused(due, reason, cause, at: now) }
    pushes.append(Sent(id: push, event: due.event))
    if pushes.count > Limits.activityPushes { pushes.removeFirst() }
    if due.event == .end {
      (legs[due.leg].isEndSent, legs[due.leg].push) = (true, push)
    } else {
      legs[due.leg].shown = version
      if due.event == .start { legs[due.leg].push = push } else { legs[due.leg].update = push }
    }
    if case .ended(let disposition, let cause) = result { pushEnded(push, disposition, cause, at: now) }
  }

  private mutating func refused(_ due: Due, _ reason: Reason, _ cause: Cause, at now: Instant) {
    switch reason {
    case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken:
      if due.event == .start { fail(due.leg, cause, at: now) } else { lost(due.token, at: now) }
    default:
      // No room, or too soon: an update is made again later, whereas a start that may not go now is an answer.
      if due.event == .start, reason != .serviceUnavailable { fail(due.leg, cause, at: now) }
    }
  }

  /// A push that was made for it has ended.
  mutating func pushEnded(_ push: PushID, _ disposition: Disposition, _ cause: Cause, at now: Instant) {
    if let index = legs.firstIndex(where: { $0.update == push }) { legs[index].update = nil }
    guard let index = legs.firstIndex(where: { $0.push == push }), legs[index].isOpen else { return }
    if legs[index].isEndSent {
      (legs[index].state, legs[index].cause) = (.ended, cause)
      return settle(at: now)
    }
    switch disposition {
    case .applied, .accepted: noteStart(index, at: now)
    case .waiting, .forwarding: break
    case .refused, .merged, .ignored, .expired, .failed:
      // With an update token it runs, whatever became of the push.
      if legs[index].updateToken == nil { fail(index, cause, at: now) }
    }
  }
}
