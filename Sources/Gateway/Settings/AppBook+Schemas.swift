import JSON
import Push

/// The schemas of an attributes type, and where they come from.
struct KnownSchemas: Hashable, Sendable {
  /// Who has given schemas.
  enum Origin: String, Sendable {
    case configuration
    /// Set at run time by somebody with the scope `admin`.
    case api
    /// Brought along by the app, as it is on a device.
    case app
  }

  var schemas: ActivitySchemas
  var origin: Origin

  /// As `GET /v1/apps/{bundleID}/schemas/{attributesType}` shows them.
  var json: JSONObject {
    var object: JSONObject = ["attributesType": .string(schemas.attributesType), "origin": .string(origin.rawValue)]
    for (key, value) in schemas.source.objectValue ?? [:] { object[key] = value }
    return object
  }
}

// An app's schemas have one home, this one: what is set wins over what is configured, and both over what the app itself brings along.
extension AppBook {
  /// All that are known of an app, by the name of their type.
  func schemas(of bundleID: String) -> [KnownSchemas] {
    var known: [KnownSchemas] = []
    for (list, origin) in [
      (set[bundleID]?.schemas ?? [], KnownSchemas.Origin.api), (configured(bundleID), .configuration), (taught[bundleID] ?? [], .app),
    ] {
      for schemas in list where !known.contains(where: { $0.schemas.attributesType == schemas.attributesType }) {
        known.append(KnownSchemas(schemas: schemas, origin: origin))
      }
    }
    return known.sorted { $0.schemas.attributesType < $1.schemas.attributesType }
  }

  private func configured(_ bundleID: String) -> [ActivitySchemas] {
    configuredSchemas[bundleID] ?? (isConfigured(bundleID) ? [] : configuredSchemas[""] ?? [])
  }

  /// Those of all apps that have some, by bundle id; "" has those of every app that is not listed.
  var contentStates: [String: [ActivitySchemas]] {
    var all = configuredSchemas
    for bundleID in Swift.Set(set.keys).union(taught.keys) {
      all[bundleID] = Array(schemas(of: bundleID).map(\.schemas).prefix(Limits.contentStatesPerApp))
    }
    return all.filter { !$0.value.isEmpty }
  }

  /// Sets the schemas of one type, or takes them back with nil, for `origin`; false when that changes nothing.
  mutating func setSchemas(_ schemas: ActivitySchemas?, of attributesType: String, app bundleID: String, as origin: KnownSchemas.Origin)
    -> Bool
  {
    func changed(_ list: [ActivitySchemas]) -> [ActivitySchemas] {
      list.filter { $0.attributesType != attributesType } + (schemas.map { [$0] } ?? [])
    }
    switch origin {
    case .configuration: return false
    case .app:
      let list = taught[bundleID] ?? []
      guard list.schemas(of: attributesType) != schemas else { return false }
      taught[bundleID] = changed(list).isEmpty ? nil : changed(list)
    case .api:
      let list = set[bundleID]?.schemas ?? []
      guard list.schemas(of: attributesType) != schemas else { return false }
      var settings = set[bundleID] ?? AppSettings()
      settings.schemas = changed(list)
      set[bundleID] = settings
    }
    return true
  }
}
