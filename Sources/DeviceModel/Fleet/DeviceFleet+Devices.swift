public import Primitives
import Push

extension DeviceFleet {
  /// Sets up a device, or changes the settings of the one of that name, whose apps then register their tokens again.
  ///
  /// - Returns: Whether it is new.
  public mutating func setDevice(_ name: String, _ settings: DeviceSettings, at instant: Instant) throws(DeviceError) -> Bool {
    let now = set(now: instant)
    if let name = try existing(name) {
      devices[name]!.isAdopted = false
      guard devices[name]!.settings != settings else { return false }
      devices[name]!.settings = settings
      log.append(DeviceEvent(.deviceChanged, at: now, device: name))
      for app in devices[name]!.apps { for token in Self.tokens(of: app) { register(token) } }
      return false
    }
    try Self.check(name: name, what: "a device's name", field: "device")
    guard makeRoom() else { throw tooManyDevices }
    devices[name] = Device(name: name, settings: settings)
    log.append(DeviceEvent(.deviceAdded, at: now, device: name))
    return true
  }

  /// Wipes a device: pushes to its tokens are answered 410 from now on. The gateway is not told, as a phone would not tell it.
  ///
  /// - Parameter forgetting: Forgets the tokens instead, so that the next push to one finds a device of its own: for tests that use the
  ///   same tokens again.
  public mutating func removeDevice(_ name: String, forgetting: Bool, at instant: Instant) throws(DeviceError) {
    let now = set(now: instant)
    let name = try hosted(name)
    let held = devices[name]!.apps.flatMap { Self.tokens(of: $0) }
    dropDevice(name)
    if forgetting { for token in held { forget(token) } }
    log.append(DeviceEvent(.deviceRemoved, at: now, device: name))
  }

  /// Whether the app is installed; throws when there is no such device.
  public mutating func hasApp(_ bundleID: String, on device: String) throws(DeviceError) -> Bool {
    let device = devices[try hosted(device)]!
    guard let app = device.index(of: bundleID) else { return false }
    return device.isAdopted || !device.apps[app].isAdopted
  }

  /// Installs an app, or an update of it with another manifest.
  ///
  /// A changed switch for frequent updates ends all activities of the app, as iOS does (Apple, "Update Live Activities with push
  /// notifications", WWDC23).
  ///
  /// - Returns: Whether it is new.
  public mutating func install(_ bundleID: String, _ manifest: AppManifest, on device: String, at instant: Instant)
    throws(DeviceError) -> Bool
  {
    let now = set(now: instant)
    let name = try hosted(device)
    if let app = devices[name]!.index(of: bundleID) {
      let place = AppPlace(device: name, app: app)
      let isNew = self[place].isAdopted && !devices[name]!.isAdopted
      if isNew {
        self[place].isAdopted = false
        declare(manifest, at: place)
        log.append(DeviceEvent(.appInstalled, at: now, device: name, bundleID: bundleID))
        try requestTokens(of: place)
      }
      let old = isNew ? nil : self[place].manifest
      try update(place, to: manifest, at: now)
      teach(at: place, since: old)
      return isNew
    }
    try Self.check(bundleID: bundleID)
    guard devices[name]!.apps.count < Limits.appsPerDevice else {
      throw DeviceError(.full, "\(name) has \(Limits.appsPerDevice) apps, as many as it may; remove one first")
    }
    let place = AppPlace(device: name, app: devices[name]!.apps.count)
    devices[name]!.apps.append(App(bundleID: bundleID, manifest: manifest))
    declare(manifest, at: place)
    log.append(DeviceEvent(.appInstalled, at: now, device: name, bundleID: bundleID))
    try requestTokens(of: place)
    try arrangeHandlers(of: place)
    teach(at: place)
    return true
  }

  /// Lets an app that is installed ask for the tokens that every app has, as far as it has none.
  private mutating func requestTokens(of place: AppPlace) throws(DeviceError) {
    let bundleID = self[place].bundleID
    for kind in [TokenKind.app, .pushToStart] where (kind == .app ? self[place].appToken : self[place].pushToStartToken) == nil {
      let token = try mint(kind, bundleID: bundleID, path: [place.device, bundleID], owner: .app(device: place.device))
      if kind == .app { self[place].appToken = token } else { self[place].pushToStartToken = token }
      register(token)
    }
  }

  /// Removes an app: pushes to its tokens are answered 410 from now on. The gateway is not told, as a phone would not tell it.
  ///
  /// - Parameter sees: Which apps the caller may see; an error names no others.
  public mutating func removeApp(
    _ bundleID: String, from device: String, at instant: Instant, sees: (String) -> Bool = { _ in true }
  ) throws(DeviceError) {
    let now = set(now: instant)
    let place = try place(of: bundleID, on: device, sees: sees)
    let app = devices[place.device]!.apps.remove(at: place.app)
    undeclare(bundleID)
    for token in Self.tokens(of: app) { retire(token, as: .unregistered(since: now)) }
    log.append(DeviceEvent(.appRemoved, at: now, device: place.device, bundleID: bundleID))
  }

  /// Takes the device away and leaves its tokens unregistered.
  mutating func dropDevice(_ name: String) {
    guard let device = devices.removeValue(forKey: name) else { return }
    for app in device.apps where !app.isAdopted { undeclare(app.bundleID) }
    for app in device.apps { for token in Self.tokens(of: app) { retire(token, as: .unregistered(since: now)) } }
  }

  private mutating func update(_ place: AppPlace, to manifest: AppManifest, at now: Instant) throws(DeviceError) {
    let old = self[place].manifest
    self[place].manifest = manifest
    declare(manifest, at: place)
    guard !old.means(manifest) else { return }
    for widget in self[place].widgets.indices {
      self[place].widgets[widget].pushEnabled = manifest.isPushEnabled(self[place].widgets[widget].kind)
    }
    log.append(DeviceEvent(.appChanged, at: now, device: place.device, bundleID: self[place].bundleID))
    if old.frequentUpdates != manifest.frequentUpdates { endActivities(of: place, at: now) }
    try registerWidgets(at: place)
    try arrangeHandlers(of: place)
    for token in Self.tokens(of: self[place]) where token != self[place].widgetsToken { register(token) }
  }

  private mutating func endActivities(of place: AppPlace, at now: Instant) {
    for index in self[place].activities.indices where now < self[place].activities[index].activity.endInstant {
      self[place].activities[index].activity.endBySystem(at: now)
      expect(self[place].activities[index].activity)
      let hosted = self[place].activities[index]
      var event = DeviceEvent(
        .activityEnded, at: now, device: place.device, bundleID: self[place].bundleID, token: hosted.token)
      event.items = [hosted.id]
      event.detail = "the switch for frequent updates was changed"
      log.append(event)
    }
  }
}

extension AppManifest {
  /// Whether widgets of that kind are reloaded by pushes.
  func isPushEnabled(_ kind: String) -> Bool { widgets.first { $0.kind == kind }?.pushEnabled ?? true }
}
