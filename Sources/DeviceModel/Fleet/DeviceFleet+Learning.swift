public import Primitives
public import Push

// What the gateway says that a token was registered as is what the devices make of it.
//
// Whoever registers a token names its device and its user, the widgets, the control or the activity; the gateway is asked when a push
// comes. The token may also be one that this process made before it was restarted: then what it says was placed is there again, and
// stays this process's own to register.
extension DeviceFleet {
  /// A token that is known, good until the fleet changes; spares a second look-up.
  public struct KnownToken: Sendable {
    let index: Int
  }

  /// What is known of the token, if anything. O(1).
  public func known(_ token: DeviceToken) -> KnownToken? { tokens.find(token).map { KnownToken(index: $0) } }

  /// Whether the gateway can say more of a token than is known: nothing is, or it was registered by somebody else, who may have done so again.
  public func isWorthAsking(about known: KnownToken?) -> Bool {
    guard registersTokens else { return false }
    guard let known else { return true }
    return tokens[known.index].followsGateway
  }

  /// How often tokens that this process makes are tried for one of before a restart: how many times it had rotated, and how many controls
  /// of its kind there were.
  private static let triedGenerations = 4
  private static let triedOrdinals = 8

  /// Makes the token stand for what the gateway says that it was registered as; a token of this process's own stays what it is.
  ///
  /// A device, an app and what is placed come into being where they are missing. What people have set up there stays, settings included:
  /// those of a registration hold for a device of which nobody has said more, and which has no other app.
  public mutating func learn(_ registration: Registration, at instant: Instant) {
    _ = set(now: instant)
    let word = registration.whatDevicesMake
    if let index = tokens.find(word.token) {
      let entry = tokens[index]
      guard entry.followsGateway, !entry.agrees(with: word) else { return }
      settle(index, as: word)
    } else if !word.tellsMore {
      _ = adopt(word.token, word.kind, bundleID: word.bundleID)
    } else {
      let entry = TokenEntry(token: word.token, kind: word.kind, bundleID: word.bundleID, owner: .adopted, foreign: true)
      if let index = tokens.insert(entry) { settle(index, as: word) }
    }
  }

  private mutating func settle(_ index: Int, as word: Registration) {
    let before = deviceName(of: tokens[index])
    let held = release(index)
    tokens[index] = TokenEntry(token: word.token, kind: word.kind, bundleID: word.bundleID, owner: .adopted, foreign: true)
    if word.tellsMore {
      // A device that cannot take it in is no reason to lose it: then it gets one of its own.
      for name in [word.device.flatMap { Self.isName($0) ? $0 : nil }, word.token.hex].compactMap(\.self) {
        if host(index, word, on: name, held) { break }
      }
    }
    if let before { prune(before) }
    var event = DeviceEvent(
      .tokenAdopted, at: now, device: deviceName(of: tokens[index]), bundleID: word.bundleID, token: word.token)
    let unknown = word.widgets.map(\.family).filter { WidgetFamily(rawValue: $0) == nil }
    if let family = unknown.first { event.detail = "there is no family \(family): systemSmall stands for it" }
    log.append(event)
  }

  /// Puts what the registration tells on the device of that name; false when there is no room.
  private mutating func host(_ index: Int, _ word: Registration, on name: String, _ held: Device.Holdings) -> Bool {
    // While the entry stands for itself its name would find it.
    tokens[index].owner = .gone(.noSuchApp)
    defer { if case .gone = tokens[index].owner { tokens[index].owner = .adopted } }
    guard let name = (try? existing(name)) ?? adoptedDevice(name) else { return false }
    let isAlone = devices[name]!.apps.allSatisfy { Self.tokens(of: $0).isEmpty }
    let own = name == word.device ? minted(word, on: name) : nil
    guard let owner = devices[name]!.host(word, remembering: own != nil, id: own?.id, at: now) else { return false }
    devices[name]!.resume(held, of: word.token, in: word.bundleID)
    tokens[index].owner = owner
    tokens[index].foreign = own == nil
    tokens[index].generation = own?.generation ?? 0
    tokens[index].word = own == nil ? .registration(word) : nil
    takeSettings(of: word, on: name, isAlone: isAlone)
    expectActivity(of: word.token, on: name)
    if own != nil {
      setRegistration(.registered, of: index)
      let present = registration(of: tokens[index])
      if present == nil { unregister(word.token) } else if present != word { register(word.token) }
    }
    return true
  }

  /// Which of its own tokens the device had made it as, before a restart; nil when it is somebody else's.
  private func minted(_ word: Registration, on device: String) -> (generation: Int, id: String?)? {
    var ids: [String?] = [nil]
    switch word.kind {
    case .controls: ids = (1...Self.triedOrdinals).map { "\(Self.stem(word.controlKind ?? Self.adoptedKind))-\($0)" }
    case .liveactivity: ids = [word.activity?.id ?? "activity-1"]
    case .widgets:
      if devices[device]?.apps.contains(where: { $0.bundleID == word.bundleID && $0.widgetsToken != nil }) == true { return nil }
    default: break
    }
    for id in ids {
      let path = [device, word.bundleID] + (id.map { [$0] } ?? [])
      for generation in 0..<Self.triedGenerations where mint.token(word.kind, path: path, generation: generation) == word.token {
        return (generation, id)
      }
    }
    return nil
  }

  private mutating func takeSettings(of word: Registration, on name: String, isAlone: Bool) {
    let device = devices[name]!
    guard device.apps.allSatisfy({ $0.bundleID == word.bundleID }), device.isAdopted || device.settings == DeviceSettings() else { return }
    var settings = isAlone && device.isAdopted ? DeviceSettings() : device.settings
    if device.isAdopted { settings.environment = word.environment }
    if let user = word.user { settings.user = user }
    if let platform = word.platform { settings.platform = platform }
    if word.developerMode { settings.developerMode = true }
    devices[name]!.settings = settings
    var isChanged = settings != device.settings
    for app in device.apps.indices where device.apps[app].isAdopted && (isAlone || word.frequentUpdates) {
      if device.apps[app].manifest.frequentUpdates != word.frequentUpdates { isChanged = true }
      devices[name]!.apps[app].manifest.frequentUpdates = word.frequentUpdates
    }
    guard isChanged else { return }
    for app in device.apps { for token in Self.tokens(of: app) { register(token) } }
  }

  /// Takes what the token stands for off its device, where it has one.
  mutating func release(_ index: Int) -> Device.Holdings {
    let entry = tokens[index]
    guard let name = deviceName(of: entry) else { return Device.Holdings() }
    return devices[name]?.release(entry.token, of: entry.bundleID) ?? Device.Holdings()
  }

  /// Takes away what was on the device for tokens alone, and has none any more.
  mutating func prune(_ name: String) {
    guard let device = devices[name] else { return }
    devices[name]!.apps = device.apps.filter { !$0.isAdopted || !Self.tokens(of: $0).isEmpty }
    if device.isAdopted, devices[name]!.apps.isEmpty { devices[name] = nil }
  }
}

extension Registration {
  /// It, without what only the gateway goes by.
  fileprivate var whatDevicesMake: Registration {
    var word = self
    (word.upstream, word.minimumInterval, word.coalesce, word.budget, word.quietHours) = (nil, nil, nil, nil, nil)
    return word
  }

  /// Whether it tells more than any push to the token does. Pushes do not tell activities from what starts them.
  fileprivate var tellsMore: Bool {
    if kind == .liveactivity || kind == .pushToStart || environment != .development { return true }
    return device != nil || user != nil || platform != nil || !widgets.isEmpty || controlKind != nil || frequentUpdates || developerMode
  }
}

extension TokenEntry {
  /// Whether it stands for that already.
  fileprivate func agrees(with registration: Registration) -> Bool {
    if case .registration(let word)? = word { return word == registration }
    return !registration.tellsMore && kind == registration.kind && bundleID == registration.bundleID
  }
}
