import JSON
import Primitives
import Push

/// Payloads of `liveactivity` (widgets.md section 4.2).
enum ActivityRules {
  static func warnings(_ facts: PayloadFacts, _ context: PayloadContext) -> PushWarnings {
    let isStart = facts.event == .start && !context.isBroadcast
    var warnings = timestampWarnings(facts, context.now)
    warnings.formUnion(stateWarnings(facts, isStart: isStart))
    warnings.formUnion(dateWarnings(facts, context.now))
    if isStart { warnings.formUnion(inputPushWarnings(facts)) }
    if !facts.eventName.isPresent {
      warnings.insert(.eventMissing)
    } else if facts.event == .none || facts.event == .start && !isStart {
      warnings.insert(.eventUnknown)
    }
    if facts.relevanceScore.isPresent, facts.relevanceScore.kind != .number { warnings.insert(.relevanceNotANumber) }
    if context.priority == nil { warnings.insert(.priorityMissing) }
    if context.priority == .passive { warnings.insert(.priorityPassive) }
    if facts.event == .update, facts.alert.isPresent, !facts.isAlertEmpty { warnings.insert(.alertInUpdate) }
    if facts.hasUnknownAlertKeys { warnings.insert(.unusedAlertKeys) }
    if facts.alertSoundSaysNone { warnings.insert(.soundNamesNoFile) }
    if facts.keys.contains(.contentChanged) { warnings.insert(.contentChangedWithoutReload) }
    if facts.hasCustomKeys { warnings.insert(.customKeys) }
    if facts.hasUnknownKeys || !facts.keys.isDisjoint(with: isStart ? .alertOnly : .alertOrStart) { warnings.insert(.unusedAPSKeys) }
    return warnings
  }

  /// A plain update gives way to newer state; one with an alert does not, since the alert would be lost with it.
  static func traits(_ facts: PayloadFacts, isSound: Bool) -> PushTraits {
    let hasState = facts.contentState.kind == .object
    let hasAlert = facts.alert.isPresent
    var lane = LaneClass.keep
    if isSound, hasState {
      if facts.event == .update, !hasAlert { lane = .activityUpdate }
      if facts.event == .end { lane = .activityEndWithState }
    }
    return PushTraits(
      lane: lane, activity: facts.event, hasContentState: hasState, hasAlert: hasAlert,
      timestamp: wholeSeconds(facts.timestamp) ?? 0)
  }

  /// The value as whole seconds, or nil when it is no number or has a fraction.
  static func wholeSeconds(_ value: PayloadFacts.Value) -> Int64? {
    guard value.kind == .number, value.number.magnitude < 0x1p62 else { return nil }
    let seconds = Int64(value.number)
    return Double(seconds) == value.number ? seconds : nil
  }

  private static func timestampWarnings(_ facts: PayloadFacts, _ now: Instant) -> PushWarnings {
    guard facts.timestamp.isPresent else { return PushWarnings(.timestampMissing) }
    guard let seconds = wholeSeconds(facts.timestamp) else { return PushWarnings(.timestampNotWholeSeconds) }
    if seconds >= UnixTime.leastMilliseconds { return PushWarnings(.timestampInMilliseconds) }
    if seconds > now.unixSeconds + Limits.activityTimestampAheadSeconds { return PushWarnings(.timestampInFuture) }
    // A start may carry any past time, and an end is applied whatever its age.
    let isOld = facts.event == .update && seconds < now.unixSeconds - Limits.activitySeconds
    return isOld ? PushWarnings(.timestampOld) : []
  }

  private static func stateWarnings(_ facts: PayloadFacts, isStart: Bool) -> PushWarnings {
    var warnings: PushWarnings = []
    if facts.contentState.isPresent {
      if facts.contentState.kind != .object { warnings.insert(.contentStateNotAnObject) }
    } else if isStart || facts.event == .update {
      warnings.insert(.contentStateMissing)
    }
    if isStart {
      if facts.attributesType.kind != .string || facts.attributesType.text.isEmpty { warnings.insert(.attributesTypeMissing) }
      if facts.isAttributesTypeQualified { warnings.insert(.qualifiedAttributesType) }
      if facts.attributes.kind != .object { warnings.insert(.attributesMissing) }
      if facts.alert.kind != .object || facts.isAlertEmpty { warnings.insert(.startWithoutAlert) }
    } else {
      if facts.alert.isPresent, facts.alert.kind != .object { warnings.insert(.alertNotAnObject) }
      if facts.attributes.isPresent || facts.attributesType.isPresent { warnings.insert(.attributesAfterStart) }
    }
    return warnings
  }

  private static func dateWarnings(_ facts: PayloadFacts, _ now: Instant) -> PushWarnings {
    var warnings: PushWarnings = []
    if let warning = dateWarning(facts.staleDate) { warnings.insert(warning) }
    if let warning = dateWarning(facts.dismissalDate) { warnings.insert(warning) }
    guard facts.dismissalDate.isPresent else { return warnings }
    if facts.event == .start || facts.event == .update { warnings.insert(.dismissalWithoutEnd) }
    let latest = now.unixSeconds + Limits.dismissalSeconds
    if facts.event == .end, dateWarning(facts.dismissalDate) == nil, facts.dismissalDate.number > Double(latest) {
      warnings.insert(.dismissalBeyondFourHours)
    }
    return warnings
  }

  /// What is wrong with an optional date, or nil.
  static func dateWarning(_ value: PayloadFacts.Value) -> PushWarning? {
    guard value.isPresent else { return nil }
    guard value.kind == .number else { return .dateNotANumber }
    return value.number >= Double(UnixTime.leastMilliseconds) ? .dateInMilliseconds : nil
  }

  /// What only a start is asked: how the activity is to take its updates.
  private static func inputPushWarnings(_ facts: PayloadFacts) -> PushWarnings {
    var warnings: PushWarnings = []
    let (token, channel) = (facts.inputPushToken, facts.inputPushChannel)
    if token.isPresent, token.kind != .number || token.number != 1 { warnings.insert(.inputPushTokenNotOne) }
    if channel.isPresent, facts.channel == nil { warnings.insert(.inputPushChannelNotAString) }
    if token.isPresent, channel.isPresent { warnings.insert(.inputPushTokenAndChannel) }
    return warnings
  }
}
