import JSON
import Primitives
import Push
import Seeds
import Testing

@testable import DeviceModel

/// Random lives of a few devices, held against what must be true at every step.
@Suite("Random lives of devices") struct FleetSequenceTests {
  private let names = ["phone", "pad", "watch"]
  private let bundleIDs = ["com.example.one", "com.example.two"]

  @Test(arguments: seeds(16)) func invariantsHold(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var fleet = DeviceFleet(seed: "random", hashSeed: seed, devicesMax: 12, tokensMax: 400, logEntries: 50)
    var now = noon
    /// What the gateway would hold after carrying out the effects.
    var gateway: [DeviceToken: Registration] = [:]
    var applied = 0
    var everSeen: [DeviceToken] = []
    for step in 0..<400 {
      now = now + TimeSpan(nanoseconds: Int64.random(in: -1_000_000_000...1_200_000_000_000, using: &random))
      let before = fleet.newestEvent
      if Int.random(in: 0..<3, using: &random) == 0 || everSeen.isEmpty {
        live(&fleet, now, &random)
      } else if Int.random(in: 0..<4, using: &random) == 0 {
        // What the gateway says: of a token that somebody else registered, or of one of the devices' own.
        let own = gateway.values.sorted { $0.token.hex < $1.token.hex }.randomElement(using: &random)
        fleet.learn(Bool.random(using: &random) ? try somebodys(&random) : try own ?? somebodys(&random), at: now)
      } else {
        let unknown = try token([UInt8.random(in: 0...40, using: &random)])
        let target = Bool.random(using: &random) ? try #require(everSeen.randomElement(using: &random)) : unknown
        let outcome = push(&fleet, to: target, now, &random)
        if outcome.disposition == .applied { applied += 1 }
        #expect(fleet.newestEvent > before, "seed \(seed), step \(step): every push leaves an event")
        let events = fleet.events(of: nil, after: before, limit: 50).events
        #expect(events.compactMap(\.disposition) == [outcome.disposition], "seed \(seed), step \(step)")
        #expect(outcome.disposition == .applied || outcome.disposition == .ignored || outcome.disposition == .refused)
      }
      for effect in fleet.takeEffects() {
        switch effect {
        case .register(let registration):
          gateway[registration.token] = registration
          if Bool.random(using: &random) { fleet.noteRegistration(effect, .registered, detail: nil, at: now) }
        case .replace(let old, let registration):
          #expect(old != registration.token, "seed \(seed), step \(step)")
          gateway[registration.token] = registration
          if Bool.random(using: &random) { fleet.noteRegistration(effect, .registered, detail: nil, at: now) }
        case .fetchMessage, .teach: break
        case .unregister(let token): #expect(gateway.removeValue(forKey: token) != nil, "seed \(seed), step \(step)")
        }
        everSeen.append(effect.token)
      }
      try check(fleet, gateway, "seed \(seed), step \(step)", rendersStates: step % 20 == 0)
      if let due = fleet.nextDue { #expect(due > fleet.now, "seed \(seed), step \(step)") }
    }
    #expect(applied > 20, "seed \(seed): the sequence must do something")
  }

  /// A registration from elsewhere.
  private func somebodys(_ random: inout SplitMix64) throws -> Registration {
    let kind = try #require(TokenKind.allCases.randomElement(using: &random))
    var word = Registration(
      token: try token([UInt8.random(in: 0...40, using: &random)]), kind: kind, bundleID: bundleIDs.randomElement(using: &random)!,
      environment: Bool.random(using: &random) ? .development : .production)
    word.device = (names + ["other", "05", nil]).randomElement(using: &random)!
    word.user = Bool.random(using: &random) ? "kate" : nil
    word.frequentUpdates = Bool.random(using: &random)
    if kind == .widgets {
      word.widgets = (0..<Int.random(in: 0...3, using: &random)).map {
        Registration.Widget(id: $0 == 2 ? "item-1" : nil, kind: "Orders", family: "f")
      }
    }
    if kind == .controls, Bool.random(using: &random) { word.controlKind = "Lamp" }
    if kind == .liveactivity, Bool.random(using: &random) {
      word.activity = .init(id: "T-\(Int.random(in: 1...3, using: &random))", attributesType: "T")
    }
    return word
  }

  /// One thing that a person does; many of them are not possible, which must leave no trace of damage.
  private func live(_ fleet: inout DeviceFleet, _ now: Instant, _ random: inout SplitMix64) {
    let device = names.randomElement(using: &random)!
    let bundleID = bundleIDs.randomElement(using: &random)!
    let id = "item-\(Int.random(in: 1...6, using: &random))"
    do {
      switch Int.random(in: 0..<16, using: &random) {
      case 0, 1:
        var settings = DeviceSettings()
        settings.developerMode = Bool.random(using: &random)
        _ = try fleet.setDevice(device, settings, at: now)
      case 2, 3, 4:
        var manifest = AppManifest()
        manifest.frequentUpdates = Bool.random(using: &random)
        manifest.widgets = Bool.random(using: &random) ? [] : [AppManifest.WidgetKind(kind: "Orders", pushEnabled: false)]
        _ = try fleet.install(bundleID, manifest, on: device, at: now)
      case 5, 6, 7: _ = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: id, of: bundleID, on: device, at: now)
      case 8, 9: _ = try fleet.placeControl(kind: "Lamp", id: id, of: bundleID, on: device, at: now)
      case 10, 11:
        _ = try fleet.startActivity(
          attributesType: "T", attributes: [:], contentState: ["n": 1], id: nil, of: bundleID, on: device, at: now)
      case 12: try fleet.removeWidget(id, from: device, at: now)
      case 13: try fleet.removeControl(id, from: device, at: now)
      case 14: _ = try fleet.rotateTokens(of: device, bundleID: bundleID, kind: nil, id: nil, at: now)
      default:
        if Int.random(in: 0..<3, using: &random) > 0 {
          try fleet.removeApp(bundleID, from: device, at: now)
        } else {
          try fleet.removeDevice(device, forgetting: Bool.random(using: &random), at: now)
        }
      }
    } catch {
      #expect(!error.message.isEmpty)
    }
  }

  private func push(_ fleet: inout DeviceFleet, to token: DeviceToken, _ now: Instant, _ random: inout SplitMix64) -> PushOutcome {
    let type = [PushType.widgets, .controls, .liveactivity, .alert].randomElement(using: &random)!
    let timestamp = now.unixSeconds + Int64.random(in: -10...10, using: &random)
    let payload =
      switch type {
      case .liveactivity:
        [
          #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{"n":2}}}"#,
          #"{"aps":{"timestamp":\#(timestamp),"event":"end","dismissal-date":\#(timestamp)}}"#,
          #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"T","attributes":{},"alert":{"title":"x"}}}"#,
        ].randomElement(using: &random)!
      case .alert: #"{"aps":{"alert":"x"}}"#
      default: contentChanged
      }
    return fleet.push(
      payload, to: token, type, bundleID: bundleIDs.randomElement(using: &random)!, id: random.next(), at: now)
  }

  private func check(_ fleet: DeviceFleet, _ gateway: [DeviceToken: Registration], _ comment: Comment, rendersStates: Bool) throws {
    var live: Set<DeviceToken> = []
    #expect(fleet.devices.count <= 12, comment)
    for (name, device) in fleet.devices {
      #expect(device.name == name, comment)
      for app in device.apps {
        let ids = app.widgets.map(\.id) + app.controls.map(\.id)
        #expect(Set(ids).count == ids.count, comment)
      }
      for app in device.apps {
        for token in DeviceFleet.tokens(of: app) {
          #expect(live.insert(token).inserted, comment)
          let index = try #require(fleet.tokens.find(token), comment)
          #expect(fleet.deviceName(of: fleet.tokens[index]) == name, comment)
          #expect(fleet.tokens[index].bundleID == app.bundleID, comment)
          // What the gateway holds is what the device would say now, unless an activity has ended since.
          if !fleet.tokens[index].foreign, let registered = gateway[token] {
            #expect(registered == fleet.registration(of: fleet.tokens[index]), comment)
          }
        }
        #expect(app.widgets.count <= Limits.widgetsPerRegistration, comment)
        let registered = app.widgetsToken.map { gateway[$0] != nil } ?? false
        #expect(registered == app.widgets.contains { $0.pushEnabled && $0.token == nil }, comment)
        for widget in app.widgets { if let token = widget.token { #expect(app.others.contains(token), comment) } }
      }
      guard rendersStates else { continue }
      #expect(try JSONValue.parse(fleet.state(of: name, at: fleet.now).serialized())["device"]?.stringValue == name, comment)
    }
    var (owned, pending) = (0, 0)
    fleet.tokens.forEach { entry in
      if fleet.deviceName(of: entry) != nil { owned += 1 }
      if entry.registration == .pending { pending += 1 }
    }
    #expect(owned == live.count, comment)
    #expect(pending == fleet.pendingRegistrations, comment)
    #expect(fleet.events(of: nil, after: 0, limit: .max).events.count <= 50, comment)
  }
}
