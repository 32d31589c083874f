public import Primitives

extension DeviceFleet {
  /// Sets up the devices of a plan; throws at the first that is not possible, naming where it stands.
  public mutating func apply(_ plan: DevicePlan, at now: Instant) throws(DeviceError) {
    for device in plan.devices {
      do {
        _ = try setDevice(device.name, device.settings, at: now)
        for app in device.apps { try apply(app, on: device.name, at: now) }
      } catch {
        throw DeviceError(error.code, "device \(device.name): \(error.message)", field: error.field)
      }
    }
  }

  private mutating func apply(_ app: DevicePlan.App, on device: String, at now: Instant) throws(DeviceError) {
    _ = try install(app.bundleID, app.manifest, on: device, at: now)
    for widget in app.widgets {
      _ = try placeWidget(kind: widget.kind, family: widget.family, id: widget.id, of: app.bundleID, on: device, at: now)
    }
    for control in app.controls { _ = try placeControl(kind: control.kind, id: control.id, of: app.bundleID, on: device, at: now) }
    for activity in app.activities {
      _ = try startActivity(
        attributesType: activity.attributesType, attributes: activity.attributes, contentState: activity.contentState,
        id: activity.id, channel: activity.channel, of: app.bundleID, on: device, at: now)
    }
  }
}
