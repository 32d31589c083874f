import JSON
import Primitives
import Push
import Storage

/// The body of `POST /v1/reloads`.
enum ReloadBody {
  /// Reads every field; throws for one of the wrong form, and where nothing says which registrations are meant.
  static func read(_ reader: inout JSONReader) throws(FieldError) -> (ReloadRequest, isDryRun: Bool) {
    let bundleID = try reader.string("bundleID")
    let kinds = try names("kinds", &reader)
    let controls = try names("controls", &reader)
    let users = try names("users", &reader)
    let devices = try names("devices", &reader)
    let isForAll = try reader.optionalBool("all") ?? false
    let isDryRun = try reader.optionalBool("dryRun") ?? false
    let spread = try reader.optionalNumber("spreadSeconds", in: 0...Double(Limits.reloadSpreadSeconds)) ?? 0
    let selector = ReloadSelector(bundleID: bundleID, kinds: kinds, controls: controls, users: users, devices: devices)
    if selector.isForAll, !isForAll {
      throw reader.error(
        "all", "must be true where none of kinds, controls, users and devices is given: nothing says which widgets to reload")
    }
    if !selector.isForAll, isForAll {
      throw reader.error("all", "stands alone: leave it out, or leave out kinds, controls, users and devices")
    }
    return (ReloadRequest(selector: selector, spread: .milliseconds(Int64(spread * 1000))), isDryRun)
  }

  /// A list of names; an empty one would mean nothing at all, and so is an error.
  private static func names(_ field: String, _ reader: inout JSONReader) throws(FieldError) -> [String] {
    guard let names = try reader.optionalStrings(field) else { return [] }
    guard (1...Limits.reloadNames).contains(names.count) else {
      throw reader.error(field, "must list 1 to \(Limits.reloadNames) names, not \(names.count); leave it out to mean any")
    }
    for name in names where name.isEmpty || name.utf8.count > Limits.nameBytes {
      throw reader.error(field, "must list names of 1 to \(Limits.nameBytes) bytes")
    }
    return names
  }
}

extension Reload {
  /// The reload as the control side shows it.
  var json: JSONValue {
    var object: JSONObject = ["id": .string(id.description)]
    request.selector.write(to: &object)
    if request.spread > .zero { object["spreadSeconds"] = request.spread.jsonSeconds }
    object["state"] = .string(state.name)
    object["created"] = created.json
    object["ended"] = ended.map(\.json)
    object["matches"] = matches.map { .integer(Int64($0)) }
    object["visited"] = .integer(Int64(visited))
    object["skipped"] = .integer(Int64(skipped))
    var dispositions: JSONObject = [:]
    for disposition in Disposition.allCases { dispositions[disposition.name] = .integer(Int64(count(disposition))) }
    object["dispositions"] = .object(dispositions)
    return .object(object)
  }
}

extension ReloadForecast {
  /// The forecast as the control side shows it: what would become of the pushes at first.
  func json(_ selector: ReloadSelector) -> JSONValue {
    var object: JSONObject = ["dryRun": true]
    selector.write(to: &object)
    object["matches"] = .integer(Int64(matches))
    object["skipped"] = .integer(Int64(skipped))
    object["dispositions"] = .object([
      "forwarding": .integer(Int64(count(.forwarding))), "waiting": .integer(Int64(count(.waiting))),
      "merged": .integer(Int64(count(.merged))), "refused": .integer(Int64(count(.refused))),
    ])
    return .object(object)
  }
}

extension ReloadSelector {
  fileprivate func write(to object: inout JSONObject) {
    object["bundleID"] = .string(bundleID)
    for (name, names) in [("kinds", kinds), ("controls", controls), ("users", users), ("devices", devices)] where !names.isEmpty {
      object[name] = .array(names.map { .string($0) })
    }
    if isForAll { object["all"] = true }
  }
}
