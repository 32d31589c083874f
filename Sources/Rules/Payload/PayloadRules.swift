import JSON
import Primitives
import Push

/// What the headers and the clock say that a payload is judged by.
struct PayloadContext {
  var type: PushType
  var family = TopicFamily.app
  var now: Instant
  /// Nil when no priority was sent.
  var priority: Priority?
  var hasCollapseID: Bool
  var hasChannelID: Bool
  /// Whether it goes to a channel's activities rather than to a token.
  var isBroadcast = false
}

extension PayloadContext {
  /// That of a broadcast, which has neither a collapse id nor a topic.
  init(broadcastAt now: Instant, priority: Priority?) {
    self.init(type: .liveactivity, now: now, priority: priority, hasCollapseID: false, hasChannelID: false, isBroadcast: true)
  }
}

/// The rules for a payload's size and content (apns.md section 6, widgets.md sections 1, 4.2 and 7).
enum PayloadRules {
  static func checkSize(_ bytes: Int, of type: PushType) throws(Violation) {
    guard bytes > 0 else {
      throw Violation(.payloadEmpty, "body", "the body must be a JSON object such as {\"aps\":{\"content-changed\":true}}")
    }
    guard bytes <= type.payloadBytesMax else {
      throw Violation(.payloadTooLarge, "body", "the body must have at most \(type.payloadBytesMax) bytes, not \(bytes)")
    }
  }

  /// What the payload means and what its sender should know; with validation `strict`, what a device would ignore is refused.
  static func check(
    _ body: RawSpan, _ context: PayloadContext, _ validation: AppPolicy.Validation, _ malformed: ProviderAnswers.MalformedBody,
    _ memory: inout PayloadMemory
  ) throws(Violation) -> (traits: PushTraits, warnings: PushWarnings) {
    do {
      try memory.read(body)
    } catch {
      guard validation == .apple else { throw Violation(.badPayload, "body", PayloadDetail.notJSON(body, error)) }
      if malformed == .payloadEmpty { throw Violation(.payloadEmpty, "body", PayloadDetail.notJSON(body, error)) }
      return (PushTraits(lane: .keep), PushWarnings(.notJSON))
    }
    return try judge(body, context, validation, memory)
  }

  /// Lent what was remembered, since the facts are large and a copy would be made for each look.
  private static func judge(
    _ body: RawSpan, _ context: PayloadContext, _ validation: AppPolicy.Validation, _ memory: borrowing PayloadMemory
  ) throws(Violation) -> (traits: PushTraits, warnings: PushWarnings) {
    let warnings = self.warnings(memory.facts, context)
    if validation == .strict, let warning = warnings.firstRefused {
      let described = PayloadDetail(facts: memory.facts, body: body, context: context).describe(warning)
      let (field, detail) = described ?? (warning.field, warning.sentence)
      throw Violation(.badPayload, field, detail)
    }
    return (traits(memory.facts, context.type, isSound: warnings.firstRefused == nil), warnings)
  }

  /// Every warning with its field and its sentence: what strict validation would refuse first.
  static func everything(_ body: RawSpan, _ context: PayloadContext) -> [(warning: PushWarning, field: String, message: String)] {
    let facts: PayloadFacts
    do throws(JSONError) { facts = try PayloadFacts(body) } catch { return [(.notJSON, "body", PayloadDetail.notJSON(body, error))] }
    let detail = PayloadDetail(facts: facts, body: body, context: context)
    return warnings(facts, context).all.map { warning in
      let (field, message) = detail.describe(warning) ?? (warning.field, warning.sentence)
      return (warning, field, message)
    }
  }

  /// What those of the warnings are about that the payload itself has given rise to.
  static func details(of warnings: PushWarnings, _ body: RawSpan, _ context: PayloadContext) -> [WarningDetail] {
    let facts: PayloadFacts
    do throws(JSONError) {
      facts = try PayloadFacts(body)
    } catch {
      return warnings.contains(.notJSON) ? [WarningDetail(.notJSON, field: "body", detail: PayloadDetail.notJSON(body, error))] : []
    }
    let detail = PayloadDetail(facts: facts, body: body, context: context)
    return warnings.intersection(.withSubject).all.compactMap { warning in
      detail.describe(warning).map { WarningDetail(warning, field: $0.field, detail: $0.detail) }
    }
  }

  /// Everything that is to be said about the payload, whatever the validation.
  private static func warnings(_ facts: PayloadFacts, _ context: PayloadContext) -> PushWarnings {
    let warnings = warningsOfType(facts, context)
    return facts.hasDuplicateKeys ? warnings.union(PushWarnings(.duplicateKeys)) : warnings
  }

  private static func warningsOfType(_ facts: PayloadFacts, _ context: PayloadContext) -> PushWarnings {
    guard facts.root == .object else { return PushWarnings(.notAnObject) }
    switch context.type {
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: return HandlerRules.warnings(facts, context)
    case .alert, .background: if context.family != .app { return [] }
    case .controls, .liveactivity, .widgets: break
    }
    guard let aps = facts.aps else { return PushWarnings(.apsMissing) }
    guard aps == .object else { return PushWarnings(.apsNotAnObject) }
    switch context.type {
    case .widgets, .controls: return ReloadRules.warnings(facts, context)
    case .liveactivity: return ActivityRules.warnings(facts, context)
    case .background: return BackgroundRules.warnings(facts, context)
    default: return AlertRules.warnings(facts)
    }
  }

  /// A payload that a device would ignore merges with nothing, so that it takes no good push with it.
  private static func traits(_ facts: PayloadFacts, _ type: PushType, isSound: Bool) -> PushTraits {
    switch type {
    case .widgets, .controls: return isSound ? .reload : PushTraits(lane: .keep)
    case .liveactivity: return ActivityRules.traits(facts, isSound: isSound)
    case .background: return PushTraits(lane: isSound ? .background : .keep, hasAlert: facts.alert.isPresent)
    default: return PushTraits(lane: .keep, hasAlert: facts.alert.isPresent)
    }
  }
}

/// Payloads of `widgets` and `controls`: a signal without content.
enum ReloadRules {
  static func warnings(_ facts: PayloadFacts, _ context: PayloadContext) -> PushWarnings {
    var warnings: PushWarnings = []
    if facts.contentChanged.kind != .true { warnings.insert(.contentChangedNotTrue) }
    if context.hasChannelID { warnings.insert(.channelOnDevicePush) }
    if context.priority == nil { warnings.insert(.priorityMissing) }
    if !context.hasCollapseID { warnings.insert(.collapseIDMissing) }
    if facts.hasCustomKeys { warnings.insert(.customKeys) }
    if !facts.keys.isDisjoint(with: .alertLike) { warnings.insert(.alertInReload) }
    if facts.hasUnknownKeys || !facts.keys.isDisjoint(with: .uselessInReload) { warnings.insert(.unusedAPSKeys) }
    return warnings
  }
}

/// Payloads of `alert`.
///
/// Source: Apple, "Generating a remote notification": an alert is a string or a dictionary, a badge a number, a sound a string or, for a
/// critical alert, a dictionary; any one of them is something to present.
enum AlertRules {
  /// Whether the device finds words, a number for the icon, or a sound.
  static func shows(_ facts: PayloadFacts) -> Bool {
    facts.alert.kind == .string || facts.alert.kind == .object && !facts.isAlertEmpty || facts.badge.kind == .number
      || facts.sound.kind == .string || facts.sound.kind == .object
  }

  static func warnings(_ facts: PayloadFacts) -> PushWarnings {
    var warnings: PushWarnings = []
    if !shows(facts) { warnings.insert(.nothingToShow) }
    if facts.alert.isPresent, facts.alert.kind != .object, facts.alert.kind != .string { warnings.insert(.alertNotAnObject) }
    // What a Live Activity looks for in alert, an alert push has beside it.
    if facts.hasUnknownAlertKeys || facts.alertSound.isPresent { warnings.insert(.unusedAlertKeys) }
    if facts.soundSaysNone || facts.alertSoundSaysNone { warnings.insert(.soundNamesNoFile) }
    if facts.keys.contains(.contentChanged) { warnings.insert(.contentChangedWithoutReload) }
    if facts.hasUnknownKeys || !facts.keys.isDisjoint(with: .activityOnly) { warnings.insert(.unusedAPSKeys) }
    return warnings
  }
}

/// Payloads of `background`: `content-available` and nothing that a person would see.
///
/// Source: Apple, "Pushing background updates to your App".
enum BackgroundRules {
  static func warnings(_ facts: PayloadFacts, _ context: PayloadContext) -> PushWarnings {
    var warnings: PushWarnings = []
    let wakes = facts.contentAvailable.kind == .true || facts.contentAvailable.kind == .number && facts.contentAvailable.number == 1
    if !wakes { warnings.insert(.contentAvailableMissing) }
    if context.priority == nil { warnings.insert(.priorityMissing) }
    if context.priority == .immediate { warnings.insert(.backgroundAtTen) }
    if !facts.keys.isDisjoint(with: .shown) { warnings.insert(.alertInBackground) }
    if facts.keys.contains(.contentChanged) { warnings.insert(.contentChangedWithoutReload) }
    if facts.hasUnknownKeys || !facts.keys.isDisjoint(with: .activityOnly) { warnings.insert(.unusedAPSKeys) }
    return warnings
  }
}

/// Payloads that an app's own code takes, whatever they hold, and those of MDM, which name the magic string of the enrolment.
enum HandlerRules {
  static func warnings(_ facts: PayloadFacts, _ context: PayloadContext) -> PushWarnings {
    var warnings: PushWarnings = []
    if context.type == .mdm {
      if !facts.hasMDM { warnings.insert(.mdmMissing) }
      if facts.aps != nil { warnings.insert(.unusedAPSKeys) }
    }
    if facts.keys.contains(.contentChanged) { warnings.insert(.contentChangedWithoutReload) }
    return warnings
  }
}
