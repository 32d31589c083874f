import JSON
import Primitives
import Push

/// The sentence about what is wrong with one payload: the field, the form that is right, and what stands there.
struct PayloadDetail: ~Escapable {
  let facts: PayloadFacts
  let body: RawSpan
  let context: PayloadContext

  @_lifetime(copy body)
  init(facts: PayloadFacts, body: RawSpan, context: PayloadContext) {
    self.facts = facts
    self.body = body
    self.context = context
  }

  /// The detail for a body that is no JSON.
  static func notJSON(_ body: RawSpan, _ error: JSONError) -> String {
    if body.byteCount > 1, body.byte(0) == 0x1F, body.byte(1) == 0x8B { return "the body must not be compressed" }
    return "the body must be JSON: \(error)"
  }

  /// The field at fault and the detail, for a warning about something that stands in the payload, or is missing there; else nil.
  func describe(_ warning: PushWarning) -> (field: String, detail: String)? {
    switch warning {
    case .notAnObject: return ("body", "the body must be a JSON object\(takesAPS ? " with aps" : ""), not \(Self.article(facts.root))")
    case .apsMissing:
      return ("aps", "aps is missing; it must be an object such as {\"aps\":{\(example)}}\(PayloadNames(body).hintForAPS)")
    case .apsNotAnObject: return must("aps", "be an object", not: facts.aps.map(Self.article))
    case .contentChangedNotTrue:
      // What stands there is mostly the right word in the wrong kind, so it is not repeated.
      guard facts.contentChanged.kind == nil else { return ("aps.content-changed", "aps.content-changed must be the JSON value true") }
      return must(.contentChanged, facts.contentChanged, "be the JSON value true")
    case .channelOnDevicePush:
      return ("apns-channel-id", "apns-channel-id must not be sent with a \(context.type) push, which has a token and no channel")
    case .eventMissing, .eventUnknown: return event
    case .timestampMissing, .timestampNotWholeSeconds, .timestampInMilliseconds, .timestampInFuture: return timestamp(warning)
    case .contentStateMissing, .contentStateNotAnObject:
      return must(.contentState, facts.contentState, "be an object that decodes into the app's ContentState")
    case .attributesTypeMissing:
      return must(.attributesType, facts.attributesType, "be the name of the app's ActivityAttributes type, as a string")
    case .qualifiedAttributesType:
      let name = body[facts.attributesType.text].string
      return (
        "aps.attributes-type",
        "aps.attributes-type \"\(name)\" has a module or an outer type in it; send the Swift type's own name, \"\(name.split(separator: ".").last ?? "")\""
      )
    case .attributesMissing: return must(.attributes, facts.attributes, "be an object that decodes into the app's ActivityAttributes")
    case .startWithoutAlert: return must(.alert, facts.alert, "be an object with title and body, or the device starts no activity")
    case .alertNotAnObject:
      return must(
        .alert, facts.alert, context.type == .alert ? "be a string or an object with title and body" : "be an object with title and body")
    case .inputPushTokenNotOne: return must(.inputPushToken, facts.inputPushToken, "be the number 1")
    case .inputPushChannelNotAString:
      let (field, detail) = must(.inputPushChannel, facts.inputPushChannel, "be \(ChannelID.form), as a string")
      guard facts.inputPushChannel.kind == .string, let fault = ChannelID.fault(of: body[facts.inputPushChannel.text].string) else {
        return (field, detail)
      }
      return (field, "\(detail), which \(fault)")
    case .inputPushTokenAndChannel:
      return (
        "aps.input-push-channel",
        "aps.input-push-channel must not stand beside aps.input-push-token; an activity takes updates by one of them"
      )
    case .dismissalWithoutEnd:
      return ("aps.dismissal-date", "aps.dismissal-date must stand only with the event end, not with \(facts.event.text)")
    case .dateNotANumber, .dateInMilliseconds: return date(warning)
    case .relevanceNotANumber: return must(.relevanceScore, facts.relevanceScore, "be a number such as 50")
    case .contentAvailableMissing:
      return must(.contentAvailable, facts.contentAvailable, "be the number 1, or a background push wakes no app")
    case .mdmMissing:
      return ("mdm", "mdm is missing; it must be the PushMagic string of the device's enrolment\(PayloadNames(body).hintForMDM)")
    case .nothingToShow: return nothingToShow
    case .customKeys, .unusedAPSKeys, .unusedAlertKeys, .alertInReload, .alertInBackground, .contentChangedWithoutReload,
      .attributesAfterStart:
      return keys(warning)
    case .alertInUpdate:
      return (
        "aps.alert",
        "aps.alert lights the screen up with every update that has it, whatever the priority; leave it out of the updates that are to be silent"
      )
    case .soundNamesNoFile:
      let (field, value) =
        facts.alertSoundSaysNone ? ("aps.alert.sound", facts.alertSound) : ("aps.sound", facts.sound)
      return (
        field, "\(field) is \(body[value.text].quoted), which is taken for the name of a sound file; leave the key out for no sound"
      )
    case .duplicateKeys: return RepeatedKey(in: body).map { ($0.path, $0.sentence) }
    case .timestampOld:
      return ("aps.timestamp", "aps.timestamp \(moment(facts.timestamp)) is more than 8 hours old; send the current time, now \(now)")
    case .dismissalBeyondFourHours:
      let latest = context.now.unixSeconds + Limits.dismissalSeconds
      return (
        "aps.dismissal-date",
        "aps.dismissal-date \(moment(facts.dismissalDate)) is more than 4 hours ahead, and the device removes the activity by \(latest)"
      )
    default: return nil
    }
  }

  /// The present time in Unix seconds.
  private var now: Int64 { context.now.unixSeconds }

  /// A number of Unix seconds as it is written, with the time that it stands for.
  private func moment(_ value: PayloadFacts.Value) -> String {
    let text = body[value.text].string
    guard value.number.magnitude < 0x1p53 else { return text }
    return "\(text) (\(Instant(unixSeconds: Int64(value.number)).wholeSeconds))"
  }

  private var event: (String, String) {
    if facts.keys.contains(.events), !facts.eventName.isPresent {
      return ("aps.events", "aps.events must be named aps.event, and be \(context.isBroadcast ? "" : "\"start\", ")\"update\" or \"end\"")
    }
    if context.isBroadcast {
      return facts.event == .start
        ? ("aps.event", "aps.event must be \"update\" or \"end\" in a broadcast, which starts no activity")
        : must(.event, facts.eventName, "be \"update\" or \"end\"")
    }
    return must(.event, facts.eventName, "be \"start\", \"update\" or \"end\"")
  }

  private var nothingToShow: (String, String) {
    if facts.alert.isPresent { return must(.alert, facts.alert, "be a string or an object with title and body") }
    if facts.badge.isPresent { return must(.badge, facts.badge, "be a number") }
    if facts.sound.isPresent { return must(.sound, facts.sound, "be the name of a sound file, as a string") }
    let names = PayloadNames(body)
    let hint = [APSKey.alert, .badge, .sound].lazy.map(names.hint).first { !$0.isEmpty } ?? ""
    return ("aps.alert", "aps.alert, aps.badge or aps.sound must be there, or an alert push shows nothing\(hint)")
  }

  private func timestamp(_ warning: PushWarning) -> (String, String) {
    let now = context.now.unixSeconds
    let value = body[facts.timestamp.text].string
    switch warning {
    case .timestampInMilliseconds: return ("aps.timestamp", "aps.timestamp must be in seconds, now \(now), not in milliseconds (\(value))")
    case .timestampInFuture:
      return ("aps.timestamp", "aps.timestamp must be at most 8 hours ahead of the current time, now \(now), not \(value)")
    default: return must(.timestamp, facts.timestamp, "be the current Unix time in whole seconds, now \(now)")
    }
  }

  private func date(_ warning: PushWarning) -> (String, String) {
    let staleIsAtFault = ActivityRules.dateWarning(facts.staleDate) == warning
    let (key, value) = staleIsAtFault ? (APSKey.staleDate, facts.staleDate) : (.dismissalDate, facts.dismissalDate)
    guard warning == .dateInMilliseconds else {
      return must(key, value, "be a number of Unix seconds such as \(context.now.unixSeconds + 3600)")
    }
    return (
      "aps.\(key.name)",
      "aps.\(key.name) must be in seconds such as \(context.now.unixSeconds + 3600), not in milliseconds (\(body[value.text].string))"
    )
  }

  private func must(_ key: APSKey, _ value: PayloadFacts.Value, _ form: String) -> (String, String) {
    let written: String? =
      switch value.kind {
      case nil: nil
      case .string: body[value.text].quoted
      case .number: body[value.text].string
      case .object where key == .alert: "an empty object"
      case let kind?: Self.article(kind)
      }
    let (field, detail) = must("aps.\(key.name)", form, not: written)
    return (field, value.kind == nil ? detail + PayloadNames(body).hint(for: key) : detail)
  }

  private func must(_ field: String, _ form: String, not written: String?) -> (String, String) {
    (field, written.map { "\(field) must \(form), not \($0)" } ?? "\(field) is missing; it must \(form)")
  }

  private var example: String {
    switch context.type {
    case .liveactivity: "\"timestamp\":\(context.now.unixSeconds),\"event\":\"update\",\"content-state\":{}"
    case .widgets, .controls: "\"content-changed\":true"
    case .background: "\"content-available\":1"
    default: "\"alert\":{\"title\":\"\",\"body\":\"\"}"
    }
  }

  /// Whether the push type finds what it does in `aps`.
  private var takesAPS: Bool {
    switch context.type {
    case .alert, .background: context.family == .app
    case .controls, .liveactivity, .widgets: true
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: false
    }
  }

  private static func article(_ kind: JSONKind) -> String {
    switch kind {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .number: "a number"
    case .true: "true"
    case .false: "false"
    case .null: "null"
    }
  }
}
