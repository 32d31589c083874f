extension JSONObject {
  /// The object with a patch applied (RFC 7396): members of the patch replace those of the same key, objects are merged in turn, and `null`
  /// takes a member away.
  public func patched(by patch: JSONObject) -> JSONObject {
    var result = self
    for (key, value) in patch {
      switch value {
      case .null: result[key] = nil
      case .object(let inner): result[key] = .object((result[key]?.objectValue ?? [:]).patched(by: inner))
      default: result[key] = value
      }
    }
    return result
  }
}
