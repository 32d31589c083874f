import Primitives
import Push

// What a backend asks of it, and what time does.
extension NamedActivity {
  /// Asks for other content. False when that is what it shows already; an alert that is left out asks for nothing.
  mutating func show(_ other: Content, at now: Instant) -> Bool {
    let isSame =
      other.state == content.state && other.staleDate == content.staleDate && (other.alert == nil || other.alert == content.alert)
    guard !isSame else { return false }
    content = other
    version += 1
    updated = now
    return true
  }

  /// Starts again where starts have come to nothing.
  mutating func retryStarts() {
    for index in legs.indices where legs[index].state == .failed {
      (legs[index].state, legs[index].push, legs[index].cause, legs[index].shown) = (.starting, nil, .none, 0)
    }
  }

  /// Asks for its end, with a last content-state or the newest.
  mutating func end(state: String?, dismissalDate: String?, at now: Instant) {
    guard phase == .running else { return }
    phase = .ending
    updated = now
    self.dismissalDate = dismissalDate
    if let state, state != content.state { (content, version) = (Content(state: state), version + 1) }
    for index in legs.indices where legs[index].state == .failed || legs[index].isOpen && !isSent(legs[index]) {
      legs[index].state = .ended
    }
    settle(at: now)
  }

  /// Whether a device has been sent anything, or has begun by itself.
  func isSent(_ leg: Leg) -> Bool { leg.push != nil || leg.updateToken != nil || leg.state == .started }

  /// The system ends every activity after eight hours.
  mutating func expire(at now: Instant) {
    guard phase != .ended, let started, now >= started + .seconds(Limits.activitySeconds) else { return }
    for index in legs.indices where legs[index].isOpen { (legs[index].state, legs[index].cause) = (.ended, .activityEnded) }
    (phase, ended) = (.ended, started + .seconds(Limits.activitySeconds))
  }
}
