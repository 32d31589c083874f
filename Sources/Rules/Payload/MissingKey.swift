/// Where a key that a device misses may be hidden in a payload.
public enum MissingKey {
  /// An addition to the sentence which says that a key of `aps`, `aps` itself or `mdm` is missing, such as "; aps has content_available,
  /// did you mean content-available?"; empty where it is not to be seen.
  public static func hint(_ key: String, in payload: RawSpan) -> String {
    let names = PayloadNames(payload)
    switch key {
    case "aps": return names.hintForAPS
    case "mdm": return names.hintForMDM
    default: return APSKey(named: key).map(names.hint) ?? ""
    }
  }
}
