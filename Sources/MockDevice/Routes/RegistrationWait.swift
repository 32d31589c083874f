import Control
import DeviceModel
import JSON
import Primitives
import Push

/// Waits until the gateway has a token, so that whoever placed a widget can push to it with the next command.
struct RegistrationWait: Sendable {
  let door: FleetDoor
  /// How long to wait unless the request says otherwise.
  let standard: TimeSpan

  /// The request's parameter `wait`; refuses every other parameter.
  func readWait(_ request: HTTPRequest) throws(ControlError) -> TimeSpan {
    var query = request.query.reader()
    let wait = try query.duration("wait", max: .seconds(Limits.waitSeconds)) ?? standard
    try query.finish()
    return wait
  }

  /// `object` with the token and how far its registration has come, once that is settled or `wait` has passed.
  func adding(_ token: DeviceToken, to object: JSONObject, _ wait: TimeSpan) async throws(ControlError) -> JSONObject {
    _ = try await door.wait(atMost: wait) { fleet in fleet.registrationState(of: token) == .pending ? nil : true }
    let (state, problem) = try await door.perform { fleet, _ in
      (fleet.registrationState(of: token), fleet.registrationProblem(of: token) ?? fleet.gatewaySilence)
    }
    var object = object
    object["token"] = .string(token.hex)
    object["registration"] = .string(state.name)
    if state != .registered { object["problem"] = problem.map { .string($0) } }
    return object
  }
}
