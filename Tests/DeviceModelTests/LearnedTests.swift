import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

/// What a registration tells is what the devices make of it.
@Suite("Registered tokens on devices") struct LearnedTests {
  private func registration(_ kind: TokenKind, _ bytes: [UInt8] = [0x5E, 0xC2], bundleID: String = app) throws -> Registration {
    Registration(token: try token(bytes), kind: kind, bundleID: bundleID, environment: .development)
  }

  private func steps(_ families: [String], _ bytes: [UInt8] = [0x5E, 0xC2]) throws -> Registration {
    var word = try registration(.widgets, bytes)
    (word.device, word.user) = ("kates-phone", "kate")
    word.widgets = families.map { Registration.Widget(kind: "Steps", family: $0) }
    return word
  }

  private func names(_ fleet: DeviceFleet) -> [String] { fleet.devices(after: "", limit: 100, sees: { _ in true }).names }

  @Test func widgetsStandOnTheDeviceAndInTheFamiliesThatWereRegistered() throws {
    var fleet = try phone()
    let word = try steps(["systemSmall", "systemMedium"])
    fleet.learn(word, at: noon)
    #expect(fleet.push(contentChanged, to: word.token, .widgets) == .applied(.reloaded, detail: "2 widgets"))
    #expect(names(fleet) == ["kates-phone", "phone"])
    let state = try fleet.state(of: "kates-phone", at: noon)
    #expect(state["user"] == "kate" && state["adopted"] == true)
    let widgets = try #require(state["apps"]?[0]?["widgets"]?.arrayValue)
    #expect(widgets.map { $0["id"] } == ["Steps-1", "Steps-2"])
    #expect(widgets.map { $0["family"] } == ["systemSmall", "systemMedium"])
    #expect(widgets.allSatisfy { $0["kind"] == "Steps" && $0["reloads"] == 1 })
    #expect(state["apps"]?[0]?["widgetExtension"]?["token"]?.stringValue == word.token.hex)
    #expect(try fleet.state(of: word.token.hex, at: noon)["device"] == "kates-phone", "the token finds its device")
    #expect(fleet.events(of: "kates-phone", after: 0, limit: 10).events.map(\.what) == [.tokenAdopted, .widgetsReloaded])
    #expect(fleet.takeEffects().allSatisfy { $0.token != word.token }, "whoever registered it keeps the registration")
  }

  /// Every kind of token, with everything that its registration can tell.
  @Test(arguments: TokenKind.allCases) func everyKindStandsForWhatItsRegistrationTells(kind: TokenKind) throws {
    var fleet = try phone()
    var word = try registration(kind)
    (word.device, word.user, word.platform, word.developerMode) = ("kates-phone", "kate", "watchOS", true)
    word.environment = .production
    word.frequentUpdates = true
    if kind == .widgets { word.widgets = [.init(id: "left", kind: "Steps", family: "accessoryInline")] }
    if kind == .controls { word.controlKind = "Lamp" }
    if kind == .liveactivity { word.activity = .init(id: "Delivery-9", attributesType: "DeliveryAttributes") }
    fleet.learn(word, at: noon)
    let state = try fleet.state(of: "kates-phone", at: noon)
    #expect(state["user"] == "kate" && state["platform"] == "watchOS" && state["developerMode"] == true)
    #expect(state["environment"] == "production")
    let index = try #require(fleet.tokens.find(word.token))
    #expect(fleet.registration(of: fleet.tokens[index]) == word, "what the device would say of it is what was said of it")
  }

  @Test func aTokenWithoutADeviceHasOneOfItsOwn() throws {
    var fleet = try phone()
    var word = try registration(.widgets)
    word.widgets = [.init(kind: "Steps", family: "systemLarge")]
    fleet.learn(word, at: noon)
    #expect(try fleet.appState(word.token.hex)["widgets"]?[0]?["family"] == "systemLarge")
    var long = try registration(.liveactivity, Array(repeating: 0xAC, count: 80))
    long.activity = .init(id: "Delivery-9", attributesType: "T")
    fleet.learn(long, at: noon)
    #expect(try fleet.appState(long.token.hex)["activities"]?[0]?["id"] == "Delivery-9", "a token may be longer than a name")
    for name in ["a/b", String(repeating: "n", count: 200)] {
      var odd = try registration(.widgets, [0xDD, UInt8(name.utf8.count)])
      odd.device = name
      fleet.learn(odd, at: noon)
      #expect(try fleet.state(of: odd.token.hex, at: noon)["device"]?.stringValue == odd.token.hex, "no device can have that name")
    }
  }

  @Test func plainTokensCostNoDevice() throws {
    var fleet = try phone()
    for byte in 1...50 as ClosedRange<UInt8> { fleet.learn(try registration(.widgets, [byte]), at: noon) }
    #expect(fleet.devices.count == 1 && fleet.tokenCount == 52)
    #expect(fleet.push(contentChanged, to: try token([7]), .widgets) == .applied(.reloaded, detail: nil))
  }

  @Test func tokensOfOneDeviceShareItAndEachReloadsItsOwn() throws {
    var fleet = try phone()
    _ = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    var (first, second) = (try steps(["systemSmall"], [1]), try steps(["systemMedium"], [2]))
    (first.device, second.device) = ("phone", "phone")
    fleet.learn(first, at: noon)
    fleet.learn(second, at: noon)
    #expect(fleet.push(contentChanged, to: second.token, .widgets).detail == "widget Steps-2")
    let widgets = try #require(fleet.appState()["widgets"]?.arrayValue)
    #expect(widgets.map { $0["reloads"] } == [0, 0, 1])
    #expect(widgets.map { $0["token"]?.stringValue } == [nil, first.token.hex, second.token.hex])
    #expect(try fleet.appState()["otherTokens"]?.arrayValue?.count == 2)
    _ = fleet.takeEffects()
    _ = try fleet.placeWidget(kind: "Orders", family: .systemLarge, id: nil, of: app, on: "phone", at: noon)
    guard case .register(let own)? = fleet.takeEffects().first else {
      Issue.record("the person's own widgets are registered")
      return
    }
    #expect(own.widgets.map(\.id) == ["Orders-1", "Orders-2"], "and only those")
  }

  /// A device that somebody has set up has tokens of its own; those that are registered for it besides do the same there.
  @Test(arguments: [TokenKind.widgets, .controls, .liveactivity, .pushToStart, .app])
  func aTokenBesideTheDevicesOwnDoesTheSameThere(kind: TokenKind) throws {
    var fleet = try phone()
    var word = try registration(kind)
    word.device = "phone"
    if kind == .controls { word.controlKind = "Lamp" }
    let own = try (fleet.token("app"), fleet.token("pushToStart"))
    fleet.learn(word, at: noon)
    let aps =
      switch kind {
      case .liveactivity: #"{"timestamp":\#(noon.unixSeconds),"event":"update","content-state":{"n":1}}"#
      case .pushToStart: #"{"timestamp":1,"event":"start","content-state":{},"attributes-type":"T","attributes":{},"alert":{"title":"x"}}"#
      case .app: #"{"alert":"hi"}"#
      default: #"{"content-changed":true}"#
      }
    let types: [TokenKind: PushType] = [.widgets: .widgets, .controls: .controls, .app: .alert]
    #expect(fleet.push(#"{"aps":\#(aps)}"#, to: word.token, types[kind] ?? .liveactivity).disposition == .applied)
    #expect(names(fleet) == ["phone"] && fleet.events(of: "phone", after: 0, limit: 10).events.last?.token == word.token)
    #expect(try own == (fleet.token("app"), fleet.token("pushToStart")))
    try fleet.removeApp(app, from: "phone", at: noon)
    #expect(fleet.push(#"{"aps":\#(aps)}"#, to: word.token, types[kind] ?? .liveactivity).disposition == .refused, "it goes with its app")
  }

  @Test func aTokenThatIsRegisteredAnewStandsForSomethingElse() throws {
    var fleet = try phone()
    let token = try token([0x5E, 0xC2])
    #expect(fleet.push(contentChanged, to: token, .widgets) == .applied(.reloaded, detail: nil), "nobody could be asked")
    fleet.learn(try steps(["systemSmall"]), at: noon)
    _ = fleet.push(contentChanged, to: token, .widgets)
    fleet.learn(try steps(["systemSmall", "systemLarge"]), at: noon)
    #expect(fleet.push(contentChanged, to: token, .widgets).detail == "2 widgets")
    #expect(
      try fleet.appState("kates-phone")["widgets"]?.arrayValue?.map { $0["reloads"] } == [2, 1], "the one that stayed goes on counting")
    let before = fleet.newestEvent
    fleet.learn(try steps(["systemSmall", "systemLarge"]), at: noon)
    #expect(fleet.newestEvent == before, "the same word again changes nothing")
    var control = try registration(.controls)
    (control.device, control.controlKind) = ("desk", "Lamp")
    fleet.learn(control, at: noon)
    #expect(names(fleet) == ["desk", "phone"], "nothing is left of kates-phone")
    #expect(fleet.push(contentChanged, to: token, .controls).detail == "control Lamp-1")
  }

  @Test func anActivityGoesOnWhenItsUserIsSaid() throws {
    var fleet = try phone()
    var word = try registration(.liveactivity)
    word.activity = .init(id: "9", attributesType: "T")
    fleet.learn(word, at: noon)
    let update = #"{"aps":{"timestamp":\#(noon.unixSeconds),"event":"update","content-state":{"n":1}}}"#
    #expect(fleet.push(update, to: word.token, .liveactivity).cause == .updated)
    word.user = "kate"
    fleet.learn(word, at: noon)
    #expect(try fleet.appState(word.token.hex)["activities"]?[0]?["contentState"] == ["n": 1])
    #expect(try fleet.state(of: word.token.hex, at: noon)["user"] == "kate")
  }

  @Test func anotherAppSaysNothingAboutSomebodysDevice() throws {
    var fleet = try phone()
    var word = try steps(["systemSmall"])
    (word.device, word.bundleID, word.developerMode) = ("phone", "com.example.other", true)
    fleet.learn(word, at: noon)
    let state = try fleet.state(of: "phone", at: noon)
    #expect(state["user"] == nil && state["developerMode"] == false)
    #expect(state["apps"]?.arrayValue?.map { $0["bundleID"] } == [.string(app), "com.example.other"])
    #expect(try fleet.state(of: "phone", at: noon, sees: { $0 == app })["apps"]?.arrayValue?.count == 1)
  }

  @Test func whatAPersonHasSetStays() throws {
    var fleet = try phone()
    var settings = DeviceSettings()
    settings.user = "alice"
    _ = try fleet.setDevice("phone", settings, at: noon)
    var word = try steps(["systemSmall"])
    word.device = "phone"
    fleet.learn(word, at: noon)
    #expect(try fleet.state(of: "phone", at: noon)["user"] == "alice")
  }

  @Test func theOldestAdoptedDevicesMakeRoom() throws {
    var fleet = DeviceFleet(seed: "test", hashSeed: 7, devicesMax: 4)
    _ = try fleet.setDevice("phone", DeviceSettings(), at: noon)
    for byte in 1...40 as ClosedRange<UInt8> {
      var word = try steps(["systemSmall"], [byte])
      word.device = "device-\(byte)"
      fleet.learn(word, at: noon)
      #expect(fleet.push(contentChanged, to: word.token, .widgets).detail == "widget Steps-1")
      #expect(fleet.devices.count <= 4)
    }
    #expect(names(fleet) == ["device-38", "device-39", "device-40", "phone"])
    #expect(fleet.tokenCount == 3, "tokens of the others are forgotten, so that the gateway is asked again")
    #expect(fleet.isWorthAsking(about: fleet.known(try token([1]))))
    for name in ["a", "b", "c"] { _ = try fleet.setDevice(name, DeviceSettings(), at: noon) }
    #expect(throws: DeviceError.self) { try fleet.setDevice("d", DeviceSettings(), at: noon) }
    var late = try steps(["systemSmall"], [99])
    late.device = "late"
    fleet.learn(late, at: noon)
    #expect(fleet.push(contentChanged, to: late.token, .widgets).disposition == .applied, "people's devices leave no room for more")
  }

  @Test func tokensOfTheDevicesOwnAreNotAskedFor() throws {
    var fleet = try phone()
    let unknown = try token([1, 2, 3])
    #expect(fleet.isWorthAsking(about: nil))
    #expect(!fleet.isWorthAsking(about: fleet.known(try fleet.token("pushToStart"))))
    _ = fleet.push(contentChanged, to: unknown, .controls)
    #expect(fleet.isWorthAsking(about: fleet.known(unknown)), "it may be registered anew at any time")
    try fleet.removeDevice(unknown.hex, forgetting: false, at: noon)
    #expect(!fleet.isWorthAsking(about: fleet.known(unknown)), "the device is gone")
    #expect(!DeviceFleet(seed: "", hashSeed: 1, registersTokens: false).isWorthAsking(about: nil), "there is no gateway")
  }
}
