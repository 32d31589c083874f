import JSON
public import Primitives
public import Push

extension RequestRules {
  /// What the warnings of a push are about, each by its key, header or date, in the order of the warnings.
  ///
  /// Made anew from the request, and only where there is such a warning: a push without any costs nothing here.
  ///
  /// - Parameters:
  ///   - fields: Where the headers stand in `headers`.
  ///   - headers: The header bytes that the ranges refer to.
  ///   - body: The whole body.
  ///   - now: The time by the sender's clock, as the push was judged by it.
  public func details(
    of push: ParsedPush, _ fields: RequestFields, headers: RawSpan, body: RawSpan, now: Instant
  ) -> [WarningDetail] {
    guard !push.warnings.isDisjoint(with: .withSubject) else { return [] }
    let context = PayloadContext(
      type: push.type, now: now, priority: push.prioritySent ? push.priority : nil, hasCollapseID: !push.collapseID.isEmpty,
      hasChannelID: fields.channelID != nil)
    var details = PayloadRules.details(of: push.warnings, body, context) + Self.expirationDetails(push.warnings, fields, headers, now)
    if push.warnings.contains(.unknownAttributesType), let detail = contentStates.unknownType(body, push.schemas) {
      details.append(WarningDetail(.unknownAttributesType, field: "aps.attributes-type", detail: detail))
    }
    if !push.warnings.isDisjoint(with: .ofSchemas), let problem = contentStates.problemOfStart(body, push.schemas, now: now) {
      details += problem.warnings
    }
    return details
  }

  /// The same for a broadcast.
  public func details(
    of push: BroadcastPush, _ fields: RequestFields, headers: RawSpan, body: RawSpan, now: Instant
  ) -> [WarningDetail] {
    guard !push.warnings.isDisjoint(with: .withSubject) else { return [] }
    let context = PayloadContext(broadcastAt: now, priority: push.prioritySent ? push.priority : nil)
    return PayloadRules.details(of: push.warnings, body, context) + Self.expirationDetails(push.warnings, fields, headers, now)
  }

  private static func expirationDetails(
    _ warnings: PushWarnings, _ fields: RequestFields, _ headers: RawSpan, _ now: Instant
  ) -> [WarningDetail] {
    guard let range = fields.expiration else { return [] }
    var details: [WarningDetail] = []
    for warning in [PushWarning.expirationInMilliseconds, .expirationRelative, .expirationPassed] where warnings.contains(warning) {
      details.append(HeaderRules.detail(warning, of: headers[range], now: now))
    }
    return details
  }
}
