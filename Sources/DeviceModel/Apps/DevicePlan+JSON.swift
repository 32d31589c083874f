public import JSON
import Push

extension DevicePlan {
  /// Reads the list of devices as a configuration file writes it; throws for anything unknown or of the wrong form, naming the place.
  ///
  /// Each entry is `{"name", "platform"?, "environment"?, "user"?, "developerMode"?, "apps":[{"bundleID", "manifest"?,
  /// "widgets":[{"kind","family"?,"id"?}]?, "controls":[{"kind","id"?}]?, "activities":[{"attributesType","attributes"?,
  /// "contentState"?,"id"?}]?}]?}`.
  ///
  /// - Parameter path: Where the list stands, for errors.
  public init(seed: String, devices json: JSONValue, at path: String = "devices") throws(FieldError) {
    self.init(seed: seed)
    guard let entries = json.arrayValue else { throw FieldError(field: path, message: "\(path) must be a list, not \(json.kindName)") }
    for (index, entry) in entries.enumerated() {
      var reader = try JSONReader(entry, at: "\(path)[\(index)]")
      var device = Device(name: try reader.string("name"), settings: try DeviceSettings(&reader))
      for var app in try reader.optionalObjects("apps", max: Limits.appsPerDevice) ?? [] {
        device.apps.append(try App(&app))
        try app.finish()
      }
      try reader.finish()
      guard !devices.contains(where: { $0.name == device.name }) else {
        throw reader.error("name", "must be another than \"\(device.name)\", which an earlier device has")
      }
      devices.append(device)
    }
  }
}

extension DevicePlan.App {
  fileprivate init(_ reader: inout JSONReader) throws(FieldError) {
    self.init(bundleID: try reader.string("bundleID"))
    if var manifest = try reader.optionalObject("manifest") {
      self.manifest = try AppManifest(&manifest)
      try manifest.finish()
    }
    for var widget in try reader.optionalObjects("widgets", max: Limits.widgetsPerRegistration) ?? [] {
      widgets.append(try DevicePlan.Widget(&widget))
      try widget.finish()
    }
    for var control in try reader.optionalObjects("controls", max: Limits.controlsPerApp) ?? [] {
      controls.append(try DevicePlan.Control(&control))
      try control.finish()
    }
    for var activity in try reader.optionalObjects("activities", max: Limits.activitiesPerApp) ?? [] {
      activities.append(try DevicePlan.Activity(&activity))
      try activity.finish()
    }
  }
}

extension DevicePlan.Widget {
  /// Reads `kind`, `family` (`systemSmall` when absent) and `id`.
  public init(_ reader: inout JSONReader) throws(FieldError) {
    self.init(kind: try reader.string("kind"))
    if let name = try reader.optionalString("family") { family = try WidgetFamily(name, of: reader, "family") }
    id = try reader.optionalString("id")
  }
}

extension DevicePlan.Control {
  /// Reads `kind` and `id`.
  public init(_ reader: inout JSONReader) throws(FieldError) {
    self.init(kind: try reader.string("kind"), id: try reader.optionalString("id"))
  }
}

extension DevicePlan.Activity {
  /// Reads `attributesType`, `attributes`, `contentState` and `id`, and `pushType`, `channel` together with `channelID`, or `token`.
  public init(_ reader: inout JSONReader) throws(FieldError) {
    self.init(attributesType: try reader.string("attributesType"))
    attributes = try Self.object("attributes", of: &reader)
    contentState = try Self.object("contentState", of: &reader)
    id = try reader.optionalString("id")
    let pushType = try reader.optionalChoice("pushType", of: ["token", "channel"])
    guard let text = try reader.optionalString("channelID") else {
      if pushType == "channel" { throw reader.error("channelID", "must be there with the pushType channel") }
      return
    }
    guard pushType != "token" else { throw reader.error("channelID", "has no place beside the pushType token") }
    guard let channel = ChannelID(text) else {
      throw reader.error("channelID", "must be \(ChannelID.form), not \"\(text)\", which \(ChannelID.fault(of: text) ?? "is none")")
    }
    self.channel = channel
  }

  private static func object(_ name: String, of reader: inout JSONReader) throws(FieldError) -> JSONObject {
    guard let value = reader.optionalValue(name) else { return [:] }
    guard let object = value.objectValue else { throw reader.error(name, "must be an object, not \(value.kindName)") }
    return object
  }
}
