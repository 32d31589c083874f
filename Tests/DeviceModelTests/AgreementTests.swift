import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel
@testable import Rules

/// What strict validation refuses and what a device ignores, against each other: two readings of the same payload, which must not part.
@Suite("Rules and devices agree") struct AgreementTests {
  /// Where a push comes from, which decides who reads it.
  enum Way: Hashable, Sendable {
    case push(PushType)
    case broadcast
    case pass(PushType)

    var type: PushType {
      switch self {
      case .push(let type), .pass(let type): type
      case .broadcast: .liveactivity
      }
    }
  }

  /// What strict validation refuses though the device does something: it passes over one field, and what that was to do is not done.
  static let exceptions: [PushWarning: String] = [
    .channelOnDevicePush: "a header of broadcasts, which no payload shows and no device gets",
    .alertNotAnObject: "an update without its alert, or a badge without its words, is shown all the same",
    .inputPushTokenNotOne: "the activity starts; Apple documents the number 1 alone as what asks for a token",
    .inputPushTokenAndChannel: "the activity starts and follows the channel; it has one way to take updates",
    .dismissalWithoutEnd: "documented for the event end alone; an update is shown without it",
    .dateInMilliseconds: "a time that never comes: never stale, and dismissed four hours after the end as if there were no date",
  ]

  private static let second = noon.unixSeconds
  private static let channel = "aMs2y8fFEe8AAPIAM4gHog=="
  private static let start =
    #"{"aps":{"timestamp":1234,"event":"start","content-state":{"a":1},"attributes-type":"Ride","attributes":{},"alert":{"title":"t"},"input-push-channel":"\#(channel)"}}"#
  private static let startByToken =
    #"{"aps":{"timestamp":\#(second),"event":"start","content-state":{},"attributes-type":"Ride","attributes":{"id":7},"alert":{"title":"t","body":"b"},"input-push-token":1}}"#
  private static let update =
    #"{"aps":{"timestamp":\#(second),"event":"update","content-state":{"a":1},"stale-date":\#(second + 60),"relevance-score":50,"alert":{"title":"t"}}}"#
  private static let end = #"{"aps":{"timestamp":\#(second),"event":"end","dismissal-date":\#(second + 60)}}"#

  /// Payloads that are good as they stand.
  static let good: [(Way, String)] =
    [
      (.push(.widgets), contentChanged), (.push(.controls), contentChanged), (.push(.alert), #"{"aps":{"alert":"Hi"}}"#),
      (.push(.alert), #"{"aps":{"alert":{"title":"t"},"badge":3,"sound":"default"}}"#), (.push(.alert), #"{"aps":{"badge":3}}"#),
      (.push(.alert), #"{"aps":{"sound":"default"}}"#), (.push(.background), #"{"aps":{"content-available":1}}"#),
      (.push(.liveactivity), start), (.push(.liveactivity), startByToken), (.push(.liveactivity), update), (.push(.liveactivity), end),
      (.broadcast, update), (.broadcast, end), (.pass(.alert), "{}"), (.pass(.background), #"{"aps":{}}"#),
      (.push(.mdm), #"{"mdm":"magic"}"#), (.push(.fileprovider), #"{"container-identifier":"Root"}"#),
    ] + [PushType.complication, .location, .pushtotalk, .voip].map { (.push($0), #"{"aps":{},"x":1}"#) }

  /// Members that a payload of any type may have by mistake or on purpose.
  private static let members = [
    "timestamp", "event", "events", "content-state", "alert", "stale-date", "dismissal-date", "relevance-score", "attributes-type",
    "attributes", "input-push-token", "input-push-channel", "content-changed", "content-available", "badge", "sound", "unknown",
  ]

  /// What senders write, among it every kind of value, both sides of each bound, and what is right for some other member.
  private static let values = [
    "null", "true", "false", "0", "1", "1.0", "-1", "0.5", #""""#, #""1""#, #""true""#, #""start""#, #""update""#, #""end""#,
    #""\#(channel)""#, #""aMs2y8fFEe8AAPIAM4gHoh==""#, "[]", "[1]", "{}", "{ }", #"{"title":"t"}"#, "\(second)", "\(second).5",
    "\(second + 28_800)", "\(second + 28_801)", "\(second)000", "\(second)e3", "4e18", "1e300", "-1e300", "1e-400", "1e400", "tru",
  ]

  /// Whole bodies that go wrong before any member is looked at, or that hardly do.
  private static let bodies = [
    "", " ", "[]", "1", #""aps""#, "null", "{}", #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":{}}"#, #"{"APS":{"content-changed":true}}"#,
    #"{"aps":{"content-changed":true},"n":1e400}"#, #"{"aps":{"content-changed":true},"n":[-1e309]}"#,
    #"{"aps":{"content-changed":true},"aps":{}}"#, #"{"aps":{"content-changed":true,"content\u002dchanged":true}}"#,
    #"{"\u0061ps":{"content-changed":true}}"#, #"{"aps":{"content-changed":true}} x"#, #"{"aps":{"content-changed":true},}"#,
    #"{"mdm":1}"#, #"{"mdm":""}"#, #"{"\u006ddm":"magic"}"#, #"{"x":"\ud800"}"#, "\u{FEFF}{}",
    #"{"x":"# + String(repeating: "[", count: 63) + String(repeating: "]", count: 63) + "}",
    #"{"x":"# + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}",
  ]

  /// Every good payload with one member of `aps` replaced, added or taken out.
  private static func variants(of payload: String) throws -> [String] {
    let tree = try #require(try JSONValue.parse(payload).objectValue)
    guard let aps = tree["aps"]?.objectValue else { return [payload] }
    var all = [payload]
    for name in members {
      var rest = aps
      rest[name] = nil
      let others = rest.map { "\(JSONValue.string($0.key).serialized()):\($0.value.serialized())" }
      all.append("{\"aps\":{\(others.joined(separator: ","))}}")
      for value in values { all.append("{\"aps\":{\((others + ["\"\(name)\":\(value)"]).joined(separator: ","))}}") }
    }
    return all
  }

  /// A device with everything that a push may go to.
  private struct Stage {
    var fleet: DeviceFleet
    var tokens: [TokenKind: DeviceToken] = [:]

    init() throws {
      var manifest = AppManifest()
      manifest.pushes = AppManifest.pushKinds
      fleet = try phone(manifest)
      _ = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
      _ = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "phone", at: noon)
      _ = try fleet.startActivity(
        attributesType: "Ride", attributes: [:], contentState: [:], id: nil, of: app, on: "phone", at: noon)
      for case .register(let registration) in fleet.takeEffects() { tokens[registration.kind] = registration.token }
      _ = try fleet.startActivity(
        attributesType: "Ride", attributes: [:], contentState: [:], id: nil, channel: ChannelID(channel), of: app, on: "phone", at: noon)
    }

    /// What a device in this state makes of the payload.
    func outcome(of payload: String, _ way: Way) throws -> PushOutcome {
      var fleet = fleet
      switch way {
      case .broadcast:
        let body = Array(payload.utf8)
        return fleet.receiveBroadcast(
          PushID(high: 0, low: 1), channel: ChannelID(channel)!, bundleID: app, payload: body.span.bytes, at: noon
        ).outcome
      case .pass(let type): return fleet.push(payload, to: try token([7]), type, bundleID: "pass.com.example.card")
      case .push(let type):
        let starts = type == .liveactivity && (try? JSONValue.parse(payload))?["aps"]?["event"] == "start"
        let kind = starts ? .pushToStart : TokenKind(taking: type)
        return fleet.push(payload, to: try #require(tokens[kind]), type)
      }
    }
  }

  /// What the rules say of the payload: whether strict validation refuses it, and all that is noted of it otherwise.
  private static func verdict(on payload: String, _ way: Way) throws -> (isRefused: Bool, warnings: PushWarnings) {
    var context = PayloadContext(type: way.type, now: noon, priority: .considerate, hasCollapseID: true, hasChannelID: false)
    if case .pass = way { context.family = .pass }
    context.isBroadcast = way == .broadcast
    let body = Array(payload.utf8)
    var memory = PayloadMemory()
    let warnings = try PayloadRules.check(body.span.bytes, context, .apple, .accept, &memory).warnings
    var isRefused = false
    do { _ = try PayloadRules.check(body.span.bytes, context, .strict, .accept, &memory) } catch { isRefused = true }
    return (isRefused, warnings)
  }

  @Test func strictRefusesWhatADeviceIgnores() throws {
    let stage = try Stage()
    let ways = Set(Self.good.map(\.0))
    #expect(Set(ways.map(\.type)) == Set(PushType.allCases))
    var rows = ways.flatMap { way in Self.bodies.map { (way, $0) } }
    for (way, payload) in Self.good {
      #expect(try !Self.verdict(on: payload, way).isRefused, "\(payload)")
      #expect(try stage.outcome(of: payload, way).disposition == .applied, "\(payload)")
      rows += try Self.variants(of: payload).map { (way, $0) }
    }
    var seen: Set<PushWarning> = []
    var counts: [Disposition: Int] = [:]
    for (way, payload) in rows {
      let (isRefused, warnings) = try Self.verdict(on: payload, way)
      let outcome = try stage.outcome(of: payload, way)
      let isIgnored = outcome.disposition == .ignored
      let words = "\(way) \(payload): refused \(isRefused), \(warnings.all), but the device: \(outcome)"
      #expect(isRefused == (warnings.firstRefused != nil), "\(words)")
      #expect((warnings.firstIgnored != nil) == isIgnored, "\(words)")
      if isRefused, !isIgnored {
        let excused = warnings.all.filter { Self.exceptions[$0] != nil }
        #expect(!excused.isEmpty, "\(words)")
        seen.formUnion(excused)
      }
      counts[outcome.disposition, default: 0] += 1
    }
    #expect(counts[.applied] ?? 0 > 1000 && counts[.ignored] ?? 0 > 1000, "\(counts)")
    #expect(seen == Set(Self.exceptions.keys).subtracting([.channelOnDevicePush]), "every exception must be needed")
  }

  @Test func everyExceptionHasAReason() {
    #expect(Set(Self.exceptions.keys) == Set(PushWarning.allCases.filter(\.spoilsOneField)))
    for warning in Self.exceptions.keys { #expect(warning.isRefusedInStrict) }
  }
}
