public import JSON
import Primitives
import Push

extension FaultRule {
  /// The rule as the control side shows it: what was asked for, and what it has done.
  public var json: JSONValue {
    var object: JSONObject = ["id": .integer(Int64(id))]
    var match: JSONObject = [:]
    match["token"] = specification.match.token.map { .string($0.hex) }
    match["bundleID"] = specification.match.bundleID.map { .string($0) }
    match["type"] = specification.match.type.map { .string($0.description) }
    object["match"] = .object(match)
    object["then"] = .object(then)
    object["times"] = specification.times.map { .integer(Int64($0)) }
    object["probability"] = .number(specification.probability)
    object["seed"] = .integer(Int64(clamping: seed))
    object["matched"] = .integer(Int64(matched))
    object["applied"] = .integer(Int64(applied))
    object["spent"] = .bool(isSpent)
    return .object(object)
  }

  private var then: JSONObject {
    var then: JSONObject = [:]
    switch specification.latency {
    case .fixed(let span)?: then["delayMilliseconds"] = span.jsonMilliseconds
    case .uniform(let from, let to)?: then["delayMilliseconds"] = ["from": from.jsonMilliseconds, "to": to.jsonMilliseconds]
    case .logNormal(let median, let p99)?:
      then["delayMilliseconds"] = ["median": median.jsonMilliseconds, "p99": p99.jsonMilliseconds]
    case nil: break
    }
    switch specification.action {
    case .passes: break
    case .answer(let reason, let timestamp):
      then["status"] = .integer(Int64(reason.status))
      then["reason"] = .string(reason.description)
      then["timestamp"] = timestamp.map { .integer($0.unixMilliseconds) }
    case .goAway(let isAnswered): then["goaway"] = .string(isAnswered ? "after" : "before")
    case .reset(let code): then["reset"] = .string(FaultAction.resetCodes.first { $0.code == code }?.name ?? "\(code)")
    case .concurrentStreams(let count): then["concurrentStreams"] = .integer(Int64(count))
    case .close: then["close"] = true
    case .stall: then["stall"] = true
    case .outage(let span?): then["outage"] = ["milliseconds": .integer(span.milliseconds)]
    case .outage(nil): then["outage"] = true
    }
    return then
  }
}

extension TimeSpan {
  /// Whole milliseconds as an integer, others as they are.
  fileprivate var jsonMilliseconds: JSONValue {
    nanoseconds % 1_000_000 == 0 ? .integer(nanoseconds / 1_000_000) : .number(Double(nanoseconds) / 1e6)
  }
}
