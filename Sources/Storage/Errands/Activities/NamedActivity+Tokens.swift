import Primitives
import Push

// The tokens that are registered for it.
extension NamedActivity {
  /// A push-to-start token is known. It is a further device's, or one that a device has in place of another: then nothing is started
  /// again. Where registrations do not name devices, that cannot be told, and the first is all that is started.
  mutating func found(startToken: DeviceToken, device: String?) {
    guard phase == .running, legs.count < Limits.activityDevices, !legs.contains(where: { $0.startToken == startToken }) else { return }
    if let index = legs.firstIndex(where: { $0.device == device }) {
      legs[index].startToken = startToken
      return
    }
    guard legs.isEmpty || device != nil && !legs.contains(where: { $0.device == nil }) else { return }
    var leg = Leg()
    (leg.startToken, leg.device) = (startToken, device)
    legs.append(leg)
  }

  /// An activity of its type has registered its update token. False when it is none of its own.
  ///
  /// The same id as before is a token that has changed; the backend's name as id is meant for it; else it belongs to a device that was
  /// sent a start and waits for its token.
  mutating func found(updateToken: DeviceToken, activityID: String, device: String?, at now: Instant) -> Bool {
    guard phase != .ended else { return false }
    func mayBe(_ leg: Leg) -> Bool { leg.device == nil || device == nil || leg.device == device }
    var place = legs.firstIndex { $0.isOpen && $0.activityID == activityID && mayBe($0) }
    let isNamed = activityID == name
    if place == nil {
      let waiting = legs.indices.filter { legs[$0].isOpen && legs[$0].updateToken == nil && legs[$0].activityID == nil && isSent(legs[$0]) }
      place = waiting.first { legs[$0].device != nil && legs[$0].device == device } ?? waiting.first { mayBe(legs[$0]) }
    }
    if place == nil, isNamed {
      // The app has begun by itself, perhaps where a start was to go or had failed.
      place = legs.firstIndex { $0.updateToken == nil && $0.state != .ended && mayBe($0) }
      if place == nil {
        guard legs.count < Limits.activityDevices else { return false }
        legs.append(Leg())
        place = legs.count - 1
      }
    }
    guard let place else { return false }
    if let old = legs[place].updateToken, old != updateToken {
      // What was on its way to the old token may not have come.
      if legs[place].update != nil { legs[place].shown = 0 }
      (legs[place].update, legs[place].push, legs[place].isEndSent) = (nil, nil, false)
    }
    legs[place].updateToken = updateToken
    legs[place].activityID = activityID
    legs[place].device = legs[place].device ?? device
    if legs[place].state == .failed { (legs[place].state, legs[place].cause) = (.started, .none) }
    noteStart(place, at: now)
    return true
  }

  /// An update token is of no use any more. What was sent to it last may not have been seen.
  mutating func lost(_ updateToken: DeviceToken, at now: Instant) {
    for index in legs.indices where legs[index].updateToken == updateToken {
      legs[index].updateToken = nil
      legs[index].shown = 0
      if phase == .ending, legs[index].isOpen { (legs[index].state, legs[index].cause) = (.ended, .unregistered) }
    }
    settle(at: now)
  }

  mutating func noteStart(_ index: Int, at now: Instant) {
    guard legs[index].isOpen else { return }
    legs[index].state = .started
    started = started ?? now
  }

  mutating func fail(_ index: Int, _ cause: Cause, at now: Instant) {
    (legs[index].state, legs[index].cause) = (phase == .running ? .failed : .ended, cause)
    settle(at: now)
  }

  /// It is over once it is to end and runs nowhere.
  mutating func settle(at now: Instant) {
    guard phase == .ending, legs.allSatisfy({ !$0.isOpen }) else { return }
    (phase, ended) = (.ended, now)
  }
}
