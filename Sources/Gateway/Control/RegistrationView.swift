import JSON
import Primitives
import Push
import Storage

extension RegistrationRecord {
  /// The record as the control side shows it: what was registered, and what became of it.
  var json: JSONValue {
    var object = registration.json
    object["registered"] = registered.json
    object["retiredSince"] = retiredSince.map(\.json)
    if isSuspect { object["suspect"] = true }
    object["waiting"] = .integer(Int64(waiting))
    object["inFlight"] = .bool(isInFlight)
    return .object(object)
  }
}

extension Registration {
  /// The fields of the body that it was registered with, and the token.
  var json: JSONObject {
    var object: JSONObject = [
      "token": .string(token.hex), "type": .string(kind.name), "bundleID": .string(bundleID), "environment": .string(environment.name),
    ]
    object["upstream"] = upstream.map(JSONValue.string)
    object["device"] = device.map(JSONValue.string)
    object["user"] = user.map(JSONValue.string)
    object["platform"] = platform.map(JSONValue.string)
    if !widgets.isEmpty { object["widgets"] = .array(widgets.map(\.json)) }
    object["control"] = controlKind.map { ["kind": .string($0)] }
    object["activity"] = activity.map { ["id": .string($0.id), "attributesType": .string($0.attributesType)] }
    if frequentUpdates { object["frequentUpdates"] = true }
    if developerMode { object["developerMode"] = true }
    object["minimumIntervalSeconds"] = minimumInterval.map(\.jsonSeconds)
    object["coalesceSeconds"] = coalesce.map(\.jsonSeconds)
    object["budget"] = budget.map(\.json)
    object["quietHours"] = quietHours.map(\.json)
    return object
  }
}

extension Registration.Budget {
  /// The parameters that are not the app's.
  var json: JSONValue {
    var object: JSONObject = [:]
    object["allowance"] = allowance.map(JSONValue.integer)
    object["burst"] = burst.map(JSONValue.integer)
    object["windowSeconds"] = window.map(\.jsonSeconds)
    return .object(object)
  }
}

extension QuietHours {
  /// The hours in UTC, as a registration may give them.
  var json: JSONValue { ["from": .string(Self.text(from)), "to": .string(Self.text(to)), "utcOffsetMinutes": 0] }

  private static func text(_ minute: UInt16) -> String {
    func two(_ value: UInt16) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(two(minute / 60)):\(two(minute % 60))"
  }
}

extension Registration.Widget {
  /// The widget as it stands in a registration.
  var json: JSONValue {
    var object = JSONObject()
    object["id"] = id.map(JSONValue.string)
    object["kind"] = .string(kind)
    object["family"] = .string(family)
    return .object(object)
  }
}

extension Instant {
  /// The instant as RFC 3339 text: when something happened.
  var json: JSONValue { .string(description) }

  /// The same for the time from which on something is possible: at what the text says it is so already.
  var dueJSON: JSONValue { roundedUp(to: .milliseconds(1)).json }
}

extension TimeSpan {
  /// The span in seconds, whole ones as an integer.
  var jsonSeconds: JSONValue { nanoseconds % 1_000_000_000 == 0 ? .integer(nanoseconds / 1_000_000_000) : .number(seconds) }
}
