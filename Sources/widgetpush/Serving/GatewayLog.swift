import Control
import Gateway
import HTTP2
import Primitives
import Push
import Reactor
import Security
import Telemetry
import Transport

extension Log {
  /// Writes what an operator wants to know of an event; what single pushes do is in the push log and in the metrics.
  func write(_ event: GatewayEvent) {
    switch event {
    case .refused(let request):
      write(
        .debug, "a request was refused",
        [
          LogField("reason", request.reason), LogField("id", request.id), LogField("field", request.field),
          LogField("detail", request.detail),
        ])
    case .ignored(let push):
      write(
        .debug, "a push was ignored",
        [LogField("id", push.id.map { "\($0)" } ?? ""), LogField("cause", push.cause.name), LogField("detail", push.detail)])
    case .lowered(let push):
      write(.debug, "a push went at priority 5", [LogField("id", push.id), LogField("detail", push.detail)])
    // `WarningLog` tells of these.
    case .warned: break
    case .connectionFailed(let failure):
      write(.info, "a connection failed", [LogField("peer", failure.peer), LogField("reason", failure.end)])
    case .malformed(let rejected):
      write(
        .info, "a request was malformed",
        [
          LogField("peer", rejected.peer), LogField("field", rejected.request.field), LogField("reason", rejected.request),
          LogField("remedy", rejected.request.advice), LogField("others", rejected.others),
        ])
    case .certificateRefused(let certificate):
      write(
        .info, "a connection was turned away for its client certificate",
        [
          LogField("peer", certificate.peer), LogField("certificate", certificate.name), LogField("reason", certificate.reason),
          LogField("detail", certificate.detail),
        ])
    case .tooManyTokenUpdates(let peer): write(.info, "new provider tokens come too often", [LogField("peer", peer)])
    case .invalidProviderTokens(let peer): write(.info, "a connection brings invalid provider tokens alone", [LogField("peer", peer)])
    case .upstreamFailed(let name, let address, let end):
      write(
        .warning, "an upstream cannot be reached",
        [LogField("upstream", name), LogField("address", address), LogField("reason", end)])
    case .upstreamOpened(let name): write(.info, "an upstream can be reached", [LogField("upstream", name)])
    case .storeFailed(let why): write(.error, "the store takes no pushes, and they are answered 503", [LogField("reason", why)])
    case .storeRecovered: write(.info, "the store takes pushes again")
    case .storeWarning(let warning, let holds):
      write(holds ? .warning : .info, holds ? "the store warns" : "a warning of the store is over", [LogField("reason", warning)])
    case .clockSet(let leap):
      write(
        .warning, "the machine's clock was \(ClockWatch.text(of: leap))",
        [LogField("effect", "what waits for a while goes on; dates and budgets go by the new time")])
    case .adminCall(let call):
      write(
        call.status < 400 ? .info : .warning, "an admin call",
        [
          LogField("who", call.caller.isEmpty ? "nobody known" : call.caller), LogField("what", "\(call.method) \(call.path)"),
          LogField("status", call.status), LogField("peer", call.peer), LogField("problem", call.problem),
        ])
    case .cannotSign(let upstream, let error):
      write(.error, "a provider token cannot be signed", [LogField("upstream", upstream), LogField("reason", error)])
    }
  }
}
