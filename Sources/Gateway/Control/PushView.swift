import Control
import JSON
import Primitives
import Push
import Storage

extension PushRecord {
  /// The push as the control side shows it: what became of it, why, and what to do.
  var json: JSONValue {
    let remedy = Remedy(disposition, cause: cause, reason: reason)
    var object: JSONObject = ["id": .string(id.description)]
    object["token"] = token.map { .string($0.hex) }
    if !bundleID.isEmpty { object["bundleID"] = .string(bundleID) }
    object["type"] = type.map { .string($0.description) }
    object["priority"] = priority.map { .integer(Int64($0.rawValue)) }
    object["received"] = received.json
    switch expiration {
    case .absent: break
    case .zero: object["expiration"] = .integer(0)
    case .at(let date):
      // A date beyond what the log can hold is one in milliseconds, and stands for as long as anything is kept.
      let isHeld = date.unixSeconds < Int64(UInt32.max)
      object["expiration"] = (isHeld ? date : received + .seconds(Limits.storageSeconds)).dueJSON
    }
    object["collapseID"] = collapseID.map(JSONValue.string)
    if status != 0 { object["status"] = .integer(Int64(status)) }
    object["reason"] = reason.map { .string($0.description) }
    object["upstreamStatus"] = upstreamStatus.map { .integer(Int64($0)) }
    object["disposition"] = .string(disposition.name)
    if cause != .none { object["cause"] = .string(cause.name) }
    // Which value of a key that stands twice the device took is not known.
    let isDoubtful = warnings.contains(.duplicateKeys) && remedy.certainty == .known && [.applied, .ignored].contains(disposition)
    object["certainty"] = .string((isDoubtful ? Certainty.likely : remedy.certainty(of: detail)).name)
    object["happened"] = .string(happened ?? remedy.happened)
    object["remedy"] = .string(namedFix ?? remedy.advice)
    object["detail"] = (detail ?? passed).map(JSONValue.string)
    object["mergedInto"] = mergedInto.map { .string($0.description) }
    switch errand {
    case .reload(let id): object["reload"] = .string(id.description)
    case .activity(let name): object["activity"] = .string(name)
    case nil: break
    }
    if let lowering, wasSent {
      var lowered: JSONObject = ["priority": 5, "allowance": .integer(Int64(lowering.allowance))]
      lowered["burst"] = .integer(Int64(lowering.burst))
      lowered["windowSeconds"] = lowering.window.jsonSeconds
      lowered["nextCredit"] = lowering.nextCredit.map(\.dueJSON)
      lowered["sentence"] = .string(lowering.sentence)
      object["lowered"] = .object(lowered)
    }
    if isSentAgain { object["atLeastOnce"] = true }
    object["warnings"] = warnings.json(warningDetails)
    object["steps"] = .array(steps.map(\.json))
    // One that is no JSON, which the rules may let pass as Apple does, as the text that it is.
    object["payload"] = payload.map { bytes in
      (try? JSONValue.parse(bytes)) ?? .string(String(decoding: bytes, as: UTF8.self))
    }
    return .object(object)
  }
}

extension PushRecord {
  /// The push as an access token may see it. Whose a token is that another app sent to is told only to who sees every app, and so is what
  /// was wrong with a request that only its token makes one of this app: that may name the apps and keys of its sender.
  func shown(to grant: Grant) -> PushRecord {
    guard cause == .otherApp || isOfTokensApp, grant.bundleIDs != nil else { return self }
    var push = self
    push.detail = nil
    return push
  }

  /// What happened to the very push, where that is known better than of every push with its cause.
  private var happened: String? {
    guard cause == .supersededByNewer else { return nil }
    switch (type, collapseID) {
    case (.liveactivity, nil): return "A newer update of the activity, or its end, came before this one was sent."
    case (.background, nil): return "A newer background push came before this one was sent."
    case (.liveactivity, let id?), (.background, let id?):
      return "A newer push came before this one was sent, which has the apns-collapse-id \(id) as well or shows a later state."
    case (_, let id?): return "A newer push with the same apns-collapse-id \(id) came before this one was sent."
    case (_, nil): return nil
    }
  }

  /// Whether it has gone to its upstream, so that the priority with which it went can be told.
  private var wasSent: Bool {
    switch disposition {
    case .forwarding, .accepted, .applied, .ignored: true
    case .failed: cause != .registrationRemoved && cause != .reset
    case .refused, .waiting, .merged, .expired: false
    }
  }

  /// How long before the push came its date had passed; nil where it had not.
  private var passedBefore: Int64? {
    guard case .at(let date) = expiration, date <= received else { return nil }
    return received.unixSeconds - date.unixSeconds
  }

  /// Which date it was that had passed, where that ended the push.
  private var passed: String? {
    guard cause == .expirationPassed, case .at(let date) = expiration else { return nil }
    return "apns-expiration is \(date) by the gateway's clock, \(date.unixSeconds) in Unix seconds"
  }

  /// What is known to be right for the very token or payload; nil where only what holds for every one is known.
  private var namedFix: String? {
    if cause == .payloadNotUnderstood, warnings.firstRefused != nil {
      let sentences = warnings.all.filter(\.isRefusedInStrict).map(\.sentence).joined(separator: " ")
      return "\(sentences) With the app's validation set to strict, the gateway refuses such a payload at once."
    }
    if disposition == .expired, cause != .expirationPassed, let seconds = passedBefore {
      return
        "apns-expiration had passed \(seconds) s before the push came, so it was tried once at most and not kept: send a later date, or none, and see that the sender's clock is right and the upstream runs."
    }
    if let detail, let advice = cause.advice(detail: detail) { return advice }
    guard cause == .otherKind || cause == .otherApp || cause == .tokenUnknown, let detail, let first = detail.first else { return nil }
    return first.uppercased() + detail.dropFirst() + "."
  }
}

extension PushWarnings {
  /// The warnings as the control side shows them, each with its field and detail where those are known; nil where there are none.
  func json(_ details: [WarningDetail]) -> JSONValue? {
    guard !isEmpty else { return nil }
    return .array(
      all.map { warning in
        var object: JSONObject = ["code": .string(warning.name), "message": .string(warning.sentence)]
        if let told = details.first(where: { $0.warning == warning }) {
          object["field"] = .string(told.field)
          object["detail"] = .string(told.detail)
        }
        return .object(object)
      })
  }
}

extension PushRecord.Step {
  /// The step as it stands in a push.
  var json: JSONValue {
    var object: JSONObject = ["at": at.json, "disposition": .string(disposition.name)]
    if cause != .none { object["cause"] = .string(cause.name) }
    object["budgetBefore"] = budgetBefore.map { .integer(Int64($0)) }
    object["budgetAfter"] = budgetAfter.map { .integer(Int64($0)) }
    object["attempt"] = attempt.map { .integer(Int64($0)) }
    let remedy = Remedy(disposition, cause: cause)
    object["certainty"] = .string(remedy.certainty.name)
    object["happened"] = .string(remedy.happened)
    object["remedy"] = .string(remedy.advice)
    return .object(object)
  }
}

extension BudgetReport {
  /// The budget as the control side shows it; `index` is its place among the token's.
  func json(index: Int) -> JSONValue {
    var object: JSONObject = ["index": .integer(Int64(index))]
    object["budget"] = .string(kind.rawValue)
    object["widget"] = widget.map(\.json)
    object["allowance"] = .integer(Int64(allowance))
    object["burst"] = .integer(Int64(burst))
    object["intervalSeconds"] = interval.jsonSeconds
    object["minimumIntervalSeconds"] = minimumInterval.jsonSeconds
    object["remaining"] = .integer(Int64(remaining))
    object["binds"] = .bool(binds)
    object["payableAt"] = payableAt.dueJSON
    object["nextCredit"] = nextCredit.map(\.dueJSON)
    object["lastCharge"] = lastCharge.map(\.json)
    return .object(object)
  }
}
