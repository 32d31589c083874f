import Primitives
import Push

extension DeviceFleet {
  /// Forgets what pushes did to an app on all devices: its events, its notifications, and the counts of reloads, updates, alerts and
  /// background launches. What is installed, placed and running stays, with its tokens.
  ///
  /// - Parameter bundleID: Nil means every app, and events that are of none.
  /// - Returns: How many events there were.
  public mutating func reset(_ bundleID: String?) -> Int {
    for name in devices.keys {
      for index in devices[name]!.apps.indices where bundleID == nil || devices[name]!.apps[index].bundleID == bundleID {
        devices[name]!.apps[index].resetCounts()
      }
    }
    notifications.clear(bundleID)
    return log.forget { bundleID == nil || $0.bundleID == bundleID }
  }
}

extension App {
  fileprivate mutating func resetCounts() {
    (alerts, wakes) = (Reloads(), Reloads())
    for index in handlers.indices { handlers[index].pushes = Reloads() }
    for index in widgets.indices { widgets[index].reloads = Reloads() }
    for index in controls.indices { controls[index].reloads = Reloads() }
    for index in activities.indices { activities[index].activity.updates = 0 }
  }
}
