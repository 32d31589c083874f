import JSON
import Primitives
import Push

// What a registration tells is put on a device, and taken off it again.
extension Device {
  /// What a token stood for.
  struct Holdings: Sendable {
    var widgets: [PlacedWidget] = []
    var controls: [PlacedControl] = []
    var activities: [HostedActivity] = []
  }

  /// Puts on the device what the registration tells, beside what is there; nil, and nothing done, when there is no room for it.
  ///
  /// - Parameters:
  ///   - remembering: The token is one of this device's own, from before a restart: what is put there is what had been placed then.
  ///   - id: The name of the control, where it is known.
  /// - Returns: What now stands behind the token.
  mutating func host(_ registration: Registration, remembering: Bool, id: String? = nil, at now: Instant) -> TokenEntry.Owner? {
    guard hasRoom(for: registration, now) else { return nil }
    let app = index(of: registration.bundleID) ?? addApp(registration.bundleID)
    let token = registration.token
    switch registration.kind {
    case .widgets:
      let own = remembering && apps[app].widgetsToken == nil
      if own { apps[app].widgetsToken = token } else { apps[app].others.append(token) }
      for widget in registration.widgets { place(widget, token: own ? nil : token, remembering, app) }
      if registration.widgets.isEmpty { place(nil, token: own ? nil : token, remembering, app) }
    case .controls:
      let kind = registration.controlKind
      let id = free(itemID: id ?? "\(Self.stem(kind ?? "control"))-1", or: Self.stem(kind ?? "control"))
      apps[app].controls.append(
        PlacedControl(id: id, kind: kind ?? DeviceFleet.adoptedKind, token: token, isRemembered: remembering))
      return .item(device: name, id: id)
    case .liveactivity:
      let type = registration.activity?.attributesType ?? DeviceFleet.adoptedKind
      let id = apps[app].free(activityID: registration.activity?.id ?? "activity-1")
      let activity = LiveActivity(attributesType: type, attributes: [:], contentState: [:], at: now)
      apps[app].activities.append(HostedActivity(id: id, token: token, activity: activity, isRemembered: remembering))
      return .item(device: name, id: id)
    case .app: if apps[app].appToken == nil { apps[app].appToken = token } else { apps[app].others.append(token) }
    case .pushToStart: if apps[app].pushToStartToken == nil { apps[app].pushToStartToken = token } else { apps[app].others.append(token) }
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip:
      apps[app].handlers.append(PushHandler(kind: registration.kind, token: token))
      if apps[app].isAdopted, !apps[app].manifest.pushes.contains(registration.kind) { apps[app].manifest.pushes.append(registration.kind) }
    }
    return .app(device: name)
  }

  /// Takes what the token stands for off the device; the app stays.
  mutating func release(_ token: DeviceToken, of bundleID: String) -> Holdings {
    guard let app = index(of: bundleID) else { return Holdings() }
    var held = Holdings()
    let isOwn = apps[app].widgetsToken == token
    held.widgets = apps[app].widgets.filter { $0.token.map { $0 == token } ?? isOwn }
    held.controls = apps[app].controls.filter { $0.token == token }
    held.activities = apps[app].activities.filter { $0.token == token }
    apps[app].widgets.removeAll { $0.token.map { $0 == token } ?? isOwn }
    apps[app].controls.removeAll { $0.token == token }
    apps[app].activities.removeAll { $0.token == token }
    apps[app].handlers.removeAll { $0.token == token }
    apps[app].others.removeAll { $0 == token }
    if isOwn { apps[app].widgetsToken = nil }
    if apps[app].appToken == token { apps[app].appToken = nil }
    if apps[app].pushToStartToken == token { apps[app].pushToStartToken = nil }
    return held
  }

  /// What was there before under the same names goes on with its counts and its state.
  mutating func resume(_ held: Holdings, of token: DeviceToken, in bundleID: String) {
    guard let app = index(of: bundleID) else { return }
    for index in apps[app].widgets.indices where apps[app].widgets[index].token == token {
      let widget = apps[app].widgets[index]
      if let old = held.widgets.first(where: { $0.id == widget.id && $0.kind == widget.kind }) {
        apps[app].widgets[index].reloads = old.reloads
      }
    }
    for index in apps[app].controls.indices where apps[app].controls[index].token == token {
      let kind = apps[app].controls[index].kind
      if let old = held.controls.first(where: { $0.kind == kind }) { apps[app].controls[index].reloads = old.reloads }
    }
    for index in apps[app].activities.indices where apps[app].activities[index].token == token {
      let new = apps[app].activities[index]
      if let old = held.activities.first(where: { $0.id == new.id && $0.activity.attributesType == new.activity.attributesType }) {
        apps[app].activities[index].activity = old.activity
      }
    }
  }

  private func hasRoom(for registration: Registration, _ now: Instant) -> Bool {
    guard let index = index(of: registration.bundleID) else { return apps.count < Limits.appsPerDevice }
    let app = apps[index]
    guard app.others.count < Limits.otherTokensPerApp, app.handlers.count < Limits.otherTokensPerApp else { return false }
    switch registration.kind {
    case .widgets: return app.widgets.count + max(1, registration.widgets.count) <= Limits.widgetsPerRegistration
    case .controls: return app.controls.count < Limits.controlsPerApp
    case .liveactivity:
      return app.activities.count(where: { now < $0.activity.endInstant }) < Limits.activitiesPerApp
    case .app, .pushToStart, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: return true
    }
  }

  private mutating func addApp(_ bundleID: String) -> Int {
    var app = App(bundleID: bundleID, manifest: AppManifest())
    app.isAdopted = true
    apps.append(app)
    return apps.count - 1
  }

  /// - Parameter widget: Nil stands for the one that a registration without widgets counts as.
  private mutating func place(_ widget: Registration.Widget?, token: DeviceToken?, _ isRemembered: Bool, _ app: Int) {
    let kind = widget?.kind ?? DeviceFleet.adoptedKind
    let stem = widget == nil ? "widget" : Self.stem(kind)
    let named = widget?.id.flatMap { DeviceFleet.isName($0) ? $0 : nil }
    apps[app].widgets.append(
      PlacedWidget(
        id: named.map { free(itemID: $0, or: $0) } ?? free(itemID: "\(stem)-1", or: stem), kind: kind,
        family: widget.flatMap { WidgetFamily(rawValue: $0.family) } ?? .systemSmall,
        pushEnabled: apps[app].manifest.isPushEnabled(kind), token: token, isRemembered: isRemembered))
  }

  /// `id`, or the first free one made of `stem` and a number.
  private func free(itemID id: String, or stem: String) -> String {
    var (free, ordinal) = (id, 2)
    while has(itemID: free) { (free, ordinal) = ("\(DeviceFleet.stem(stem))-\(ordinal)", ordinal + 1) }
    return free
  }

  /// What an id made from `name` begins with, which can stand in a path.
  private static func stem(_ name: String) -> String {
    let stem = DeviceFleet.stem(name)
    return DeviceFleet.isName(stem) ? stem : "item"
  }
}

extension App {
  /// `id`, or the first free one made of it and a number; ids of activities are unique in their app.
  fileprivate func free(activityID id: String) -> String {
    let id = DeviceFleet.isName(id) ? id : "activity"
    var (free, ordinal) = (id, 2)
    while activities.contains(where: { $0.id == free }) { (free, ordinal) = ("\(DeviceFleet.stem(id))-\(ordinal)", ordinal + 1) }
    return free
  }
}
