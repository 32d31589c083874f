import Control
import Gateway
import HTTP2
import JSON
import Primitives
import Push
import Reactor
import Security
import Transport

/// What `dev` prints of an event: what happened, and what to do about it.
enum EventText {
  /// For people: a line, and its explanation below; nil where there is nothing to do.
  static func text(_ event: GatewayEvent, _ credentials: Credentials) -> String? {
    switch event {
    case .refused(let request):
      let remedy = Remedy(.refused, cause: request.cause, reason: request.reason)
      let type = request.type.map { "  \($0)" } ?? ""
      let token = request.token.map { "  token \(PushStory.shortened($0.hex))" } ?? ""
      let cause = request.detail.isEmpty ? remedy.happened : request.detail
      return lines("\(request.reason.status) \(request.reason)  apns-id \(request.id)\(type)\(token)", cause, remedy.advice)
    case .ignored(let push):
      let remedy = Remedy(.ignored, cause: push.cause)
      let id = push.id.map { "apns-id \($0)" } ?? "a broadcast"
      let token = push.token.map { "  token \(PushStory.shortened($0.hex))" } ?? ""
      return lines(
        "ignored (\(push.cause.name))  \(id)  \(push.type)\(token)",
        push.detail.isEmpty ? remedy.happened : "\(remedy.happened) \(push.detail)",
        push.cause.advice(detail: push.detail) == nil ? remedy.advice : nil)
    case .lowered(let push):
      let remedy = Remedy(.forwarding, cause: .priorityLowered)
      return lines(
        "sent at priority 5  apns-id \(push.id)  \(push.type)  token \(PushStory.shortened(push.token.hex))",
        push.detail, remedy.advice)
    case .warned(let push):
      let token = push.token.map { "  token \(PushStory.shortened($0.hex))" } ?? ""
      let kind = push.token == nil ? "a broadcast  apns-request-id" : "apns-id"
      return
        ([lines("warning  \(kind) \(push.id)  \(push.type)\(token)")]
        + push.details.map { "    \($0.detail.escapingSteering()) [\($0.warning.name)]" })
        .joined(separator: "\n")
    case .connectionFailed(let failure):
      let name = failure.serverName.map { ", which asked for \($0)" } ?? ""
      let advice = ConnectionAdvice.text(failure.end, credentials)
      return lines("connection from \(failure.peer)\(name): \(failure.end)", advice)
    case .malformed(let rejected):
      let name = rejected.serverName.map { ", which asked for \($0)" } ?? ""
      let others = rejected.others == 0 ? nil : "\(rejected.others) more were malformed meanwhile; /metrics counts them by kind."
      return lines("malformed request from \(rejected.peer)\(name): \(rejected.request)", rejected.request.advice, others)
    case .certificateRefused(let certificate):
      let name = certificate.serverName.map { ", which asked for \($0)" } ?? ""
      return lines(
        "connection from \(certificate.peer)\(name): GOAWAY \(certificate.reason)  certificate \(certificate.name)", certificate.detail,
        certificate.reason.remedy.advice)
    case .tooManyTokenUpdates(let peer):
      let remedy = Reason.tooManyProviderTokenUpdates.remedy
      return lines(
        "new provider tokens too often from \(peer); Apple's servers answer 429 \(Reason.tooManyProviderTokenUpdates)", remedy.advice)
    case .invalidProviderTokens(let peer):
      return lines(
        "connection from \(peer): GOAWAY after \(Limits.invalidProviderTokens) invalid provider tokens",
        Reason.invalidProviderToken.remedy.advice)
    case .upstreamFailed(let name, let address, let end):
      return lines("upstream \(name) cannot be reached at \(address): \(end)", "Its pushes wait and are tried again.")
    case .upstreamOpened: return nil
    case .storeFailed(let why):
      return lines("the store takes no pushes: \(why)", "Pushes are answered 503 until that is mended; then it goes on by itself.")
    case .storeRecovered: return "the store takes pushes again"
    case .storeWarning(let warning, let holds): return lines(holds ? "the store warns" : "a warning of the store is over", "\(warning)")
    case .clockSet(let leap):
      return lines(
        "the machine's clock was \(ClockWatch.text(of: leap))",
        "What waits for a while goes on; dates and budgets go by the new time, and budgets give no credit for a time that they have had.")
    case .adminCall(let call):
      return lines(
        "admin call: \(call.caller.isEmpty ? "nobody known" : call.caller)  \(call.method) \(call.path)  \(call.status)", call.problem)
    case .cannotSign(let upstream, let error): return lines("cannot sign for upstream \(upstream): \(error)", nil)
    }
  }

  /// For scripts: one JSON object; nil where people get nothing either.
  static func json(_ event: GatewayEvent, _ credentials: Credentials) -> JSONValue? {
    switch event {
    case .refused(let request):
      let remedy = Remedy(.refused, cause: request.cause, reason: request.reason)
      var object: JSONObject = [
        "event": "refused", "id": .string(request.id.description), "status": .integer(Int64(request.reason.status)),
        "reason": .string(request.reason.description),
      ]
      object["token"] = request.token.map { .string($0.hex) }
      object["type"] = request.type.map { .string($0.description) }
      if request.cause != .none { object["cause"] = .string(request.cause.name) }
      if !request.field.isEmpty { object["field"] = .string(request.field) }
      if !request.detail.isEmpty { object["detail"] = .string(request.detail) }
      object["happened"] = .string(remedy.happened)
      object["remedy"] = .string(remedy.advice)
      return .object(object)
    case .ignored(let push):
      let remedy = Remedy(.ignored, cause: push.cause)
      var object: JSONObject = [
        "event": "ignored", "type": .string(push.type.description), "cause": .string(push.cause.name),
      ]
      object["id"] = push.id.map { .string($0.description) }
      object["token"] = push.token.map { .string($0.hex) }
      if !push.detail.isEmpty { object["detail"] = .string(push.detail) }
      object["happened"] = .string(remedy.happened)
      object["remedy"] = .string(remedy.advice)
      return .object(object)
    case .lowered(let push):
      let remedy = Remedy(.forwarding, cause: .priorityLowered)
      return [
        "event": "lowered", "id": .string(push.id.description), "token": .string(push.token.hex), "type": .string(push.type.description),
        "cause": .string(Cause.priorityLowered.name), "detail": .string(push.detail), "happened": .string(remedy.happened),
        "remedy": .string(remedy.advice),
      ]
    case .warned(let push):
      var object: JSONObject = ["event": "warned", "id": .string(push.id.description), "type": .string(push.type.description)]
      object["token"] = push.token.map { .string($0.hex) }
      object["warnings"] = .array(
        push.details.map { ["code": .string($0.warning.name), "field": .string($0.field), "detail": .string($0.detail)] })
      return .object(object)
    case .connectionFailed(let failure):
      var object: JSONObject = [
        "event": "connectionFailed", "peer": .string(failure.peer.description), "happened": .string(failure.end.description),
      ]
      object["serverName"] = failure.serverName.map(JSONValue.string)
      object["remedy"] = ConnectionAdvice.text(failure.end, credentials).map(JSONValue.string)
      return .object(object)
    case .malformed(let rejected):
      var object: JSONObject = [
        "event": "malformedRequest", "peer": .string(rejected.peer.description), "fault": .string(rejected.request.fault.rawValue),
        "happened": .string(rejected.request.description), "remedy": .string(rejected.request.advice),
      ]
      if !rejected.request.field.isEmpty { object["field"] = .string(rejected.request.field) }
      if rejected.others > 0 { object["others"] = .integer(Int64(rejected.others)) }
      object["serverName"] = rejected.serverName.map(JSONValue.string)
      return .object(object)
    case .certificateRefused(let certificate):
      var object: JSONObject = [
        "event": "certificateRefused", "peer": .string(certificate.peer.description), "name": .string(certificate.name),
        "reason": .string(certificate.reason.description), "detail": .string(certificate.detail),
        "remedy": .string(certificate.reason.remedy.advice),
      ]
      object["serverName"] = certificate.serverName.map(JSONValue.string)
      return .object(object)
    case .tooManyTokenUpdates(let peer):
      let remedy = Reason.tooManyProviderTokenUpdates.remedy
      return [
        "event": "tooManyTokenUpdates", "peer": .string(peer.description), "happened": .string(remedy.happened),
        "remedy": .string(remedy.advice),
      ]
    case .invalidProviderTokens(let peer):
      let remedy = Reason.invalidProviderToken.remedy
      return [
        "event": "invalidProviderTokens", "peer": .string(peer.description), "happened": .string(remedy.happened),
        "remedy": .string(remedy.advice),
      ]
    case .upstreamFailed(let name, let address, let end):
      return [
        "event": "upstreamFailed", "upstream": .string(name), "address": .string(address), "happened": .string(end.description),
      ]
    case .upstreamOpened: return .none
    case .storeFailed(let why): return ["event": "storeFailed", "happened": .string(why)]
    case .storeRecovered: return ["event": "storeRecovered"]
    case .storeWarning(let warning, let holds):
      return ["event": holds ? "storeWarning" : "storeWarningOver", "happened": .string("\(warning)")]
    case .clockSet(let leap):
      return [
        "event": "clockSet", "seconds": .integer(leap.nanoseconds / 1_000_000_000),
        "happened": .string("the machine's clock was \(ClockWatch.text(of: leap))"),
      ]
    case .adminCall(let call):
      return [
        "event": "adminCall", "who": .string(call.caller), "what": .string("\(call.method) \(call.path)"),
        "status": .integer(Int64(call.status)), "peer": .string(call.peer),
      ]
    case .cannotSign(let upstream, let error):
      return ["event": "cannotSign", "upstream": .string(upstream), "happened": .string(error.description)]
    }
  }

  /// The first row as it is, the others indented; peers choose some of the text, so nothing in it may steer a terminal.
  private static func lines(_ first: String, _ others: String?...) -> String {
    ([first] + others.compactMap { $0 }.filter { !$0.isEmpty }.map { "    \($0)" }).map { $0.escapingSteering() }.joined(separator: "\n")
  }
}
