import JSON
import Primitives
import Push

/// The push that a command line of `send` means: what it leaves open follows from the token's registration.
enum PushDraft {
  /// Reads the options; throws what is missing or cannot be.
  static func push(_ arguments: Arguments, _ control: ControlClient, now: Instant) throws -> ProviderClient.Push {
    let token = try control.fullToken(arguments.operands[0])
    let registration = try control.call("GET", "/v1/registrations/\(token)").success
    let kind = registration?["type"]?.stringValue.flatMap { TokenKind(name: $0) }

    let given = try arguments.choice("--type", of: PushType.allCases.map(\.description)).flatMap { PushType($0) }
    // What an option of activities is to make cannot be known of a token that nobody has registered.
    if registration == nil, given == nil, let part = activityOptions.first(where: arguments.has) {
      throw CommandError(
        "no registered token begins with \(token), so nobody knows that \(part) is for it; register it with `widgetpush register TOKEN --type liveactivity`, or add --type liveactivity"
      )
    }
    let type = given ?? kind?.pushType ?? .widgets
    let bundleID = arguments.value("--bundle-id") ?? registration?["bundleID"]?.stringValue ?? Command.defaultBundleID
    let isReload = type == .widgets || type == .controls
    return ProviderClient.Push(
      token: token, type: type.description, topic: arguments.value("--topic") ?? "\(bundleID)\(type.topicSuffix)",
      priority: header("--priority", arguments, standard: isReload || type == .background ? "5" : "10"),
      expiration: arguments.value("--expiration"),
      id: arguments.value("--id"), collapseID: header("--collapse-id", arguments, standard: isReload ? type.description : nil),
      payload: try payload(arguments, type, kind, now: now))
  }

  /// The options that make a Live Activity's payload, and no other's.
  private static let activityOptions = ["--event", "--content-state", "--attributes-type", "--attributes"]

  /// The value of a header that an empty option leaves out.
  private static func header(_ option: String, _ arguments: Arguments, standard: String?) -> String? {
    guard let given = arguments.value(option) else { return standard }
    return given.isEmpty ? nil : given
  }

  private static func payload(_ arguments: Arguments, _ type: PushType, _ kind: TokenKind?, now: Instant) throws -> [UInt8] {
    let parts = (activityOptions + ["--alert"]).filter(arguments.has)
    if let text = arguments.value("--payload") {
      if let part = parts.first { throw UsageError("\(part) makes a payload, so it cannot stand beside --payload") }
      if text == "-" { return Array(try Files.readStandardInput().utf8) }
      // Sent as it is, even where it is no JSON: seeing what becomes of it is the point.
      return Array((text.hasPrefix("@") ? try Files.read(String(text.dropFirst())) : text).utf8)
    }
    let aps: JSONObject
    switch type {
    case .liveactivity: aps = try activity(arguments, kind, now: now)
    case .alert:
      if let part = parts.first(where: { $0 != "--alert" }) { throw UsageError("\(part) is for liveactivity pushes") }
      aps = ["alert": ["title": .string(arguments.value("--alert") ?? "Hello from widgetpush")]]
    default:
      if let part = parts.first {
        throw UsageError("\(part) is for liveactivity pushes; give the whole payload of a push of type \(type) with --payload")
      }
      switch type {
      case .widgets, .controls: aps = ["content-changed": true]
      case .background: aps = ["content-available": 1]
      case .mdm: return Array(#"{"mdm":"widgetpush"}"#.utf8)
      default: return Array("{}".utf8)
      }
    }
    return Array(JSONValue.object(["aps": .object(aps)]).serialized(verbatim: true).utf8)
  }

  private static func activity(_ arguments: Arguments, _ kind: TokenKind?, now: Instant) throws -> JSONObject {
    let isStart = kind == .pushToStart
    let event = try arguments.choice("--event", of: ["start", "update", "end"]) ?? (isStart ? "start" : "update")
    var aps: JSONObject = ["timestamp": .integer(now.unixSeconds), "event": .string(event)]
    if let state = try object("--content-state", arguments) {
      aps["content-state"] = state
    } else if event != "end" {
      aps["content-state"] = [:]
    }
    if event == "start" {
      guard let attributesType = arguments.value("--attributes-type") else {
        throw UsageError("a start needs --attributes-type, the name of the attributes' Swift type, and most need --attributes")
      }
      aps["attributes-type"] = .string(attributesType)
      aps["attributes"] = try object("--attributes", arguments) ?? [:]
    } else if let part = ["--attributes-type", "--attributes"].first(where: arguments.has) {
      throw UsageError("\(part) is for the event start")
    }
    if let title = arguments.value("--alert") ?? (event == "start" ? "Started" : nil) {
      aps["alert"] = ["title": .string(title), "body": ""]
    }
    return aps
  }

  private static func object(_ option: String, _ arguments: Arguments) throws(UsageError) -> JSONValue? {
    guard let text = arguments.value(option) else { return nil }
    do throws(JSONError) {
      let value = try JSONValue.parse(text)
      if value.objectValue != nil { return value }
    } catch {
      throw UsageError("\(option) must be a JSON object: \(error)")
    }
    throw UsageError("\(option) must be a JSON object such as {\"stops\":2}")
  }
}
