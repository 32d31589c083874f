public import JSON
public import Primitives
public import Push

extension DeviceFleet {
  /// The devices in the order of their names, after `after`, at most `limit`, each with its apps; `isLast` when no more follow.
  ///
  /// Devices that are only a token come under that token's hexadecimal text. O(devices · log devices).
  ///
  /// - Parameter sees: Which apps are shown; a device all of whose apps are hidden is left out.
  public func devices(after: String, limit: Int, sees: (String) -> Bool) -> (names: [String], list: [JSONValue], isLast: Bool) {
    var found: [(name: String, isAdopted: Bool, bundleIDs: [String])] = []
    func add(_ name: String, _ isAdopted: Bool, _ bundleIDs: [String]) {
      let seen = bundleIDs.filter(sees)
      if !seen.isEmpty || bundleIDs.isEmpty { found.append((name, isAdopted, seen)) }
    }
    for (name, device) in devices where name > after { add(name, device.isAdopted, device.apps.map(\.bundleID)) }
    tokens.forEach { entry in
      guard entry.owner == .adopted else { return }
      let name = entry.token.hex
      if name > after { add(name, true, [entry.bundleID]) }
    }
    found.sort { $0.name < $1.name }
    let page = found.prefix(limit)
    let list = page.map { entry -> JSONValue in
      ["device": .string(entry.name), "adopted": .bool(entry.isAdopted), "apps": .array(entry.bundleIDs.map { .string($0) })]
    }
    return (page.map(\.name), list, found.count <= limit)
  }

  /// What a person sees on the device of that name, or that has that token.
  ///
  /// - Parameter sees: Which apps are shown; a device all of whose apps are hidden is as unknown as one that is not there.
  public func state(of name: String, at instant: Instant, sees: (String) -> Bool = { _ in true }) throws(DeviceError) -> JSONValue {
    var (object, apps) = try summary(of: name, sees: sees)
    object["apps"] = .array(apps.map { state(of: $0, on: name, at: instant) })
    return .object(object)
  }

  /// What there is to say of the device beside its apps, and their bundle ids in the order in which they stand; for those who tell them one
  /// after the other.
  public func summary(of name: String, sees: (String) -> Bool = { _ in true }) throws(DeviceError) -> (object: JSONObject, apps: [String]) {
    guard let device = device(named: name), device.isShown(to: sees) else { throw unknownDevice(name, sees: sees) }
    let settings = device.settings
    var object: JSONObject = ["device": .string(device.name), "adopted": .bool(device.isAdopted)]
    object["platform"] = .string(settings.platform)
    object["environment"] = .string(settings.environment.name)
    object["user"] = settings.user.map { .string($0) }
    object["developerMode"] = .bool(settings.developerMode)
    return (object, device.apps.map(\.bundleID).filter(sees))
  }

  /// What a person sees of one app of the device; `null` where it is not there.
  public func state(of bundleID: String, on name: String, at instant: Instant) -> JSONValue {
    let app = device(named: name)?.apps.first { $0.bundleID == bundleID }
    return app.map { state(of: $0, at: max(now, instant)) } ?? .null
  }

  /// The first `limit` events after the cursor `after`, oldest first, of one device or of all; `isComplete` is false when events after
  /// the cursor are already gone.
  ///
  /// - Parameters:
  ///   - device: The device's name or one of its tokens; nil means all devices.
  ///   - matches: Only events that it is true for.
  public func events(
    of device: String?, after: UInt64, limit: Int, where matches: (DeviceEvent) -> Bool = { _ in true }
  ) -> (events: [DeviceEvent], isComplete: Bool) {
    guard let device else { return log.events(after: after, limit: limit, where: matches) }
    // A device that was removed still has a history under its name.
    let name = self.device(named: device)?.name ?? device
    let token = DeviceToken(hex: name)
    return log.events(after: after, limit: limit) { event in
      (event.device.map { $0 == name } ?? (token != nil && event.token == token)) && matches(event)
    }
  }

  /// How far the registration of a token has come.
  public func registrationState(of token: DeviceToken) -> RegistrationState {
    tokens.find(token).map { tokens[$0].registration } ?? .none
  }

  /// Whether the gateway has yet to be told about a token of that app.
  public func isRegistering(_ bundleID: String, on name: String) -> Bool {
    guard let app = device(named: name)?.apps.first(where: { $0.bundleID == bundleID }) else { return false }
    return Self.tokens(of: app).contains { registrationState(of: $0) == .pending } || isTeaching(bundleID, app.manifest)
  }

  /// Why the gateway does not have the token, as far as that was found out last; nil when nothing is known to be wrong.
  public func registrationProblem(of token: DeviceToken) -> String? {
    log.events(after: 0, limit: .max) { $0.token == token && ($0.what == .registrationFailed || $0.what == .tokenRegistered) }
      .events.last.flatMap { $0.what == .registrationFailed ? $0.detail : nil }
  }

  private func device(named name: String) -> Device? {
    if let device = devices[name] { return device }
    guard let token = DeviceToken(hex: name), let index = tokens.find(token) else { return nil }
    if let owner = deviceName(of: tokens[index]) { return devices[owner] }
    return tokens[index].owner == .adopted ? device(adopted: tokens[index]) : nil
  }

  private func state(of app: App, at now: Instant) -> JSONValue {
    var object: JSONObject = ["bundleID": .string(app.bundleID), "frequentUpdates": .bool(app.manifest.frequentUpdates)]
    object["app"] = app.appToken.map { token in
      var own = state(of: token).adding(app.alerts, as: "alerts").counting(app.wakes, as: "wakes")
      own["notifications"] = notifications.json(of: token)
      return .object(own)
    }
    object["pushToStart"] = app.pushToStartToken.map { .object(state(of: $0)) }
    let others = app.others.compactMap { tokens.find($0) }.map { (token: tokens[$0].token, kind: tokens[$0].kind) }
    let extensionToken = app.widgetsToken ?? others.first { $0.kind == .widgets }?.token
    object["widgetExtension"] = extensionToken.map { .object(state(of: $0)) }
    let list = others.filter { $0.token != extensionToken }.map { other -> JSONValue in
      let own: JSONObject = ["type": .string(other.kind.name)]
      return .object(own.merging(state(of: other.token)))
    }
    if !list.isEmpty { object["otherTokens"] = .array(list) }
    if !app.handlers.isEmpty {
      object["pushes"] = .array(
        app.handlers.map { handler in
          let own: JSONObject = ["type": .string(handler.kind.name)]
          return .object(own.merging(state(of: handler.token)).adding(handler.pushes, as: "pushes"))
        })
    }
    object["widgets"] = .array(
      app.widgets.map { widget in
        var own: JSONObject = [
          "id": .string(widget.id), "kind": .string(widget.kind), "family": .string(widget.family.rawValue),
          "pushEnabled": .bool(widget.pushEnabled),
        ]
        own["token"] = widget.token.flatMap { $0 == extensionToken ? nil : .string($0.hex) }
        return .object(own.adding(widget.reloads, as: "reloads"))
      })
    object["controls"] = .array(
      app.controls.map { control in
        let own: JSONObject = ["id": .string(control.id), "kind": .string(control.kind)]
        return .object(own.merging(state(of: control.token)).adding(control.reloads, as: "reloads"))
      })
    object["activities"] = .array(app.activities.map { .object(state(of: $0, at: now)) })
    object["schemas"] = schemasState(of: app)
    return .object(object)
  }

  private func state(of hosted: HostedActivity, at now: Instant) -> JSONObject {
    let activity = hosted.activity
    var object: JSONObject = ["id": .string(hosted.id), "attributesType": .string(activity.attributesType)]
    if let channel = hosted.channel {
      object["channelID"] = .string(channel.description)
      object["channel"] = .string(hosted.channelCheck.name)
    } else {
      object = object.merging(state(of: hosted.token))
    }
    object["state"] = .string(activity.state(at: now).rawValue)
    object["attributes"] = .object(activity.attributes)
    object["contentState"] = .object(activity.contentState)
    object["timestamp"] = activity.timestamp.map { .integer($0) }
    object["updates"] = .integer(Int64(activity.updates))
    object["relevanceScore"] = .number(activity.relevanceScore)
    object["startedAt"] = .string(activity.startedAt.description)
    // By what the text says it has happened.
    func time(_ instant: Instant) -> JSONValue { .string(instant.roundedUp(to: .milliseconds(1)).description) }
    object["staleDate"] = activity.staleDate.map(time)
    object["endsAt"] = time(activity.endInstant)
    object["dismissedAt"] = time(activity.dismissalInstant)
    return object
  }

  private func state(of token: DeviceToken) -> JSONObject {
    ["token": .string(token.hex), "registration": .string(registrationState(of: token).name)]
  }
}

extension JSONObject {
  fileprivate func merging(_ other: JSONObject) -> JSONObject {
    var merged = self
    for (key, value) in other { merged[key] = value }
    return merged
  }

  /// The object with a count under `name`.
  fileprivate func counting(_ reloads: Reloads, as name: String) -> JSONObject {
    var object = self
    object[name] = .integer(Int64(reloads.count))
    return object
  }

  /// The object with a count under `name` and the last time and push, where there was one.
  fileprivate func adding(_ reloads: Reloads, as name: String) -> JSONObject {
    var object = self
    object[name] = .integer(Int64(reloads.count))
    object["last"] = reloads.last.map { .string($0.description) }
    object["lastPush"] = reloads.lastPush.map { .string($0.description) }
    return object
  }
}
