public import JSON
import Push

extension AppManifest {
  /// Reads a manifest: `{"widgets":[{"kind","families"?,"push"?}]?, "controls":[{"kind"}]?, "activities":[{"attributesType",
  /// "contentState"?, "attributes"?}]?, "pushes"?, "frequentUpdates"?}`; throws for anything else, naming the field.
  public init(_ reader: inout JSONReader) throws(FieldError) {
    self.init()
    for var widget in try reader.optionalObjects("widgets", max: Limits.widgetsPerRegistration) ?? [] {
      let kind = try Self.name("kind", of: &widget)
      var families: [WidgetFamily] = []
      for name in try widget.optionalStrings("families") ?? [] { families.append(try WidgetFamily(name, of: widget, "families")) }
      widgets.append(WidgetKind(kind: kind, families: families, pushEnabled: try widget.optionalBool("push") ?? true))
      try widget.finish()
    }
    for var control in try reader.optionalObjects("controls", max: Limits.controlsPerApp) ?? [] {
      controls.append(ControlKind(kind: try Self.name("kind", of: &control)))
      try control.finish()
    }
    for var activity in try reader.optionalObjects("activities", max: Limits.activitiesPerApp) ?? [] {
      let type = try Self.name("attributesType", of: &activity)
      var source: JSONObject = [:]
      for key in ["contentState", "attributes"] { source[key] = activity.optionalValue(key) }
      let schemas = source.isEmpty ? nil : try ActivitySchemas(type, .object(source), at: activity.path)
      activities.append(ActivityType(attributesType: type, schemas: schemas))
      try activity.finish()
    }
    for name in try reader.optionalStrings("pushes") ?? [] {
      guard let kind = Self.pushKinds.first(where: { $0.name == name }) else {
        throw reader.error("pushes", "must be some of \(Self.pushKinds.map(\.name).joined(separator: ", ")), not \"\(name)\"")
      }
      if !pushes.contains(kind) { pushes.append(kind) }
    }
    frequentUpdates = try reader.optionalBool("frequentUpdates") ?? false
  }

  /// A name that something of the app can be placed or started under.
  private static func name(_ field: String, of reader: inout JSONReader) throws(FieldError) -> String {
    let name = try reader.string(field)
    guard DeviceFleet.isName(name) else {
      throw reader.error(field, "must have 1 to \(Limits.deviceNameBytes) bytes without slashes and control characters")
    }
    return name
  }
}

extension WidgetFamily {
  /// The family of that name, read from a field of `reader`; throws an error that names the known ones.
  init(_ name: String, of reader: JSONReader, _ field: String) throws(FieldError) {
    guard let family = WidgetFamily(rawValue: name) else {
      let known = WidgetFamily.allCases.map(\.rawValue)
      throw reader.error(field, "must be one of \(known.joined(separator: ", ")), not \"\(name)\"")
    }
    self = family
  }
}
