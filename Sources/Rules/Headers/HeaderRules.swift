import Primitives
import Push

/// The headers that have a syntax of their own, in the order in which they are checked (apns.md sections 2.1 and 5.3).
struct HeaderRules {
  var id: PushID?
  var expiration = Expiration.absent
  /// What is odd about the date.
  var expirationWarning: PushWarning?
  var priority: Priority?
  /// Empty when absent.
  var collapseID = ByteRange.empty
  var type: PushType?

  static func check(_ fields: RequestFields, _ headers: RawSpan, _ answers: ProviderAnswers) throws(Violation) -> HeaderRules {
    var values = HeaderRules()
    if let range = fields.apnsID { values.id = try id(headers[range], answers.messageIDCase) }
    if let range = fields.expiration { (values.expiration, values.expirationWarning) = try expiration(headers[range]) }
    if let range = fields.priority { values.priority = try priority(headers[range]) }
    if let range = fields.collapseID {
      guard range.count <= Limits.collapseIDBytes else {
        throw Violation(
          .badCollapseID, "apns-collapse-id", "apns-collapse-id must have at most \(Limits.collapseIDBytes) bytes, not \(range.count)")
      }
      values.collapseID = range
    }
    if let range = fields.pushType { values.type = try knownType(headers[range]) }
    if values.type == .background, values.priority == .immediate, answers.backgroundAtTen == .refuse {
      throw backgroundAtTen
    }
    return values
  }

  /// Source: Apple, "Sending notification requests to APNs": 10 for a push that has only `content-available` is an error.
  static var backgroundAtTen: Violation {
    Violation(.badPriority, "apns-priority", "apns-priority must be 5 with apns-push-type background, not 10")
  }

  /// The push type that the request states, if it is one; nil leaves it to `check` to say what is wrong.
  static func statedType(_ fields: RequestFields, _ headers: RawSpan) -> PushType? { fields.pushType.flatMap { pushType(headers[$0]) } }

  /// The type whose wire text is `text`, in exactly its lower case; nil for any other.
  static func pushType(_ text: RawSpan) -> PushType? {
    let candidates: (PushType, PushType, PushType)
    switch text.byteCount {
    case 3: candidates = (.mdm, .mdm, .mdm)
    case 4: candidates = (.voip, .voip, .voip)
    case 5: candidates = (.alert, .alert, .alert)
    case 7: candidates = (.widgets, .widgets, .widgets)
    case 8: candidates = (.controls, .location, .location)
    case 10: candidates = (.background, .pushtotalk, .pushtotalk)
    case 12: candidates = (.liveactivity, .complication, .fileprovider)
    default: return nil
    }
    if text.equals(candidates.0.text) { return candidates.0 }
    if text.equals(candidates.1.text) { return candidates.1 }
    return text.equals(candidates.2.text) ? candidates.2 : nil
  }

  private static func id(_ text: RawSpan, _ letterCase: ProviderAnswers.MessageIDCase) throws(Violation) -> PushID {
    guard let id = PushID(text: text) else {
      throw Violation(
        .badMessageID, "apns-id", "apns-id must be a UUID such as eabeae54-14a8-11e5-b60b-1697f925ec7b, not \(text.quoted)")
    }
    guard letterCase == .any || id.upperCase == 0 else {
      throw Violation(.badMessageID, "apns-id", "apns-id must be in lower case, not \(text.quoted)")
    }
    return id
  }

  /// The value of `apns-expiration`, and whether it must have been written in milliseconds, or as seconds from now.
  static func expiration(_ text: RawSpan) throws(Violation) -> (Expiration, PushWarning?) {
    let seconds = try expirationSeconds(text)
    if seconds == 0 { return (.zero, nil) }
    let expiration = Expiration.at(Instant(unixSeconds: seconds))
    if seconds >= UnixTime.leastMilliseconds { return (expiration, .expirationInMilliseconds) }
    return (expiration, seconds <= Limits.storageSeconds ? .expirationRelative : nil)
  }

  /// What warns of a date that has passed by the sender's clock.
  static func passed(_ expiration: Expiration, now: Instant) -> PushWarning? {
    guard case .at(let date) = expiration, date <= now else { return nil }
    return .expirationPassed
  }

  /// A fraction has been seen to be refused, and dates in the past to be accepted.
  private static func expirationSeconds(_ text: RawSpan) throws(Violation) -> Int64 {
    var seconds: Int64 = 0
    var isNumber = !text.isEmpty && text.byteCount <= 18
    for index in 0..<text.byteCount where isNumber {
      let byte = text.byte(index)
      isNumber = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
      if isNumber { seconds = seconds * 10 + Int64(byte - UInt8(ascii: "0")) }
    }
    guard isNumber else {
      throw Violation(
        .badExpirationDate, "apns-expiration",
        "apns-expiration must be a whole number of Unix seconds such as 1700000000, or 0, not \(text.quoted)")
    }
    return seconds
  }

  /// The warning about a date, with the value in question and the right one.
  static func detail(_ warning: PushWarning, of text: RawSpan, now: Instant) -> WarningDetail {
    let value = text.string
    let seconds = (try? expirationSeconds(text)) ?? 0
    let detail =
      warning == .expirationInMilliseconds
      ? "apns-expiration must be in seconds, \(seconds / 1000), not in milliseconds (\(value))"
      : warning == .expirationPassed
        ? "apns-expiration \(value) (\(Instant(unixSeconds: seconds).wholeSeconds)) had passed \(now.unixSeconds - seconds) s before it came: it is tried once at most; send a later time, now \(now.unixSeconds), or leave the header out"
        : "apns-expiration is a Unix time in seconds; \(value) is \(Instant(unixSeconds: seconds).wholeSeconds), long past; send now + \(value), at present \(now.unixSeconds + seconds)"
    return WarningDetail(warning, field: "apns-expiration", detail: detail)
  }

  /// The value of `apns-priority`.
  static func priority(_ text: RawSpan) throws(Violation) -> Priority {
    if text.equals("10") { return .immediate }
    if text.equals("5") { return .considerate }
    if text.equals("1") { return .passive }
    throw Violation(.badPriority, "apns-priority", "apns-priority must be 10, 5 or 1, not \(text.quoted)")
  }

  private static func knownType(_ text: RawSpan) throws(Violation) -> PushType {
    guard let type = pushType(text) else {
      let names = PushType.allCases.map(\.description)
      let hint = nearestName(to: text.string, among: names).map { "; did you mean \($0)?" } ?? ""
      throw Violation(
        .invalidPushType, "apns-push-type", "apns-push-type must be one of \(names.joined(separator: ", ")), not \(text.quoted)\(hint)")
    }
    return type
  }
}

extension Instant {
  /// The time in RFC 3339 form, to the second.
  var wholeSeconds: String { "\(Instant(unixSeconds: unixSeconds))".replacing(".000Z", with: "Z") }
}

/// Where Unix seconds end and milliseconds begin.
enum UnixTime {
  /// As seconds, a date in the year 5138; as milliseconds, one in 1973.
  static let leastMilliseconds: Int64 = 100_000_000_000
}
