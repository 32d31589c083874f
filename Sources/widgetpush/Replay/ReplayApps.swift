import Gateway
import HTTPClient
import JSON
import Push

/// The apps of a replay: for each recorded app one of the replay's own, which has the settings under which it is played.
///
/// An app's settings decide what becomes of everybody's pushes, and a smaller burst, once set, has cut what the budgets of its tokens hold.
/// So the app that was recorded is only read. Its namesake is there for the time of the replay, and gone with everything that was
/// registered for it.
struct ReplayApps {
  private let control: ControlClient
  private let profile: BudgetProfile
  /// What stands before every recorded bundle id.
  private let prefix: String
  /// The server's own settings of each recorded app; nil where it does not know the app.
  private var bases: [String: JSONObject?] = [:]
  /// What holds now of those that are there, by recorded bundle id.
  private var now: [String: JSONObject] = [:]

  /// The apps `bundleIDs` of a recording, to be played under `profile` at `control`'s gateway.
  init(_ control: ControlClient, _ profile: BudgetProfile, _ bundleIDs: [String]) throws {
    self.control = control
    self.profile = profile
    prefix = try Self.freePrefix(control, bundleIDs)
  }

  /// A beginning of names that nobody uses. Another replay may be under way, or have been ended by force.
  private static func freePrefix(_ control: ControlClient, _ bundleIDs: [String]) throws -> String {
    for number in 1...Limits.replaysAtOnce {
      let prefix = number == 1 ? "replay." : "replay\(number)."
      let isFree = try bundleIDs.allSatisfy { bundleID in
        guard AppDirectory.isBundleID(prefix + bundleID) else {
          throw CommandError("\(bundleID) is too long to be played as \(prefix)\(bundleID): at most \(Limits.bundleIDBytes) characters")
        }
        let origins = try view(prefix + bundleID, control)?["origins"]?.objectValue ?? [:]
        guard !origins.contains(where: { $0.value == "api" }) else { return false }
        return try registrations(prefix + bundleID, control, limit: 1).isEmpty
      }
      if isFree { return prefix }
    }
    throw CommandError(
      "\(Limits.replaysAtOnce) replays are under way there, or were ended by force; what one has left is removed by DELETE /v1/apps/replay.BUNDLE-ID and DELETE /v1/registrations/TOKEN"
    )
  }

  /// The app in place of the recorded one.
  func bundleID(for recorded: String) -> String { prefix + recorded }

  /// The device in place of the recorded one: settings of a device hold for all its apps.
  func device(for recorded: String) -> String { prefix + recorded }

  /// `push`, to the app in place of its own. A topic that is wrong stays as wrong as it was.
  func moved(_ push: RecordedPush) -> RecordedPush {
    var push = push
    for index in push.fields.indices where push.fields[index].name == "apns-topic" && !push.fields[index].value.isEmpty {
      push.fields[index].value = prefix + push.fields[index].value
    }
    return push
  }

  /// `registration`, for the app and on the device in place of its own.
  func moved(_ registration: JSONObject) -> JSONObject {
    var registration = registration
    if let bundleID = registration["bundleID"]?.stringValue { registration["bundleID"] = .string(self.bundleID(for: bundleID)) }
    if let device = registration["device"]?.stringValue { registration["device"] = .string(self.device(for: device)) }
    return registration
  }

  /// Gives the app in place of the recorded one the server's settings, above them what was `recorded`, and above that the profile.
  mutating func apply(_ recordedID: String, recorded: JSONObject = [:]) throws {
    if bases[recordedID] == nil { bases[recordedID] = .some(try Self.view(recordedID, control).map(Self.settings)) }
    let base = bases[recordedID] ?? nil
    let wanted = profile.applied(to: base ?? [:], recorded: recorded)
    guard wanted != now[recordedID] else { return }
    let answer = try control.call("PUT", Self.path(bundleID(for: recordedID)), .object(wanted))
    guard answer.isSuccess else {
      let unknown = base == nil ? ", which the server does not know" : ""
      throw CommandError("the settings of \(recordedID)\(unknown), for the replay: \(CommandError(answer))")
    }
    now[recordedID] = wanted
  }

  /// Removes the replay's apps and everything that is registered for them, by the replay or for what its pushes have started; returns
  /// what stays.
  func remove() -> [String] {
    var problems: [String] = []
    for recorded in now.keys.sorted() {
      let bundleID = bundleID(for: recorded)
      do {
        try removeRegistrations(of: bundleID)
        let answer = try control.call("DELETE", Self.path(bundleID))
        if !answer.isSuccess, answer.status != 404 { problems.append("the app \(bundleID): \(CommandError(answer))") }
      } catch {
        problems.append("the app \(bundleID): \(error)")
      }
    }
    return problems
  }

  private func removeRegistrations(of bundleID: String) throws {
    while true {
      let tokens = try Self.registrations(bundleID, control, limit: Limits.pageRows)
      guard !tokens.isEmpty else { return }
      for token in tokens {
        let answer = try control.call("DELETE", "/v1/registrations/\(token)")
        guard answer.isSuccess || answer.status == 404 else { throw CommandError(answer) }
      }
    }
  }

  /// The tokens of the first page of an app's registrations.
  private static func registrations(_ bundleID: String, _ control: ControlClient, limit: Int) throws -> [String] {
    let page = try control.get("/v1/registrations?limit=\(limit)&bundleID=\(BlockingHTTPClient.percentEncoded(bundleID))")
    return (page["registrations"]?.arrayValue ?? []).compactMap { $0["token"]?.stringValue }
  }

  private static func view(_ bundleID: String, _ control: ControlClient) throws -> JSONValue? {
    let view = try control.call("GET", path(bundleID))
    guard view.isSuccess || view.status == 404 else { throw CommandError(view) }
    return view.isSuccess ? view.json : nil
  }

  /// What holds for an app, by what `GET /v1/apps/{bundleID}` shows, in the form of the PUT, which has nothing that is only to be read.
  static func settings(in view: JSONValue) -> JSONObject {
    var settings: JSONObject = [:]
    for name in AppSettingNames.all { settings[name] = view[name] }
    return settings
  }

  private static func path(_ bundleID: String) -> String { "/v1/apps/\(BlockingHTTPClient.percentEncoded(bundleID))" }
}
