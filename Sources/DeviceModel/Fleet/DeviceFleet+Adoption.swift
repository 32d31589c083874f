import JSON
import Primitives
import Push

// Tokens that somebody else registered, of which nothing is known but what a push to them says: each is an entry, and no more.
extension DeviceFleet {
  /// What is placed for a token that nobody has described, until somebody does.
  static let adoptedKind = "unknown"

  /// Adds an entry that is all there is of its device; nil when the table is full of tokens that are in use.
  mutating func adopt(_ token: DeviceToken, _ kind: TokenKind, bundleID: String) -> Int? {
    let entry = TokenEntry(token: token, kind: kind, bundleID: bundleID, owner: .adopted, foreign: true)
    guard let index = tokens.insert(entry) else { return nil }
    noteAdoption(of: entry)
    return index
  }

  /// Makes the entry stand for what a push says: its token was registered anew as something else.
  mutating func adoptAgain(_ index: Int, _ kind: TokenKind, bundleID: String) {
    let entry = tokens[index]
    if let name = deviceName(of: entry) {
      if name == entry.token.hex, devices[name]?.isAdopted == true {
        dropDevice(name)
      } else {
        _ = release(index)
        prune(name)
      }
    }
    var new = TokenEntry(token: entry.token, kind: kind, bundleID: bundleID, owner: .adopted, foreign: true)
    new.generation = entry.generation
    tokens[index] = new
    noteAdoption(of: new)
  }

  /// The device that the adopted entry stands for, as if a person had set it up.
  func device(adopted entry: TokenEntry) -> Device {
    var device = Device(name: entry.token.hex, settings: DeviceSettings())
    device.isAdopted = true
    _ = device.host(entry.asRegistration, remembering: false, at: now)
    device.count(entry)
    return device
  }

  /// Turns the adopted entry into a device of its own; false when there are as many as there may be.
  mutating func materialise(_ index: Int) -> Bool {
    let entry = tokens[index]
    guard let name = adoptedDevice(entry.token.hex),
      let owner = devices[name]!.host(entry.asRegistration, remembering: false, at: now)
    else { return false }
    devices[name]!.count(entry)
    tokens[index].owner = owner
    expectActivity(of: entry.token, on: name)
    return true
  }

  /// The device of that name, which is made when there is none; nil when there are as many as there may be.
  mutating func adoptedDevice(_ name: String) -> String? {
    if devices[name] != nil { return name }
    guard makeRoom() else { return nil }
    adoptions += 1
    var device = Device(name: name, settings: DeviceSettings())
    (device.isAdopted, device.adoption) = (true, adoptions)
    devices[name] = device
    return name
  }

  /// Sees to it that one more device may be there; false when people have set up as many as there may be.
  ///
  /// The oldest of those that are there for tokens alone go, some at once so that looking for them is rare. Their tokens are forgotten:
  /// the next push to one of them makes it anew.
  mutating func makeRoom() -> Bool {
    guard devices.count >= devicesMax else { return true }
    let oldest = devices.values.filter(\.isAdopted).sorted { $0.adoption < $1.adoption }.prefix(max(1, devicesMax / 16))
    for device in oldest {
      devices[device.name] = nil
      for app in device.apps { for token in Self.tokens(of: app) { forget(token) } }
    }
    return devices.count < devicesMax
  }

  /// Looks forward to what the token's activity does by itself, if it has one.
  mutating func expectActivity(of token: DeviceToken, on name: String) {
    for app in devices[name]?.apps ?? [] {
      if let hosted = app.activities.first(where: { $0.token == token }) { expect(hosted.activity) }
    }
  }

  private mutating func noteAdoption(of entry: TokenEntry) {
    log.append(DeviceEvent(.tokenAdopted, at: now, bundleID: entry.bundleID, token: entry.token))
  }
}

extension TokenEntry {
  /// The least that it can have been registered as.
  fileprivate var asRegistration: Registration {
    Registration(token: token, kind: kind, bundleID: bundleID, environment: .development)
  }
}

extension Device {
  /// Takes over what pushes did while the entry was all there was.
  fileprivate mutating func count(_ entry: TokenEntry) {
    guard entry.applied > 0, let app = index(of: entry.bundleID) else { return }
    var done = Reloads()
    (done.count, done.last, done.lastPush) = (entry.applied, entry.lastApplied, entry.lastPush)
    for index in apps[app].widgets.indices where apps[app].widgets[index].token == entry.token { apps[app].widgets[index].reloads = done }
    for index in apps[app].controls.indices where apps[app].controls[index].token == entry.token {
      apps[app].controls[index].reloads = done
    }
    for index in apps[app].handlers.indices where apps[app].handlers[index].token == entry.token { apps[app].handlers[index].pushes = done }
    if entry.kind == .app { apps[app].alerts = done }
  }
}
