import JSON
import Primitives
import Push

/// What a Live Activity push says, once understood.
///
/// Source of the keys: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
struct ActivityPush: Sendable, Equatable {
  /// What a `start` carries besides.
  struct Start: Sendable, Equatable {
    var attributesType: String
    var attributes: JSONObject
    /// The channel that the activity is to follow; nil for a token of its own.
    var channel: ChannelID?
  }

  /// What is to be done.
  enum Event: Sendable, Equatable {
    case start(Start)
    case update
    case end
  }

  var event: Event
  /// `timestamp`, in Unix seconds by the sender's clock; pushes are compared by it as it is.
  var timestamp: Int64
  /// What turns the sender's dates into the device's.
  var shift = TimeSpan.zero
  /// `content-state`; always there on `start` and `update`.
  var contentState: JSONObject?
  var staleDate: Instant?
  var dismissalDate: Instant?
  var relevanceScore: Double?
  /// Whether an alert lights the screen.
  var alerts: Bool

  /// When it was sent, by the device's clock.
  var sentAt: Instant { Instant(unixSeconds: timestamp) + shift }

  /// Reads `aps` of a payload; throws what would make the device drop it.
  ///
  /// - Parameter shift: What turns the sender's dates into the device's.
  init(aps: JSONValue, shift: TimeSpan = .zero) throws(PayloadProblem) {
    self.shift = shift
    let aps = Self.withoutNulls(aps)
    let event = aps["event"]
    guard let name = event?.stringValue, ["start", "update", "end"].contains(name) else {
      throw Self.notUnderstood("event", aps, "be \"start\", \"update\" or \"end\"")
    }
    guard let timestamp = aps["timestamp"]?.doubleValue, let seconds = Int64(exactly: timestamp) else {
      throw Self.notUnderstood("timestamp", aps, "be a whole number of Unix seconds")
    }
    self.timestamp = seconds
    contentState = aps["content-state"]?.objectValue
    if contentState == nil && (name != "end" || aps["content-state"] != nil) {
      throw Self.notUnderstood("content-state", aps, "be an object on \(name)", .contentStateNotDecodable)
    }
    staleDate = try Self.date("stale-date", of: aps).map { $0 + shift }
    dismissalDate = try Self.date("dismissal-date", of: aps).map { $0 + shift }
    if let score = aps["relevance-score"], !score.isNumber { throw Self.notUnderstood("relevance-score", aps, "be a number") }
    relevanceScore = aps["relevance-score"]?.doubleValue
    alerts = aps["alert"]?.objectValue.map { !$0.isEmpty } ?? false
    switch name {
    case "update": self.event = .update
    case "end": self.event = .end
    default: self.event = .start(try Self.start(aps, alerts: alerts))
    }
  }

  /// Without members that are `null`, which a decoder takes for absent ones.
  private static func withoutNulls(_ aps: JSONValue) -> JSONValue {
    guard let members = aps.objectValue, members.contains(where: { $0.value == .null }) else { return aps }
    var rest = JSONObject()
    for (key, value) in members where value != .null { rest[key] = value }
    return .object(rest)
  }

  private static func start(_ aps: JSONValue, alerts: Bool) throws(PayloadProblem) -> Start {
    guard let type = aps["attributes-type"]?.stringValue, !type.isEmpty else {
      throw notUnderstood("attributes-type", aps, "name the Swift type of the attributes")
    }
    guard let attributes = aps["attributes"]?.objectValue else {
      throw notUnderstood("attributes", aps, "be an object")
    }
    guard alerts else { throw notUnderstood("alert", aps, "be an object with title and body on start", .alertMissing) }
    return Start(attributesType: type, attributes: attributes, channel: try channel(of: aps))
  }

  /// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications": with a channel that is none, nothing starts.
  private static func channel(of aps: JSONValue) throws(PayloadProblem) -> ChannelID? {
    guard let value = aps["input-push-channel"] else { return nil }
    guard let channel = value.stringValue.flatMap({ ChannelID($0) }) else {
      let problem = notUnderstood("input-push-channel", aps, "be \(ChannelID.form)")
      let fault = value.stringValue.flatMap { ChannelID.fault(of: $0) }.map { ", which \($0)" } ?? ""
      throw PayloadProblem(cause: problem.cause, sentence: problem.sentence + fault, missing: nil)
    }
    return channel
  }

  private static func date(_ key: String, of aps: JSONValue) throws(PayloadProblem) -> Instant? {
    guard let value = aps[key] else { return nil }
    guard let seconds = value.doubleValue else {
      throw notUnderstood(key, aps, "be a number of Unix seconds")
    }
    // Beyond what an instant holds (the year 2262) is as good as never.
    return Int64(exactly: (seconds * 1000).rounded(.down)).map { Instant(unixMilliseconds: $0) } ?? .distantFuture
  }

  /// The problem with a key of `aps` that must be something else.
  private static func notUnderstood(
    _ key: String, _ aps: JSONValue, _ form: String, _ cause: Cause = .payloadNotUnderstood
  ) -> PayloadProblem {
    PayloadProblem(cause: cause, sentence: "aps.\(key) must \(form)\(found(aps[key]))", missing: aps[key] == nil ? key : nil)
  }

  private static func found(_ value: JSONValue?) -> String {
    guard let value else { return ", and is missing" }
    let text = value.serialized()
    return text.utf8.count <= 40 ? ", not \(text)" : ", not \(value.kindName)"
  }
}
