import JSON
import Primitives
import Push

/// What payloads have had in them when nothing happened on the device, where the rules alone cannot tell: mostly mistakes, at times meant.
struct PayloadHabits {
  let payload: JSONValue
  /// What of the payload is known.
  let template: PayloadTemplate
  let type: PushType
  let request: LintedRequest
  let now: Instant

  /// Every rule of these.
  static let ruleNames = [
    "otherService", "outsideAPS", "startNotStored", "startNotCollapsed", "snakeCaseKey", "unreadKey", "unixDate",
    "dateAsText",
    Cause.contentStateNotDecodable.name, Cause.attributesNotDecodable.name,
  ]

  var findings: [LintFinding] {
    let all = foreignForm + misplaced + starts + (schemas.map(judged) ?? contentState)
    return all.filter { ["snakeCaseKey", "unreadKey"].contains($0.rule) || template.unknown[$0.field] != .value }
  }

  /// The schemas of the type that a start names, or the only ones.
  private var schemas: ActivitySchemas? {
    let named = payload["aps"]?["attributes-type"]?.stringValue.flatMap { request.schemas.schemas(of: $0) }
    return named ?? request.schemas.schemas(of: "") ?? (request.schemas.count == 1 ? request.schemas[0] : nil)
  }

  /// What the schemas say, which know better than habit what is a date: all of it, in the order of the payload.
  private func judged(_ schemas: ActivitySchemas) -> [LintFinding] {
    guard type == .liveactivity, let aps = payload["aps"] else { return [] }
    func judged(_ key: String, by schema: CodableSchema) -> [LintFinding] {
      guard let value = aps[key] else { return [] }
      let filled = template.filling(value, at: "aps.\(key)", for: schema, now: now)
      // Where a shell puts in members, the very key may be among them.
      let mismatches = schema.mismatches(in: filled, at: "aps.\(key)", now: now) { !template.hasUnknownMembers.contains($0) }
      return mismatches.map(finding)
    }
    let keys = aps.objectValue?.keys ?? []
    return keys.flatMap { key -> [LintFinding] in
      switch key {
      case "attributes" where aps["event"] == "start": schemas.attributes.map { judged(key, by: $0) } ?? []
      case "content-state": schemas.contentState.map { judged(key, by: $0) } ?? contentState
      default: []
      }
    }
  }

  private func finding(_ mismatch: CodableMismatch) -> LintFinding {
    switch mismatch.consequence {
    case .fails: LintFinding(.ignored, mismatch.cause.name, mismatch.path, mismatch.message)
    case .misreads: LintFinding(.misread, PushWarning.dateMisread.name, mismatch.path, mismatch.message)
    case .leavesUnread:
      warning(
        mismatch.path.split(separator: ".").last?.contains("_") == true ? "snakeCaseKey" : "unreadKey", mismatch.path, mismatch.message)
    }
  }

  /// The form of another push service, which APNs takes for custom keys.
  private var foreignForm: [LintFinding] {
    guard payload["aps"] == nil, !template.hasUnknownMembers.contains(""), let object = payload.objectValue,
      let key = ["message", "notification", "registration_ids", "to"].first(where: { object[$0] != nil })
    else { return [] }
    return [
      warning("otherService", key, "\(key) is a key of another push service's requests; APNs finds what it does in aps, beside no envelope")
    ]
  }

  /// Keys that stand beside `aps` and belong in it.
  private var misplaced: [LintFinding] {
    // They may stand in aps as well.
    guard let object = payload.objectValue, template.unknown["aps"] == nil, !template.hasUnknownMembers.contains("aps") else { return [] }
    let keys: [String]
    switch type {
    case .widgets, .controls: keys = ["content-changed"]
    case .liveactivity:
      keys = ["event", "timestamp", "content-state", "attributes-type", "attributes", "stale-date", "dismissal-date"]
    default: return []
    }
    return keys.filter { object[$0] != nil && payload["aps"]?[$0] == nil }.map { key in
      LintFinding(.ignored, "outsideAPS", key, "\(key) stands beside aps, where the device does not look for it; put it into aps")
    }
  }

  private var starts: [LintFinding] {
    guard type == .liveactivity, payload["aps"]?["event"]?.stringValue == "start" else { return [] }
    var findings: [LintFinding] = []
    if let name = payload["aps"]?["attributes-type"]?.stringValue, template.unknown["aps.attributes-type"] == nil, schemas == nil,
      !request.schemas.isEmpty, let complaint = request.schemas.complaint(about: name)
    {
      findings.append(warning(PushWarning.unknownAttributesType.name, "aps.attributes-type", complaint))
    }
    guard request.isWhole else { return findings }
    if request.header("apns-expiration")?.value == "0" {
      findings.append(
        warning(
          "startNotStored", "apns-expiration",
          "with 0 a start is lost when the device is out of reach for a moment; send a time some minutes ahead"))
    }
    if request.header("apns-collapse-id") == nil, !request.mayHaveMore {
      findings.append(
        warning(
          "startNotCollapsed", "apns-collapse-id",
          "a start that is sent again begins a second activity; send the same apns-collapse-id with each attempt"))
    }
    return findings
  }

  /// What does not decode as people expect it to.
  private var contentState: [LintFinding] {
    guard type == .liveactivity, let state = payload["aps"]?["content-state"] else { return [] }
    var findings: [LintFinding] = []
    walk(state, "aps.content-state", depth: 0, &findings)
    return findings
  }

  private func walk(_ value: JSONValue, _ path: String, depth: Int, _ findings: inout [LintFinding]) {
    guard depth < Limits.jsonDepth else { return }
    for (index, element) in (value.arrayValue ?? []).enumerated() { walk(element, "\(path)[\(index)]", depth: depth + 1, &findings) }
    for (key, member) in value.objectValue.map({ object in object.keys.map { ($0, object[$0]!) } }) ?? [] {
      let field = "\(path).\(key)"
      if key.contains("_") {
        findings.append(
          warning(
            "snakeCaseKey", field,
            "\(key) is in snake case; the device decodes keys as they are named in Swift, \(Self.camelCase(key)), with no strategy of your own"
          ))
      }
      if let number = member.doubleValue, Self.isDateName(key) { date(number, field, &findings) }
      if let text = member.stringValue, Self.isDateText(text) {
        findings.append(
          warning(
            "dateAsText", field,
            "\"\(text)\" does not decode into a Date, and then nothing of the content-state does; send seconds since 2001"))
      }
      walk(member, field, depth: depth + 1, &findings)
    }
  }

  private func date(_ number: Double, _ field: String, _ findings: inout [LintFinding]) {
    guard number >= 1_400_000_000, number < 2_400_000_000 || number >= 1_400_000_000_000 && number < 2_400_000_000_000 else { return }
    let seconds = number >= 1_400_000_000_000 ? number / 1000 : number
    let right = Int64(seconds) - 978_307_200
    findings.append(
      warning(
        "unixDate", field,
        "\(Int64(number)) is Unix time\(seconds == number ? "" : " in milliseconds"); if this is a Swift Date, it shows a time \(seconds == number ? "31 years ahead" : "far ahead"), so send \(right)"
      ))
  }

  private func warning(_ rule: String, _ field: String, _ message: String) -> LintFinding { LintFinding(.warning, rule, field, message) }

  private static func camelCase(_ key: String) -> String {
    let words = key.split(separator: "_")
    return words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
  }

  /// Whether a key names a point in time.
  private static func isDateName(_ key: String) -> Bool {
    let name = key.lowercased()
    return ["date", "time", "eta", "start", "end", "until", "since", "deadline", "arriv", "depart", "expire"].contains {
      name.contains($0)
    } || name.hasSuffix("at")
  }

  /// Whether the text is a date such as 2026-11-30 or 2026-11-30T08:00:00Z.
  private static func isDateText(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return false }
    let digits = [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
    return digits && (bytes.count == 10 || bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "))
  }
}

extension PushWarning {
  /// What a warning is about whose payload does not tell it.
  var field: String {
    switch self {
    case .pushTypeMissing: "apns-push-type"
    case .priorityMissing, .priorityPassive, .backgroundAtTen: "apns-priority"
    case .collapseIDMissing: "apns-collapse-id"
    case .expirationInMilliseconds, .expirationRelative, .expirationPassed: "apns-expiration"
    case .customKeys: "body"
    default: "aps"
    }
  }
}
