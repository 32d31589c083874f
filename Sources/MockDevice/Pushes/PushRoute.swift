import Control
import DeviceModel
import Primitives
import Push
import Reactor
import Rules

/// `POST /3/device/<token>` for whoever comes over HTTP/1.1 or the plain port: the same desk, by way of the mailbox.
struct PushRoute: Sendable {
  typealias Work = @Sendable (PushDesk) -> Void

  private let mailbox: Mailbox<Work>

  /// - Parameter mailbox: Hands its work to the loop's desk.
  init(mailbox: Mailbox<Work>) { self.mailbox = mailbox }

  /// The answer to a request for a path below `/3/`.
  func respond(to request: HTTPRequest) async throws(ControlError) -> HTTPResponse {
    let body = Array(request.body.prefix(Limits.providerBodyBytes))
    let total = request.body.count
    let headers = CopiedHeaders(request)
    let answer = try await Reply<PushAnswer>.waiting { reply in
      mailbox.post { desk in
        func settle(_ progress: PushProgress) {
          let settlement = unsafe desk.settle(
            headers.fields, headers: headers.bytes.span.bytes, body: body.span.bytes, bodyBytesTotal: total, progress)
          switch settlement {
          case .answered(let answer): reply.answer(.success(answer))
          case .unknown(let token): desk.hold(token) { settle(.held) }
          case .uninformed(let bundleID): desk.hold(schemasOf: bundleID) { settle(.informed) }
          // Faults are for what comes by HTTP/2, as gateways do.
          case .exposed: settle(.spared)
          }
        }
        settle(.new)
      }
    }
    return Self.response(answer)
  }

  private static func response(_ answer: PushAnswer) -> HTTPResponse {
    if case .refused(let reason, let since, let detail) = answer.outcome {
      return HTTPResponse(
        status: reason.status, fields: ["apns-id": answer.id.description],
        body: ErrorBody.bytes(reason, since: since, detail: detail))
    }
    var header = OutcomeHeader()
    header.write(answer.outcome)
    return HTTPResponse(status: 200, fields: ["apns-id": answer.id.description, "widgetpush-outcome": header.value.string])
  }
}
