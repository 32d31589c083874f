/// Something about an accepted push that its sender should know: it will not do what was meant, or does more.
///
/// The first group is what strict validation refuses with `BadPayload`: the device ignores the push or, where the warning
/// `spoilsOneField`, that field. With validation `apple` the push passes and the
/// warning is recorded. The second group never refuses.
public enum PushWarning: UInt8, CaseIterable, Sendable {
  // What a device silently ignores, or a field that it does.
  case notJSON, notAnObject, apsMissing, apsNotAnObject
  case contentChangedNotTrue, channelOnDevicePush
  case eventMissing, eventUnknown, timestampMissing, timestampNotWholeSeconds, timestampInMilliseconds, timestampInFuture
  case contentStateMissing, contentStateNotAnObject, attributesTypeMissing, attributesMissing, startWithoutAlert, alertNotAnObject
  case inputPushTokenNotOne, inputPushChannelNotAString, inputPushTokenAndChannel
  case dismissalWithoutEnd, dateNotANumber, dateInMilliseconds, relevanceNotANumber
  case contentAvailableMissing, mdmMissing, nothingToShow

  // What is only worth knowing.
  case pushTypeMissing, priorityMissing, priorityPassive, collapseIDMissing, expirationInMilliseconds, expirationRelative
  case customKeys, unusedAPSKeys, alertInReload, contentChangedWithoutReload, attributesAfterStart
  case backgroundAtTen, alertInBackground
  case alertInUpdate, soundNamesNoFile, unusedAlertKeys, timestampOld, dismissalBeyondFourHours
  case struckByFault
  case contentStateMismatch
  case attributesMismatch
  case duplicateKeys
  case dateMisread
  case expirationPassed
  case qualifiedAttributesType, unknownAttributesType

  /// The name used in JSON.
  public var name: String { "\(self)" }

  /// Whether the device passes over the one field and does the rest of what the push asks; strict validation refuses the push all the
  /// same, since what the field was to do is not done (widgets.md section 7).
  public var spoilsOneField: Bool {
    switch self {
    case .channelOnDevicePush, .alertNotAnObject, .inputPushTokenNotOne, .inputPushTokenAndChannel, .dismissalWithoutEnd,
      .dateInMilliseconds:
      true
    default: false
    }
  }

  /// Whether strict validation refuses the push.
  public var isRefusedInStrict: Bool { rawValue <= PushWarning.nothingToShow.rawValue }

  /// What is wrong and what would be right, as one sentence.
  public var sentence: String {
    switch self {
    case .notJSON: "The body is not JSON, so the device drops it; send an object such as {\"aps\":{\"content-changed\":true}}."
    case .notAnObject: "The body is JSON but not an object, so the device drops it; put everything into one object."
    case .apsMissing: "The payload has no aps, so the device finds nothing to do; put the keys of the push type into an object named aps."
    case .apsNotAnObject: "aps is not an object, so the device finds nothing to do; make it one."
    case .contentChangedNotTrue:
      "aps.content-changed is not the JSON value true, so nothing reloads; send true without quotes, not 1 and not \"true\"."
    case .channelOnDevicePush: "apns-channel-id belongs to broadcasts, and a device push has no use for it; leave the header out."
    case .eventMissing: "The payload has no aps.event, so the activity does not change; send start, update or end (event, not events)."
    case .eventUnknown:
      "aps.event is none of start, update and end, or is start in a broadcast, so no activity changes; send one of these strings."
    case .timestampMissing:
      "The payload has no aps.timestamp, so the device drops it; send the current Unix time in seconds with every push."
    case .timestampNotWholeSeconds:
      "aps.timestamp is not a whole number, so the device drops the push; send the current Unix time in seconds, without quotes."
    case .timestampInMilliseconds:
      "aps.timestamp is in milliseconds, which is far in the future, so the device drops the push; divide it by 1000."
    case .timestampInFuture:
      "aps.timestamp is more than 8 hours ahead, so the device drops the push; send the current Unix time and check the clock."
    case .contentStateMissing: "A start or update without aps.content-state changes nothing; send the whole ContentState."
    case .contentStateNotAnObject: "aps.content-state is not an object, so it cannot decode; send the ContentState as an object."
    case .attributesTypeMissing: "A start without the string aps.attributes-type starts nothing; send the Swift type's name."
    case .attributesMissing: "A start without the object aps.attributes starts nothing; send it even when it is empty."
    case .startWithoutAlert: "A start without an aps.alert object starts nothing; send one with title and body."
    case .alertNotAnObject: "aps.alert has a form that the device does not read, so it shows no words; send an object with title and body."
    case .inputPushTokenNotOne: "aps.input-push-token is not the number 1, so the device passes over it; send 1."
    case .inputPushChannelNotAString:
      "aps.input-push-channel is not a channel's id, so nothing starts; send the id as its creation was answered, as a string: 16 bytes in standard base 64."
    case .inputPushTokenAndChannel:
      "An activity takes updates by token or by channel, and the device passes over one of them; send either input-push-token or input-push-channel."
    case .dismissalWithoutEnd: "aps.dismissal-date counts only with the event end; leave it out of a start or an update."
    case .dateNotANumber: "aps.stale-date or aps.dismissal-date is not a number; send Unix seconds without quotes."
    case .dateInMilliseconds:
      "aps.stale-date or aps.dismissal-date is in milliseconds, a time that never comes, so the device passes over it; divide it by 1000."
    case .relevanceNotANumber: "aps.relevance-score is not a number; send one such as 50 without quotes."
    case .contentAvailableMissing: "A background push without content-available 1 in aps wakes no app; send the number 1."
    case .mdmMissing: "An MDM push without the string mdm is for no enrolment; send the device's PushMagic as mdm."
    case .nothingToShow:
      "aps has no alert, badge or sound that says something, so an alert push shows nothing; add one or use another push type."
    case .pushTypeMissing: "There is no apns-push-type, so the type is taken from the topic; send it explicitly."
    case .priorityMissing:
      "There is no apns-priority, which counts as 10; send 5 for what may wait: it spares the device's power and a Live Activity's budget."
    case .priorityPassive: "An apns-priority of 1 is not meant for Live Activities; send 5 or 10."
    case .collapseIDMissing: "There is no apns-collapse-id, so pushes of several senders pile up; send the same one for each target."
    case .expirationInMilliseconds:
      "apns-expiration is so late that it must be in milliseconds, and the push is kept for the full 30 days; divide it by 1000."
    case .expirationRelative:
      "apns-expiration is so small that it must be seconds from now, and as a Unix time it lies in 1970, so the push is tried once and not kept; add the current Unix time."
    case .customKeys: "Keys beside aps reach no widget, control or activity; have the extension fetch what they hold."
    case .unusedAPSKeys: "aps has keys that this push type does not know and the device ignores; compare them with Apple's table."
    case .alertInReload:
      "alert, sound, badge, content-available and mutable-content do nothing in a reload push; send a push of type alert as well."
    case .contentChangedWithoutReload:
      "The key content-changed reloads nothing in this push type; send a push of type widgets or controls with its own token."
    case .attributesAfterStart: "attributes and attributes-type count only with the event start; leave them out to save bytes."
    case .backgroundAtTen: "A background push has apns-priority 10, which Apple calls an error; send 5."
    case .alertInBackground:
      "alert, badge and sound have no place in a background push, and the device may show nothing; send a push of type alert as well."
    case .alertInUpdate:
      "An update with an alert lights the screen up, whatever its priority; leave alert out of the updates that are to be silent."
    case .soundNamesNoFile:
      "The sound is a word such as nil, which is taken for the name of a sound file; leave sound out for none, or name a file or default."
    case .unusedAlertKeys: "aps.alert has keys that no device knows, and they are ignored; compare them with Apple's table."
    case .timestampOld:
      "aps.timestamp is more than 8 hours old, longer than an activity lives, so the device has newer; send the current time."
    case .struckByFault: "A fault that somebody has set held this push back or ended its connection; widgetpush faults list shows it."
    case .contentStateMismatch:
      "aps.content-state does not decode into the app's ContentState as its schema here has it, so the device drops the push; detail names the key and the right value."
    case .attributesMismatch:
      "aps.attributes does not decode into the app's ActivityAttributes as its schema here has it, so nothing is started; detail names the key and the right value."
    case .dateMisread:
      "A date in aps.content-state or aps.attributes decodes into another time than was meant, which the activity shows; detail names the key and the right value."
    case .expirationPassed:
      "apns-expiration had passed when the push came, so it is tried once at most and not kept; send a later date, or leave the header out."
    case .qualifiedAttributesType:
      "aps.attributes-type has a module or an outer type in it, which no device finds; send the Swift type's own name."
    case .unknownAttributesType:
      "aps.attributes-type is none of the types that are known of the app, so that nothing of the start was checked; detail names the nearest."
    case .duplicateKeys:
      "A key stands more than once in its object, and readers differ in which of its values counts; send it once."
    case .dismissalBeyondFourHours: "aps.dismissal-date is more than 4 hours after the end, and the device removes the activity after 4."
    }
  }
}

/// A set of warnings in 64 bits.
public struct PushWarnings: OptionSet, Hashable, Sendable {
  /// Bit n stands for the warning whose raw value is n.
  public let rawValue: UInt64

  /// The set with these bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The set of one warning.
  public init(_ warning: PushWarning) { rawValue = 1 << UInt64(warning.rawValue) }

  /// Adds a warning.
  public mutating func insert(_ warning: PushWarning) { formUnion(PushWarnings(warning)) }

  /// Whether the warning is in the set.
  public func contains(_ warning: PushWarning) -> Bool { isSuperset(of: PushWarnings(warning)) }

  /// The warnings in the set, in the order of their declaration.
  public var all: [PushWarning] { PushWarning.allCases.filter(contains) }

  /// The first warning for which the device ignores the whole push, or nil.
  public var firstIgnored: PushWarning? { all.first { $0.isRefusedInStrict && !$0.spoilsOneField } }

  /// The warnings that are about a key, a header or a date which can be named, so that each push has a `WarningDetail` for them.
  public static let withSubject = every.subtracting(withoutSubject)
  private static let every = PushWarning.allCases.reduce(into: PushWarnings()) { $0.insert($1) }
  /// These are about something that is not there, or their sentence says all.
  private static let withoutSubject: PushWarnings = [
    PushWarnings(.pushTypeMissing), PushWarnings(.priorityMissing), PushWarnings(.priorityPassive), PushWarnings(.collapseIDMissing),
    PushWarnings(.backgroundAtTen), PushWarnings(.struckByFault),
  ]

  /// The warnings of what an app's schemas have against a content-state or attributes.
  public static let ofSchemas: PushWarnings = [
    PushWarnings(.contentStateMismatch), PushWarnings(.attributesMismatch), PushWarnings(.dateMisread),
  ]

  /// The first warning that strict validation refuses, or nil.
  public var firstRefused: PushWarning? {
    let refusable = rawValue & (1 << UInt64(PushWarning.nothingToShow.rawValue + 1) - 1)
    return refusable == 0 ? nil : PushWarning(rawValue: UInt8(refusable.trailingZeroBitCount))
  }
}
