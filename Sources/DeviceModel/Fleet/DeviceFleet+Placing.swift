public import JSON
public import Primitives
public import Push
import Rules

extension DeviceFleet {
  /// A person places a widget; the app's push handler then registers its token with the new list of widgets.
  ///
  /// - Parameter id: The instance's name; nil makes one from the kind.
  public mutating func placeWidget(
    kind: String, family: WidgetFamily, id: String?, of bundleID: String, on device: String, at instant: Instant
  ) throws(DeviceError) -> (widget: PlacedWidget, token: DeviceToken?) {
    let now = set(now: instant)
    let place = try place(of: bundleID, on: device)
    try check(kind, family, at: place)
    if let widget = try recallWidget(kind, family, id, at: place) {
      note(.widgetPlaced, widget.id, self[place].widgetsToken, at: place, now)
      return (widget, widget.pushEnabled ? self[place].widgetsToken : nil)
    }
    guard self[place].widgets.count < Limits.widgetsPerRegistration else {
      throw DeviceError(.full, "\(bundleID) has \(Limits.widgetsPerRegistration) widgets on \(place.device), as many as it may")
    }
    let id = try itemID(id, kind: kind, at: place)
    let isPushEnabled = self[place].manifest.isPushEnabled(kind)
    let widget = PlacedWidget(id: id, kind: kind, family: family, pushEnabled: isPushEnabled)
    self[place].widgets.append(widget)
    if isPushEnabled {
      do {
        try registerWidgets(at: place)
      } catch {
        self[place].widgets.removeLast()
        throw error
      }
    }
    let token = isPushEnabled ? self[place].widgetsToken : nil
    note(.widgetPlaced, id, token, at: place, now)
    return (widget, token)
  }

  /// A person removes a widget; with the last push-enabled one gone the push handler takes the token back.
  public mutating func removeWidget(
    _ id: String, from device: String, at instant: Instant, sees: (String) -> Bool = { _ in true }
  ) throws(DeviceError) {
    let now = set(now: instant)
    let name = try hosted(device)
    for app in devices[name]!.apps.indices where sees(devices[name]!.apps[app].bundleID) {
      let place = AppPlace(device: name, app: app)
      guard let index = self[place].widgets.firstIndex(where: { $0.id == id }) else { continue }
      let widget = self[place].widgets.remove(at: index)
      note(.widgetRemoved, id, self[place].widgetsToken, at: place, now)
      if widget.pushEnabled { try registerWidgets(at: place) }
      return
    }
    throw unknownItem(id, "widget", name, devices[name]!.apps.filter { sees($0.bundleID) }.flatMap { $0.widgets.map(\.id) })
  }

  /// A person places a control; its push handler registers the control's own token.
  public mutating func placeControl(
    kind: String, id: String?, of bundleID: String, on device: String, at instant: Instant
  ) throws(DeviceError) -> PlacedControl {
    let now = set(now: instant)
    let place = try place(of: bundleID, on: device)
    try Self.check(name: kind, what: "kind", field: "kind")
    try Self.check(kind, among: self[place].manifest.controls.map(\.kind), "control kind", field: "kind")
    if let control = recallControl(kind, id, at: place) {
      note(.controlPlaced, control.id, control.token, at: place, now)
      return control
    }
    guard self[place].controls.count < Limits.controlsPerApp else {
      throw DeviceError(.full, "\(bundleID) has \(Limits.controlsPerApp) controls on \(place.device), as many as it may")
    }
    let id = try itemID(id, kind: kind, at: place)
    let token = try mint(
      .controls, bundleID: bundleID, path: [place.device, bundleID, id], owner: .item(device: place.device, id: id))
    let control = PlacedControl(id: id, kind: kind, token: token)
    self[place].controls.append(control)
    note(.controlPlaced, id, token, at: place, now)
    register(token)
    return control
  }

  /// A person removes a control; its push handler takes the token back.
  public mutating func removeControl(
    _ id: String, from device: String, at instant: Instant, sees: (String) -> Bool = { _ in true }
  ) throws(DeviceError) {
    let now = set(now: instant)
    let name = try hosted(device)
    for app in devices[name]!.apps.indices where sees(devices[name]!.apps[app].bundleID) {
      let place = AppPlace(device: name, app: app)
      guard let index = self[place].controls.firstIndex(where: { $0.id == id }) else { continue }
      let control = self[place].controls.remove(at: index)
      note(.controlRemoved, id, control.token, at: place, now)
      unregister(control.token)
      retire(control.token, as: .gone(.noSuchControl))
      return
    }
    throw unknownItem(id, "control", name, devices[name]!.apps.filter { sees($0.bundleID) }.flatMap { $0.controls.map(\.id) })
  }

  /// The app starts a Live Activity itself, and its server gets the update token; or it follows a broadcast channel, and has none.
  public mutating func startActivity(
    attributesType: String, attributes: JSONObject, contentState: JSONObject, staleDate: Instant? = nil,
    relevanceScore: Double? = nil, id: String?, channel: ChannelID? = nil, of bundleID: String, on device: String, at instant: Instant
  ) throws(DeviceError) -> (id: String, token: DeviceToken) {
    let now = set(now: instant)
    let place = try place(of: bundleID, on: device)
    let manifest = self[place].manifest
    try Self.check(name: attributesType, what: "attributesType", field: "attributesType")
    try Self.check(attributesType, among: manifest.activities.map(\.attributesType), "attributes type", field: "attributesType")
    let schemas = schemas(of: attributesType, at: place)
    let problems = schemas?.mismatches(attributes: .object(attributes), contentState: .object(contentState), at: .activity, now: nil) ?? []
    if let first = problems.first {
      throw DeviceError(
        .invalid, SchemaProblem.sentence(problems), field: first.path.hasPrefix("attributes") ? "attributes" : "contentState")
    }
    let bytes = JSONValue.object(attributes).serialized().utf8.count + JSONValue.object(contentState).serialized().utf8.count
    guard bytes <= Limits.activityBytes else {
      throw DeviceError(
        .invalid,
        "attributes and contentState have \(bytes) bytes as JSON, and ActivityKit takes \(Limits.activityBytes) (attributesTooLarge); leave out what the widget does not show",
        field: "attributes")
    }
    if let id {
      try Self.check(name: id, what: "an id", field: "id")
      guard !self[place].activities.contains(where: { $0.id == id && !$0.isRemembered }) else {
        throw DeviceError(.conflict, "\(bundleID) has an activity with the id \(id) already", field: "id")
      }
    }
    let activity = LiveActivity(
      attributesType: attributesType, attributes: attributes, contentState: contentState, staleDate: staleDate,
      relevanceScore: relevanceScore, at: now)
    let environment = devices[place.device]!.settings.environment
    let hosted = try add(activity, id: id, channel: channel, in: environment, at: place)
    note(.activityStarted, hosted.id, hosted.token, at: place, now)
    return (hosted.id, hosted.token)
  }

  /// A person swipes an activity away: it ends and is gone, and later pushes to it do nothing.
  public mutating func dismissActivity(
    _ id: String, on device: String, at instant: Instant, sees: (String) -> Bool = { _ in true }
  ) throws(DeviceError) {
    let now = set(now: instant)
    let name = try hosted(device)
    for app in devices[name]!.apps.indices where sees(devices[name]!.apps[app].bundleID) {
      let place = AppPlace(device: name, app: app)
      guard let index = self[place].activities.firstIndex(where: { $0.id == id }) else { continue }
      let wasShown = self[place].activities[index].activity.state(at: now) != .dismissed
      self[place].activities[index].activity.dismiss(at: now)
      if wasShown { note(.activityDismissed, id, self[place].activities[index].token, at: place, now) }
      return
    }
    throw unknownItem(id, "activity", name, devices[name]!.apps.filter { sees($0.bundleID) }.flatMap { $0.activities.map(\.id) })
  }

  private mutating func note(_ what: DeviceEvent.What, _ id: String, _ token: DeviceToken?, at place: AppPlace, _ now: Instant) {
    var event = DeviceEvent(what, at: now, device: place.device, bundleID: self[place].bundleID, token: token)
    event.items = [id]
    log.append(event)
  }

  private func check(_ kind: String, _ family: WidgetFamily, at place: AppPlace) throws(DeviceError) {
    try Self.check(name: kind, what: "kind", field: "kind")
    let kinds = self[place].manifest.widgets
    try Self.check(kind, among: kinds.map(\.kind), "widget kind", field: "kind")
    guard let declared = kinds.first(where: { $0.kind == kind }), !declared.families.isEmpty else { return }
    try Self.check(family.rawValue, among: declared.families.map(\.rawValue), "family of \(kind)", field: "family")
  }

  /// Refuses what the manifest does not declare; an empty list declares nothing and refuses nothing.
  private static func check(_ name: String, among known: [String], _ what: String, field: String) throws(DeviceError) {
    guard !known.isEmpty, !known.contains(name) else { return }
    let hint = nearestName(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    throw DeviceError(.invalid, "the app declares no \(what) \(name), only \(known.joined(separator: ", "))\(hint)", field: field)
  }

  private func unknownItem(_ id: String, _ what: String, _ device: String, _ known: [String]) -> DeviceError {
    let hint = nearestName(to: id, among: known).map { "; did you mean \($0)?" } ?? ""
    return DeviceError(.notFound, "\(device) has no \(what) \(id)\(hint)", field: "id")
  }
}
