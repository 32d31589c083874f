public import JSON
import Primitives
import Push

extension FaultSpecification {
  /// Reads `{"match", "then", "times", "probability", "seed"}`; throws for the first field that is of the wrong form or unknown.
  public init(_ reader: inout JSONReader) throws(FieldError) {
    var match = FaultMatch()
    if var fields = try reader.optionalObject("match") {
      if let text = try fields.optionalString("token") {
        guard let token = DeviceToken(hex: text) else {
          throw fields.error("token", "must be a whole push token in hexadecimal, not \"\(text.prefix(32))\"")
        }
        match.token = token
      }
      match.bundleID = try fields.optionalString("bundleID")
      if let bundleID = match.bundleID, !(1...Limits.bundleIDBytes).contains(bundleID.utf8.count) {
        throw fields.error("bundleID", "must be a bundle id such as com.example.app")
      }
      let types = PushType.allCases.map(\.description)
      match.type = try fields.optionalChoice("type", of: types).flatMap { name in PushType.allCases.first { $0.description == name } }
      try fields.finish()
    }
    guard var then = try reader.optionalObject("then") else {
      throw reader.error("then", "is missing; it must be an object such as {\"status\": 503}")
    }
    let latency = try Self.latency(&then)
    let action = try Self.action(&then, hasLatency: latency != nil)
    try then.finish()
    let times = try reader.optionalInteger("times", in: 1...1_000_000_000)
    let probability = try reader.optionalNumber("probability", in: 0...1) ?? 1
    guard probability > 0 else { throw reader.error("probability", "must be more than 0, else the fault strikes nothing") }
    let seed = try reader.optionalInteger("seed", in: 0...Int64.max)
    self.init(
      action, match: match, latency: latency, times: times.map { Int($0) }, probability: probability, seed: seed.map { UInt64($0) })
  }

  private static func latency(_ then: inout JSONReader) throws(FieldError) -> FaultLatency? {
    let name = "delayMilliseconds"
    guard let value = then.optionalValue(name) else { return nil }
    let form = "must be 1 to \(Limits.faultDelayMilliseconds), {\"from\", \"to\"} or {\"median\", \"p99\"}"
    func span(_ value: JSONValue?) -> TimeSpan? {
      guard let number = value?.doubleValue, (0...Double(Limits.faultDelayMilliseconds)).contains(number) else { return nil }
      return TimeSpan(nanoseconds: Int64(number * 1e6))
    }
    if value.isNumber {
      guard let fixed = span(value), fixed > .zero else { throw then.error(name, form) }
      return .fixed(fixed)
    }
    guard value.objectValue != nil else { throw then.error(name, form) }
    var fields = try JSONReader(value, at: "then.\(name)")
    let (from, to) = (span(fields.optionalValue("from")), span(fields.optionalValue("to")))
    let (median, p99) = (span(fields.optionalValue("median")), span(fields.optionalValue("p99")))
    try fields.finish()
    switch (from, to, median, p99) {
    case (let from?, let to?, nil, nil) where from <= to: return .uniform(from: from, to: to)
    case (nil, nil, let median?, let p99?) where median > .zero && median < p99: return .logNormal(median: median, p99: p99)
    default: throw then.error(name, form)
    }
  }

  /// What `then` has besides a latency: one thing, or nothing where there is a latency.
  private static func action(_ then: inout JSONReader, hasLatency: Bool) throws(FieldError) -> FaultAction {
    var actions: [(field: String, action: FaultAction)] = []
    if let answer = try answer(&then) { actions.append(("status", answer)) }
    if let value = then.optionalValue("goaway") {
      switch (value.boolValue, value.stringValue) {
      case (true?, _), (_, "before"?): actions.append(("goaway", .goAway(isAnswered: false)))
      case (_, "after"?): actions.append(("goaway", .goAway(isAnswered: true)))
      default: throw then.error("goaway", "must be true, \"before\" (the push is not done) or \"after\" (it is)")
      }
    }
    if let value = then.optionalValue("reset") {
      let code = value.boolValue == true ? "INTERNAL_ERROR" : value.stringValue ?? ""
      let known = FaultAction.resetCodes
      guard let found = known.first(where: { $0.name == code }) else {
        throw then.error("reset", "must be true (INTERNAL_ERROR) or one of \(known.map { "\"\($0.name)\"" }.joined(separator: ", "))")
      }
      actions.append(("reset", .reset(code: found.code)))
    }
    if let count = try then.optionalInteger("concurrentStreams", in: 1...Int64(Limits.concurrentStreams)) {
      actions.append(("concurrentStreams", .concurrentStreams(Int(count))))
    }
    if try flag("close", &then) { actions.append(("close", .close)) }
    if try flag("stall", &then) { actions.append(("stall", .stall)) }
    if let value = then.optionalValue("outage") {
      if value.boolValue == true {
        actions.append(("outage", .outage(nil)))
      } else {
        guard value.objectValue != nil else { throw then.error("outage", "must be true or {\"milliseconds\": N}") }
        var fields = try JSONReader(value, at: "then.outage")
        let span = try fields.integer("milliseconds", in: 1...Limits.faultOutageMilliseconds)
        try fields.finish()
        actions.append(("outage", .outage(.milliseconds(span))))
      }
    }
    if actions.count > 1 {
      throw then.error(
        actions[1].field, "does not go with then.\(actions[0].field); a fault does one thing, and may have delayMilliseconds")
    }
    guard let action = actions.first?.action else {
      if hasLatency { return .passes }
      let known = "status, delayMilliseconds, goaway, reset, concurrentStreams, close, stall or outage"
      try then.finish()
      throw FieldError(field: "then", message: "then must have one of \(known)")
    }
    return action
  }

  private static func flag(_ name: String, _ then: inout JSONReader) throws(FieldError) -> Bool {
    guard let value = try then.optionalBool(name) else { return false }
    guard value else { throw then.error(name, "must be true, or be left out") }
    return true
  }

  /// A reason gives its status, and a status its commonest reason.
  private static func answer(_ then: inout JSONReader) throws(FieldError) -> FaultAction? {
    let status = try then.optionalInteger("status", in: 0...999).map { Int($0) }
    let name = try then.optionalString("reason")
    let timestamp = try then.optionalInteger("timestamp", in: 0...Int64.max / 1_000_000)
    let reason: Reason
    switch (status, name) {
    case (nil, nil):
      guard timestamp == nil else { throw then.error("timestamp", "goes with \"status\": 410") }
      return nil
    case (let status, let name?):
      guard let found = Reason(name) else {
        let hint = nearestName(to: name, among: Reason.allCases.map(\.description)).map { "; did you mean \"\($0)\"?" } ?? ""
        throw then.error("reason", "must be one of Apple's reasons, such as \"Unregistered\", not \"\(name.prefix(64))\"\(hint)")
      }
      if let status, status != found.status {
        throw then.error("status", "must be \(found.status) with the reason \(found), or be left out, not \(status)")
      }
      reason = found
    case (let status?, nil):
      guard let found = Reason(commonestOf: status) else {
        throw then.error("status", "must be one that Apple answers with: 400, 403, 404, 405, 410, 413, 429, 500 or 503, not \(status)")
      }
      reason = found
    }
    guard timestamp == nil || reason.status == 410 else { throw then.error("timestamp", "goes with \"status\": 410") }
    return .answer(reason, timestamp: timestamp.map { Instant(unixMilliseconds: $0) })
  }
}

extension Reason {
  /// The reason that an answer of that status mostly has; nil where Apple has no such status.
  fileprivate init?(commonestOf status: Int) {
    switch status {
    case 400: self = .badDeviceToken
    case 403: self = .invalidProviderToken
    case 404: self = .badPath
    case 405: self = .methodNotAllowed
    case 410: self = .unregistered
    case 413: self = .payloadTooLarge
    case 429: self = .tooManyRequests
    case 500: self = .internalServerError
    case 503: self = .serviceUnavailable
    default: return nil
    }
  }
}
