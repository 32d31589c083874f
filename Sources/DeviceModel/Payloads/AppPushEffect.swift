import JSON
import Primitives
import Push

/// What a push does that goes to the app, and not to a widget, a control or an activity.
struct AppPushEffect {
  /// What is done.
  var cause: Cause
  /// The event that the device logs.
  var event: DeviceEvent.What
  /// What a person would see of it, in few words.
  var detail: String?

  /// Reads `payload` as far as the device itself does; throws what would make it do nothing.
  init(_ type: PushType, bundleID: String, _ payload: RawSpan) throws(PayloadProblem) {
    switch type {
    case .alert, .background:
      if bundleID.hasPrefix("pass.") {
        // Wallet asks for the pass whatever the object holds.
        _ = try JSONValue.object(of: payload)
        self.init(.passUpdated, .passUpdated, bundleID)
      } else if type == .alert {
        switch try AlertPayload(aps: JSONValue.aps(of: payload)) {
        case .words(let title): self.init(.alertShown, .alertShown, title)
        case .sound(let name): self.init(.soundPlayed, .soundPlayed, name)
        case .badge(let number): self.init(.badgeSet, .badgeSet, number.serialized())
        }
      } else {
        let aps = try JSONValue.aps(of: payload)
        let value = aps["content-available"]
        guard value?.doubleValue == 1 || value == true else {
          throw PayloadProblem(
            cause: .payloadNotUnderstood,
            sentence: "aps.content-available must be the number 1\(value.map { ", not \($0.kindName)" } ?? ", and is missing")",
            missing: value == nil ? "content-available" : nil)
        }
        self.init(.appWoken, .appWoken, nil)
      }
    case .complication: self.init(.complicationUpdated, .complicationUpdated, try Self.keys(of: payload))
    case .fileprovider:
      let tree = try JSONValue.object(of: payload)
      self.init(.filesSignaled, .filesSignaled, tree["container-identifier"]?.stringValue)
    case .location: self.init(.locationQueried, .locationQueried, try Self.keys(of: payload))
    case .mdm:
      let tree = try JSONValue.object(of: payload)
      guard tree["mdm"]?.stringValue != nil else {
        throw PayloadProblem(
          cause: .payloadNotUnderstood, sentence: "mdm must be the PushMagic string of the enrolment",
          missing: tree["mdm"] == nil ? "mdm" : nil)
      }
      self.init(.checkedIn, .checkedIn, nil)
    case .pushtotalk: self.init(.speakerAnnounced, .speakerAnnounced, try Self.keys(of: payload))
    case .voip: self.init(.callReported, .callReported, try Self.keys(of: payload))
    case .controls, .liveactivity, .widgets: preconditionFailure("\(type) pushes go to no app")
    }
  }

  private init(_ cause: Cause, _ event: DeviceEvent.What, _ detail: String?) {
    (self.cause, self.event, self.detail) = (cause, event, detail)
  }

  /// The names of what the app's code gets; nil when that is nothing.
  private static func keys(of payload: RawSpan) throws(PayloadProblem) -> String? {
    let names = try JSONValue.object(of: payload).objectValue?.map(\.key) ?? []
    return names.isEmpty ? nil : "with \(names.prefix(8).joined(separator: ", "))"
  }
}
