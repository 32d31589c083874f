import Control
package import JSON
package import Primitives
package import Push

/// One line of a recording: what happened at a time.
///
/// A recording is NDJSON. Its first line has `recording`, the version of the format; every other has one of the further names beside `at`,
/// or none, which says that nothing happened until then. A second line with `recording` begins a further part: what came in between is not
/// known. What is here is what `GET /v1/recording` writes, so that what a client saves of it, cut off anywhere, is a recording.
package struct RecordingLine: Hashable, Sendable {
  /// What a line tells.
  package enum Content: Hashable, Sendable {
    /// A recording, or a further part of it, begins.
    case beginning(Beginning)
    /// From now on an app has these settings, in the form of `PUT /v1/apps/{bundleID}`.
    case app(bundleID: String, JSONObject)
    /// A push token stands for this, in the form of `PUT /v1/registrations/{token}` and with `token`.
    case registration(JSONObject)
    /// A push token's registration was taken back.
    case unregistered(String)
    /// A push came.
    case push(RecordedPush)
    /// Something has become of a push; the last such line of a push holds.
    case outcome(PushID, RecordedOutcome)
    /// At least so many could not be told at this place.
    case lost(Lost)
    /// The recording ends in good order, with so many pushes.
    case end(pushes: Int64)
    /// Nothing happened.
    case nothing
  }

  /// How a recording begins.
  package struct Beginning: Hashable, Sendable {
    /// The version of the format.
    package var version: Int64
    /// The version of the gateway.
    package var gateway: String
    /// The only app that is recorded; nil for all.
    package var bundleID: String?

    /// A beginning with these values.
    package init(version: Int64 = RecordingLine.version, gateway: String, bundleID: String?) {
      self.version = version
      self.gateway = gateway
      self.bundleID = bundleID
    }
  }

  /// What a recorder could not be told.
  package struct Lost: Hashable, Sendable {
    /// Pushes.
    package var pushes: Int64 = 0
    /// Changes of registrations and apps.
    package var changes: Int64 = 0
    /// What became of pushes.
    package var outcomes: Int64 = 0

    /// Nothing.
    package init(pushes: Int64 = 0, changes: Int64 = 0, outcomes: Int64 = 0) {
      (self.pushes, self.changes, self.outcomes) = (pushes, changes, outcomes)
    }
  }

  /// The version of the format that is written and read here.
  package static let version: Int64 = 1

  /// When, by the clock of the gateway's product.
  package var at: Instant
  /// What.
  package var content: Content

  /// A line with these values.
  package init(at: Instant, _ content: Content) {
    self.at = at
    self.content = content
  }
}

// MARK: Writing

extension RecordingLine {
  /// The line without its end.
  package var text: String {
    var object: JSONObject = ["at": .string(at.preciseDescription)]
    switch content {
    case .beginning(let beginning):
      var fields: JSONObject = ["version": .integer(beginning.version), "gateway": .string(beginning.gateway)]
      fields["bundleID"] = beginning.bundleID.map(JSONValue.string)
      object["recording"] = .object(fields)
    case .app(let bundleID, let settings): object["app"] = ["bundleID": .string(bundleID), "settings": .object(settings)]
    case .registration(let registration): object["registration"] = .object(registration)
    case .unregistered(let token): object["unregistered"] = .string(token)
    case .push(let push): object["push"] = push.json(at: at)
    case .outcome(let id, let outcome): object["outcome"] = outcome.json(id: id)
    case .lost(let lost):
      object["lost"] = ["pushes": .integer(lost.pushes), "changes": .integer(lost.changes), "outcomes": .integer(lost.outcomes)]
    case .end(let pushes): object["end"] = ["pushes": .integer(pushes)]
    case .nothing: break
    }
    return JSONValue.object(object).serialized()
  }
}

// MARK: Reading

extension RecordingLine {
  /// The line that `value` is; throws what is wrong with it. A version that is not known here is no reason to throw.
  package init(_ value: JSONValue) throws(FieldError) {
    var reader = try JSONReader(value, at: "")
    guard let at = try reader.optionalInstant("at") else { throw reader.error("at", "is missing") }
    self.at = at
    content = try Self.content(&reader, at: at)
    // What is unknown in a line of a later version says nothing: that is for its reader to refuse.
    if case .beginning(let beginning) = content, beginning.version != Self.version { return }
    try reader.finish()
  }

  private static func content(_ reader: inout JSONReader, at: Instant) throws(FieldError) -> Content {
    if var fields = try reader.optionalObject("recording") {
      let version = try fields.integer("version", in: 0...Int64.max)
      let beginning = Beginning(
        version: version, gateway: try fields.optionalString("gateway") ?? "", bundleID: try fields.optionalString("bundleID"))
      if version == Self.version { try fields.finish() }
      return .beginning(beginning)
    }
    if var fields = try reader.optionalObject("push") { return .push(try RecordedPush(&fields, at: at)) }
    if var fields = try reader.optionalObject("outcome") {
      let (id, outcome) = try RecordedOutcome.read(&fields)
      return .outcome(id, outcome)
    }
    if var fields = try reader.optionalObject("app") {
      let bundleID = try fields.string("bundleID")
      guard let settings = try fields.value("settings").objectValue else { throw fields.error("settings", "must be an object") }
      try fields.finish()
      return .app(bundleID: bundleID, settings)
    }
    if let value = reader.optionalValue("registration") {
      guard let registration = value.objectValue, value["token"]?.stringValue != nil else {
        throw reader.error("registration", "must be an object with a token")
      }
      return .registration(registration)
    }
    if let token = try reader.optionalString("unregistered") { return .unregistered(token) }
    if var fields = try reader.optionalObject("lost") {
      let all = 0...Int64.max
      let lost = Lost(
        pushes: try fields.optionalInteger("pushes", in: all) ?? 0, changes: try fields.optionalInteger("changes", in: all) ?? 0,
        outcomes: try fields.optionalInteger("outcomes", in: all) ?? 0)
      try fields.finish()
      return .lost(lost)
    }
    if var fields = try reader.optionalObject("end") {
      let pushes = try fields.integer("pushes", in: 0...Int64.max)
      try fields.finish()
      return .end(pushes: pushes)
    }
    return .nothing
  }
}
