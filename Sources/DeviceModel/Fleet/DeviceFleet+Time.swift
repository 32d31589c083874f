public import Primitives

extension DeviceFleet {
  /// Records what activities have done by themselves until `instant`: become stale, ended after eight hours, left the Lock Screen.
  ///
  /// Their states need no such call, being functions of time; the event log does. O(1) unless `nextDue` has come.
  public mutating func advance(to instant: Instant) {
    guard instant > now else { return }
    if let nextDue, instant >= nextDue { runActivities(until: instant) }
    now = instant
  }

  /// Brings `nextDue` forward to the activity's next change.
  mutating func expect(_ activity: LiveActivity) {
    guard let change = activity.nextChange(after: now) else { return }
    nextDue = min(nextDue ?? change.at, change.at)
  }

  /// Something that a device does by itself.
  public struct Change: Hashable, Sendable {
    /// When.
    public var at: Instant
    /// What.
    public var event: DeviceEvent.What
    /// The device.
    public var device: String
    /// The app.
    public var bundleID: String
    /// The activity.
    public var activity: String
  }

  /// What a device does next by itself; nil when nothing. O(activities).
  public var nextChange: Change? {
    var next: Change?
    for device in devices.values {
      for app in device.apps {
        for hosted in app.activities {
          guard let change = hosted.activity.nextChange(after: now), next.map({ ($0.at, $0.activity) > (change.at, hosted.id) }) ?? true
          else { continue }
          next = Change(
            at: change.at, event: Self.what(change.state), device: device.name, bundleID: app.bundleID, activity: hosted.id)
        }
      }
    }
    return next
  }

  private mutating func runActivities(until instant: Instant) {
    var changes: [DeviceEvent] = []
    nextDue = nil
    for device in devices.values {
      for app in device.apps {
        for hosted in app.activities {
          var reached = now
          while let change = hosted.activity.nextChange(after: reached) {
            guard change.at <= instant else {
              nextDue = min(nextDue ?? change.at, change.at)
              break
            }
            changes.append(Self.event(of: hosted, becoming: change.state, at: change.at, on: device, app))
            reached = change.at
          }
        }
      }
    }
    changes.sort { $0.at < $1.at }
    for change in changes { log.append(change) }
  }

  private static func event(
    of hosted: HostedActivity, becoming state: LiveActivity.State, at instant: Instant, on device: Device, _ app: App
  ) -> DeviceEvent {
    var event = DeviceEvent(what(state), at: instant, device: device.name, bundleID: app.bundleID, token: hosted.token)
    event.items = [hosted.id]
    if state == .ended { event.detail = "eight hours have passed since it started" }
    return event
  }

  /// The event of becoming so.
  private static func what(_ state: LiveActivity.State) -> DeviceEvent.What {
    switch state {
    case .active, .stale: .activityStale
    case .ended: .activityEnded
    case .dismissed: .activityDismissed
    }
  }
}
