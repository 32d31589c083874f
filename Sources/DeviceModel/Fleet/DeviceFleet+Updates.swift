public import Primitives

// Apps as somebody changes them while they run. Each change is one step, so that of two at the same time none is lost.
extension DeviceFleet {
  /// What came of installing or updating an app.
  public struct Installation: Sendable {
    /// The device's name, whether it was named by that or by a token.
    public var device: String
    /// Whether the app was not installed before.
    public var isNew = false
    /// What its manifest declared before and does not any more, such as `widgets.Steps` or `activities.Ride.contentState`.
    public var dropped: [String] = []
  }

  /// Installs an app, or an update of it.
  ///
  /// - Parameter sees: Which apps the caller may see; an error names no others.
  public mutating func install(
    _ bundleID: String, _ update: ManifestUpdate, on device: String, at instant: Instant, sees: (String) -> Bool = { _ in true }
  ) throws(DeviceError) -> Installation {
    let device = try hosted(device, sees: sees)
    if update.isNothing, try hasApp(bundleID, on: device) { return Installation(device: device) }
    let old = declaredManifest(of: bundleID, on: device)
    let isNew = try install(bundleID, update.applied(to: old), on: device, at: instant)
    return Installation(device: device, isNew: isNew, dropped: update.dropped(from: old))
  }

  /// Updates an app that is there, which installs one that is there for registered tokens alone; throws when it is not.
  ///
  /// - Parameter sees: Which apps the caller may see; an error names no others.
  public mutating func update(
    _ bundleID: String, _ update: ManifestUpdate, on device: String, at instant: Instant, sees: (String) -> Bool = { _ in true }
  ) throws(DeviceError) -> Installation {
    let device = try place(of: bundleID, on: device, sees: sees).device
    return update.isNothing ? Installation(device: device) : try install(bundleID, update, on: device, at: instant, sees: sees)
  }

  /// The settings of the device of that name or token; nil when there is none.
  public mutating func settings(of device: String) throws(DeviceError) -> DeviceSettings? {
    try existing(device).map { devices[$0]!.settings }
  }

  /// What the app declares so far; of one that is there for registered tokens alone that is what it does elsewhere, and what they stand for.
  private func declaredManifest(of bundleID: String, on name: String) -> AppManifest {
    guard let app = devices[name]!.index(of: bundleID) else { return AppManifest() }
    let place = AppPlace(device: name, app: app)
    var manifest = manifest(at: place)
    for kind in self[place].manifest.pushes where !manifest.pushes.contains(kind) { manifest.pushes.append(kind) }
    return manifest
  }
}
