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
  /// Those that hold for an app, by the name of their type.
  func schemas(of bundleID: String) -> [KnownSchemas] {
    ranked(bundleID).prefix(Limits.contentStatesPerApp).sorted { $0.schemas.attributesType < $1.schemas.attributesType }
  }

  /// Those for which there is no room beside the ones that hold: what is configured or set came, or was changed, after them.
  func leftOut(of bundleID: String) -> [KnownSchemas] { Array(ranked(bundleID).dropFirst(Limits.contentStatesPerApp)) }

  /// One for each type of an app: what is set, then what is configured, then what the app has brought along, so that no app can push out
  /// what somebody gave.
  private func ranked(_ bundleID: String) -> [KnownSchemas] {
    var known: [KnownSchemas] = []
    for (list, origin) in [
      (set[bundleID]?.schemas ?? [], KnownSchemas.Origin.api), (configured(bundleID), .configuration), (taught[bundleID] ?? [], .app),
    ] {
      for schemas in list where !known.contains(where: { $0.schemas.attributesType == schemas.attributesType }) {
        known.append(KnownSchemas(schemas: schemas, origin: origin))
      }
    }
    return known
  }

  /// How many types of an app there are for which something is set or configured.
  private func givenCount(_ bundleID: String) -> Int { ranked(bundleID).count { $0.origin != .app } }

  /// Why what was set for an app since `old` has no room; nil when it has. What only the configuration has changed is nobody's fault here.
  func overflow(of bundleID: String, since old: AppBook) -> FieldError? {
    let (own, given) = (set[bundleID]?.schemas.count ?? 0, givenCount(bundleID))
    guard own > Limits.contentStatesPerApp || given > max(Limits.contentStatesPerApp, old.givenCount(bundleID)) else { return nil }
    let beside = given - own
    return FieldError(
      field: "schemas",
      message: "schemas must have at most \(Limits.contentStatesPerApp) attributes types"
        + (beside == 0 ? ", not \(own)" : " with the \(beside) that the configuration alone has, not \(given)"))
  }

  /// Why what an app has brought along is more than may be kept of it; nil when it is not.
  func excess(broughtBy bundleID: String) -> String? {
    let own = Self.bytes(taught[bundleID] ?? [])
    if own > Limits.broughtSchemaBytesOfApp {
      return "the app would bring along \(own) bytes of schemas, and \(Limits.broughtSchemaBytesOfApp) of each app's own are kept"
    }
    let all = taught.values.reduce(0) { $0 + Self.bytes($1) }
    if all > Limits.broughtSchemaBytes {
      return "all apps would bring along \(all) bytes of schemas, and \(Limits.broughtSchemaBytes) of apps' own are kept"
    }
    guard !isConfigured(bundleID), set[bundleID] == nil else { return nil }
    let known = Swift.Set(configured.map(\.bundleID)).union(set.keys)
    let count = taught.keys.count { !known.contains($0) }
    return count <= Limits.broughtApps
      ? nil : "\(Limits.broughtApps) apps are known only by what they have brought along, which is the most"
  }

  private static func bytes(_ schemas: [ActivitySchemas]) -> Int { schemas.json.serialized().utf8.count }

  private func configured(_ bundleID: String) -> [ActivitySchemas] {
    configuredSchemas[bundleID] ?? (isConfigured(bundleID) ? [] : configuredSchemas[""] ?? [])
  }

  /// Those of all apps that have some, by bundle id; "" has those of every app that is not listed.
  var contentStates: [String: [ActivitySchemas]] {
    var all = configuredSchemas
    for bundleID in Swift.Set(set.keys).union(taught.keys) {
      all[bundleID] = schemas(of: bundleID).map(\.schemas)
    }
    return all.filter { !$0.value.isEmpty }
  }

  /// Sets the schemas of one type, or takes them back with nil, for `origin`; false when that changes nothing.
  mutating func setSchemas(_ schemas: ActivitySchemas?, of attributesType: String, app bundleID: String, as origin: KnownSchemas.Origin)
    -> Bool
  {
    func changed(_ list: [ActivitySchemas]) -> [ActivitySchemas] {
      guard let schemas else { return list.filter { $0.attributesType != attributesType } }
      guard let index = list.firstIndex(where: { $0.attributesType == attributesType }) else { return list + [schemas] }
      // In its place, so that what is changed does not lose its room to another.
      var list = list
      list[index] = schemas
      return list
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
