import Primitives
import Push

extension DeviceFleet {
  /// Makes a token that no entry has and adds it; throws when the table is full of tokens that are in use.
  ///
  /// One that is there because the gateway, or a push, brought it back after a restart is the token that is wanted.
  ///
  /// - Parameter generation: Where to begin; a token that was replaced keeps its entry, so the next generation is free.
  mutating func mint(
    _ kind: TokenKind, bundleID: String, path: [String], owner: TokenEntry.Owner, generation: Int = 0
  ) throws(DeviceError) -> DeviceToken {
    var generation = generation
    var token = mint.token(kind, path: path, generation: generation)
    while let known = tokens.find(token) {
      if tokens[known].followsGateway {
        // What else is on its device stays where it is: the caller is about to add to it.
        _ = release(known)
        forget(token)
        break
      }
      generation += 1
      token = mint.token(kind, path: path, generation: generation)
    }
    var entry = TokenEntry(token: token, kind: kind, bundleID: bundleID, owner: owner, foreign: false)
    entry.generation = generation
    guard tokens.insert(entry) != nil else {
      throw DeviceError(.full, "this mock device knows as many push tokens as it can hold; remove devices or apps first")
    }
    return token
  }

  /// Lets the app's push handler tell the gateway what the token stands for now.
  ///
  /// - Parameter old: The token in whose place it stands, where the gateway may know that.
  mutating func register(_ token: DeviceToken, replacing old: DeviceToken? = nil) {
    guard registersTokens, let index = tokens.find(token), !tokens[index].foreign else { return }
    guard let registration = registration(of: tokens[index]) else { return }
    setRegistration(.pending, of: index)
    effects.append(old.map { .replace($0, by: registration) } ?? .register(registration))
  }

  /// Lets the app's push handler take the token back from the gateway, which it had registered.
  mutating func unregister(_ token: DeviceToken) {
    guard registersTokens, let index = tokens.find(token), !tokens[index].foreign else { return }
    guard tokens[index].registration != .none else { return }
    setRegistration(.none, of: index)
    effects.append(.unregister(token))
  }

  /// Lets the widget extension's push handler tell the gateway which push-enabled widgets are placed; with none left it takes the token back.
  mutating func registerWidgets(at place: AppPlace) throws(DeviceError) {
    let bundleID = self[place].bundleID
    if self[place].widgetsToken == nil, self[place].widgets.contains(where: { $0.pushEnabled && $0.token == nil }) {
      self[place].widgetsToken = try mint(
        .widgets, bundleID: bundleID, path: [place.device, bundleID], owner: .app(device: place.device))
    }
    for token in [self[place].widgetsToken].compactMap(\.self) + self[place].others {
      guard let index = tokens.find(token), tokens[index].kind == .widgets else { continue }
      if self[place].hasPushEnabledWidget(of: token) { register(token) } else { unregister(token) }
    }
  }

  /// Leaves the token without anything behind it.
  mutating func retire(_ token: DeviceToken, as owner: TokenEntry.Owner) {
    guard let index = tokens.find(token) else { return }
    tokens[index].owner = owner
  }

  /// Takes the token out of the table, as if it had never been seen.
  mutating func forget(_ token: DeviceToken) {
    guard let index = tokens.find(token) else { return }
    setRegistration(.none, of: index)
    tokens.remove(index)
  }

  /// Every token of the app.
  static func tokens(of app: App) -> [DeviceToken] {
    [app.appToken, app.pushToStartToken, app.widgetsToken].compactMap { $0 } + app.controls.map(\.token)
      + app.activities.map(\.token) + app.handlers.map(\.token) + app.others
  }

  /// What the app's push handler sends: nil when the token stands for nothing.
  func registration(of entry: TokenEntry) -> Registration? {
    guard let place = place(of: entry), let device = devices[place.device] else { return nil }
    let app = device.apps[place.app]
    var registration = Registration(
      token: entry.token, kind: entry.kind, bundleID: entry.bundleID, environment: device.settings.environment)
    registration.device = device.name
    registration.user = device.settings.user
    registration.platform = device.settings.platform
    registration.developerMode = device.settings.developerMode
    registration.frequentUpdates = app.manifest.frequentUpdates
    switch entry.kind {
    case .widgets:
      registration.widgets = app.widgets.filter { $0.pushEnabled && ($0.token ?? app.widgetsToken) == entry.token }.map {
        Registration.Widget(id: $0.id, kind: $0.kind, family: $0.family.rawValue)
      }
      if registration.widgets.isEmpty { return nil }
    case .controls:
      guard let control = app.controls.first(where: { $0.token == entry.token }) else { return nil }
      registration.controlKind = control.kind
    case .liveactivity:
      guard let hosted = app.activities.first(where: { $0.token == entry.token }), hosted.channel == nil else { return nil }
      registration.activity = Registration.Activity(id: hosted.id, attributesType: hosted.activity.attributesType)
    case .pushToStart, .app: break
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip:
      guard app.handlers.contains(where: { $0.token == entry.token }) else { return nil }
    }
    return registration
  }
}
