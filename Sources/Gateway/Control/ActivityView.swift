import JSON
import Primitives
import Push
import Storage

extension NamedActivity {
  /// What a caller sees of it in a list.
  var summary: JSONObject {
    var object: JSONObject = ["bundleID": .string(bundleID), "name": .string(name)]
    switch target {
    case .user(let user): object["user"] = .string(user)
    case .device(let device): object["device"] = .string(device)
    }
    object["attributesType"] = .string(attributesType)
    object["state"] = .string(state)
    object["waitsFor"] = waitsFor.map { .string($0) }
    object["created"] = created.json
    object["updated"] = updated.json
    object["started"] = started.map(\.json)
    object["ended"] = ended.map(\.json)
    return object
  }

  /// All of it, with the pushes that it caused.
  func json(_ records: [PushRecord], showsTokens: Bool) -> JSONValue {
    var object = summary
    object["attributes"] = try? JSONValue.parse(attributes)
    object["contentState"] = try? JSONValue.parse(content.state)
    object["alert"] = content.alert.flatMap { try? JSONValue.parse($0) }
    object["staleDate"] = content.staleDate.flatMap { try? JSONValue.parse($0) }
    object["devices"] = .array(legs.map { .object(json(of: $0, showsTokens: showsTokens)) })
    object["pushes"] = .array(
      pushes.map { push in
        var member: JSONObject = ["id": .string(push.id.description), "event": .string("\(push.event)")]
        // The log may have forgotten it.
        if let record = records.first(where: { $0.id == push.id }) {
          if showsTokens { member["token"] = record.token.map { .string($0.hex) } }
          member["received"] = record.received.json
          member["disposition"] = .string(record.disposition.name)
          if record.cause != .none { member["cause"] = .string(record.cause.name) }
        }
        return .object(member)
      })
    return .object(object)
  }

  private func json(of leg: Leg, showsTokens: Bool) -> JSONObject {
    var object: JSONObject = ["state": .string("\(leg.state)")]
    object["device"] = leg.device.map { .string($0) }
    if showsTokens {
      object["startToken"] = leg.startToken.map { .string($0.hex) }
      object["updateToken"] = leg.updateToken.map { .string($0.hex) }
    }
    object["activityID"] = leg.activityID.map { .string($0) }
    object["isCurrent"] = .bool(leg.shown == version)
    if leg.cause != .none {
      object["cause"] = .string(leg.cause.name)
      object["remedy"] = .string(leg.cause.remedy.advice)
    }
    return object
  }

  /// Where it is, in a word.
  var state: String {
    switch phase {
    case .ended: "ended"
    case .ending: "ending"
    case .running where legs.isEmpty: "waitingForStartToken"
    case .running where legs.contains { $0.updateToken != nil && $0.state == .started }: "active"
    case .running where legs.contains { $0.state == .starting }: "starting"
    case .running where legs.contains { $0.state == .started }: "waitingForUpdateToken"
    case .running: legs.contains { $0.state == .failed } ? "notStarted" : "ended"
    }
  }

  /// What has to happen before what was asked for is shown; nil when nothing.
  private var waitsFor: String? {
    switch state {
    case "waitingForStartToken": "a pushToStart registration of the \(targetText)"
    case "starting": "the start push"
    case "waitingForUpdateToken":
      "a liveactivity registration of the \(targetText) with the attributesType \(attributesType); the newest content is held until then"
    case "notStarted": "another PUT, which starts it again"
    case "ending":
      legs.contains { $0.updateToken == nil && ($0.state == .starting || $0.state == .started) }
        ? "a liveactivity registration of the \(targetText) with the attributesType \(attributesType), to end it; after 8 hours it ends by itself"
        : "the end push"
    default: nil
    }
  }

  private var targetText: String {
    switch target {
    case .user(let user): "user \(user)"
    case .device(let device): "device \(device)"
    }
  }
}
