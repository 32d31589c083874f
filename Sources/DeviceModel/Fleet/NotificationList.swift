import JSON
import Primitives
import Push

/// The notifications that the devices show: one for each alert, but of those with one collapse id the newest alone.
///
/// Source: Apple, "Sending notification requests to APNs", of `apns-collapse-id`: several notifications with the same identifier are displayed to
/// the person as a single one.
struct NotificationList: Sendable {
  /// One notification.
  struct Notification: Sendable {
    let token: DeviceToken
    let bundleID: String
    let push: PushID
    let collapseID: String?
    let title: String
    let at: Instant
  }

  /// In the order of their coming.
  private var shown: [Notification] = []

  /// Shows one; the oldest leaves where there are too many.
  ///
  /// - Returns: The one in whose place it stands, if any. O(notifications) with a collapse id.
  mutating func show(_ notification: Notification) -> Notification? {
    var replaced: Notification?
    if let id = notification.collapseID,
      let index = shown.lastIndex(where: { $0.token == notification.token && $0.collapseID == id })
    {
      replaced = shown.remove(at: index)
    }
    shown.append(notification)
    if shown.count > 2 * Limits.deviceNotifications { shown.removeFirst(shown.count - Limits.deviceNotifications) }
    return replaced
  }

  /// Those of a token, the newest first, at most `Limits.deviceNotifications`.
  func json(of token: DeviceToken) -> JSONValue {
    let own = shown.suffix(Limits.deviceNotifications).reversed().filter { $0.token == token }
    return .array(
      own.map { notification in
        var object: JSONObject = ["push": .string(notification.push.description), "title": .string(notification.title)]
        object["collapseID"] = notification.collapseID.map(JSONValue.string)
        object["at"] = .string(notification.at.description)
        return .object(object)
      })
  }

  /// Takes away those of an app, or all.
  mutating func clear(_ bundleID: String?) { shown.removeAll { bundleID == nil || $0.bundleID == bundleID } }
}
