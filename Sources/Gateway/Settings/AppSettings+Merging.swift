import JSON

extension AppSettings {
  /// What is set after a JSON Merge Patch (RFC 7396): what it leaves out stays, and what it has as null is taken back.
  ///
  /// - Parameter old: What was set before.
  init(_ old: AppSettings, patchedBy patch: JSONObject) throws(FieldError) {
    try Self.checkNames(of: patch)
    var rest = patch
    (rest["contentStates"], rest["schemas"]) = (nil, nil)
    var merged = old.json.patched(by: rest)
    let schemas = Self.merged(old.schemas.json.objectValue ?? [:], by: patch)
    merged["schemas"] = schemas.isEmpty ? nil : .object(schemas)
    do throws(FieldError) {
      var reader = try JSONReader(.object(merged))
      try self.init(&reader)
    } catch {
      throw Self.asSent(error, patch, mergedWith: old)
    }
  }

  /// Refuses names that are not known: one whose value is null would take back nothing, in silence.
  private static func checkNames(of patch: JSONObject) throws(FieldError) {
    var named = patch
    for name in ["contentStates", "schemas"] where patch[name]?.objectValue != nil { named[name] = .null }
    var reader = try JSONReader(.object(named))
    _ = try AppSettings(&reader)
    for (type, value) in patch["schemas"]?.objectValue ?? [:] where !value.isNull {
      var reader = try JSONReader(value, at: "schemas.\(type)")
      for name in ["contentState", "attributes"] { _ = reader.optionalValue(name) }
      try reader.finish()
    }
  }

  /// The schemas after a patch. Those of content-states alone are kept beside those of attributes; where both name one, `schemas` wins.
  private static func merged(_ old: JSONObject, by patch: JSONObject) -> JSONObject {
    var merged: JSONObject = patch["schemas"]?.isNull == true ? [:] : old
    if patch["contentStates"]?.isNull == true {
      for type in merged.keys { merged = merged.patched(by: [type: ["contentState": nil]]) }
    }
    let given = patch["schemas"]?.objectValue ?? [:]
    for (type, state) in patch["contentStates"]?.objectValue ?? [:] {
      let isGiven = given[type].map { $0.isNull || $0["contentState"] != nil } ?? false
      if !isGiven { merged = merged.patched(by: [type: ["contentState": state]]) }
    }
    merged = merged.patched(by: given)
    return JSONObject(merged.compactMap { $0.value.objectValue?.isEmpty == true ? nil : ($0.key, $0.value) })
  }

  /// Whether nothing is wrong with a patch by itself.
  private static func isWhole(_ patch: JSONObject) -> Bool {
    guard var reader = try? JSONReader(.object(patch)) else { return false }
    return (try? AppSettings(&reader)) != nil
  }

  /// The error with the place of a content-state as the sender wrote it, and with what it was merged into.
  private static func asSent(_ error: FieldError, _ patch: JSONObject, mergedWith old: AppSettings) -> FieldError {
    var error = error
    if isWhole(patch), let type = old.schemas.map(\.attributesType).first(where: { error.field.hasPrefix("schemas.\($0).") }) {
      error.message += "; the patch is merged with the schema of \(type) that is set, which PUT …/schemas/\(type) replaces"
    }
    for (type, _) in patch["contentStates"]?.objectValue ?? [:] {
      let (kept, sent) = ("schemas.\(type).contentState", "contentStates.\(type)")
      guard error.field.hasPrefix(kept), patch["schemas"]?[type]?["contentState"] == nil else { continue }
      return FieldError(field: error.field.replacing(kept, with: sent), message: error.message.replacing(kept, with: sent))
    }
    return error
  }
}
