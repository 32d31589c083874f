import JSON
import Primitives
import Push

extension DeviceFleet {
  /// What is placed for a token that nobody has described, until somebody does.
  static let adoptedKind = "unknown"

  /// Adds an entry that is all there is of its device; nil when the table is full of tokens that are in use.
  mutating func adopt(_ token: DeviceToken, _ type: PushType, bundleID: String) -> Int? {
    let entry = TokenEntry(
      token: token, kind: TokenKind(taking: type), bundleID: bundleID, owner: .adopted, foreign: true)
    guard let index = tokens.insert(entry) else { return nil }
    noteAdoption(of: entry)
    return index
  }

  /// Makes the entry stand for what the gateway now says: the token of an adopted device was registered anew as something else.
  mutating func adoptAgain(_ index: Int, _ type: PushType, bundleID: String) {
    let token = tokens[index].token
    if let name = deviceName(of: tokens[index]), devices[name]?.isAdopted == true { dropDevice(name) }
    var entry = TokenEntry(token: token, kind: TokenKind(taking: type), bundleID: bundleID, owner: .adopted, foreign: true)
    entry.generation = tokens[index].generation
    tokens[index] = entry
    noteAdoption(of: entry)
  }

  /// The device that the adopted entry stands for, as if a person had set it up.
  func device(adopted entry: TokenEntry) -> Device {
    var app = App(bundleID: entry.bundleID, manifest: AppManifest())
    var done = Reloads()
    done.count = entry.applied
    done.last = entry.lastApplied
    done.lastPush = entry.lastPush
    switch entry.kind {
    case .widgets:
      app.widgetsToken = entry.token
      var widget = PlacedWidget(id: "widget-1", kind: Self.adoptedKind, family: .systemSmall, pushEnabled: true)
      widget.reloads = done
      app.widgets = [widget]
    case .controls:
      var control = PlacedControl(id: "control-1", kind: entry.subject?.controlKind ?? Self.adoptedKind, token: entry.token)
      control.reloads = done
      app.controls = [control]
    case .liveactivity:
      let known = entry.subject?.activity
      let activity = LiveActivity(
        attributesType: known?.attributesType ?? Self.adoptedKind, attributes: [:], contentState: [:], at: now)
      app.activities = [HostedActivity(id: known?.id ?? "activity-1", token: entry.token, activity: activity)]
      app.activitiesStarted = 1
    case .pushToStart: app.pushToStartToken = entry.token
    case .app:
      app.appToken = entry.token
      app.alerts = done
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip:
      app.manifest.pushes = [entry.kind]
      app.handlers = [PushHandler(kind: entry.kind, token: entry.token, pushes: done)]
    }
    var device = Device(name: entry.token.hex, settings: DeviceSettings(), apps: [app])
    device.isAdopted = true
    return device
  }

  /// Turns the adopted entry into a device of its own; false when there are as many as there may be.
  mutating func materialise(_ index: Int) -> Bool {
    guard devices.count < Limits.devices else { return false }
    let device = device(adopted: tokens[index])
    devices[device.name] = device
    switch tokens[index].kind {
    case .widgets, .app, .pushToStart, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip:
      tokens[index].owner = .app(device: device.name)
    case .controls: tokens[index].owner = .item(device: device.name, id: "control-1")
    case .liveactivity:
      tokens[index].owner = .item(device: device.name, id: device.apps[0].activities[0].id)
      expect(device.apps[0].activities[0].activity)
    }
    return true
  }

  private mutating func noteAdoption(of entry: TokenEntry) {
    log.append(DeviceEvent(.tokenAdopted, at: now, bundleID: entry.bundleID, token: entry.token))
  }
}
