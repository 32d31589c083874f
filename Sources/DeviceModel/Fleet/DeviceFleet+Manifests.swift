import Push

// What apps declare, which those have in common that are there for registered tokens alone.
extension DeviceFleet {
  /// What the app declares. Where nobody has installed it, that is what it declares elsewhere.
  func manifest(at place: AppPlace) -> AppManifest {
    let own = self[place].manifest
    guard self[place].isAdopted, own.widgets.isEmpty, own.controls.isEmpty, own.activities.isEmpty else { return own }
    var manifest = declared[self[place].bundleID] ?? own
    manifest.frequentUpdates = own.frequentUpdates
    return manifest
  }

  /// Notes what an app declares on a device on which somebody has installed it.
  mutating func declare(_ manifest: AppManifest, at place: AppPlace) {
    guard !self[place].isAdopted else { return }
    declared[self[place].bundleID] = manifest
  }

  /// An app is gone from a device: what it declares is what another device has of it, if any.
  mutating func undeclare(_ bundleID: String) {
    declared[bundleID] = devices.values.lazy.flatMap(\.apps).first { !$0.isAdopted && $0.bundleID == bundleID }?.manifest
    if declared[bundleID] == nil { (teachings[bundleID], learnedSchemas[bundleID]) = (nil, nil) }
  }
}
