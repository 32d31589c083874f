import Primitives
public import Push

/// A Live Activity push that the gateway makes: its payload, and what the rules would find in it.
public struct ActivityPayload: Hashable, Sendable {
  /// The payload's JSON text.
  public var text: String
  /// What it says.
  public var traits: PushTraits
}

// The payloads of reference: Apple, "Starting and updating Live Activities with ActivityKit push notifications". A start asks for an update
// token, since the activity could else not be updated.
extension NamedActivity {
  /// The payload that starts, updates or ends it, as of that timestamp in Unix seconds.
  func payload(_ event: ActivityEvent, timestamp: Int64) -> ActivityPayload {
    Self.payload(
      event, timestamp: timestamp, content: content, attributesType: attributesType, attributes: attributes, startAlert: startAlert,
      dismissalDate: dismissalDate)
  }

  /// The payload of an activity with these parts, which are JSON texts but for the attributes' type.
  public static func payload(
    _ event: ActivityEvent, timestamp: Int64, content: Content, attributesType: String, attributes: String, startAlert: String,
    dismissalDate: String? = nil
  ) -> ActivityPayload {
    var members = [#""timestamp":\#(timestamp)"#, #""event":"\#(event.text)""#, #""content-state":\#(content.state)"#]
    var alert = event == .update ? content.alert : nil
    if event == .start {
      members.append(#""attributes-type":"\#(escaped(attributesType))""#)
      members.append(#""attributes":\#(attributes)"#)
      members.append(#""input-push-token":1"#)
      alert = content.alert ?? startAlert
    }
    if let alert { members.append(#""alert":\#(alert)"#) }
    if event != .end, let staleDate = content.staleDate { members.append(#""stale-date":\#(staleDate)"#) }
    if event == .end, let dismissalDate { members.append(#""dismissal-date":\#(dismissalDate)"#) }
    let lane: LaneClass = event == .end ? .activityEndWithState : event == .update && alert == nil ? .activityUpdate : .keep
    return ActivityPayload(
      text: "{\"aps\":{\(members.joined(separator: ","))}}",
      traits: PushTraits(lane: lane, activity: event, hasContentState: true, hasAlert: alert != nil, timestamp: timestamp))
  }

  /// A timestamp of its own for the next push: devices ignore one that is older than the newest.
  mutating func nextTimestamp(at now: Instant) -> Int64 {
    timestamp = max(now.unixSeconds, timestamp + 1)
    return timestamp
  }

  /// Text as it stands between the quotes of a JSON string (RFC 8259 section 7).
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": escaped += "\\\(scalar)"
      case "\0"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
