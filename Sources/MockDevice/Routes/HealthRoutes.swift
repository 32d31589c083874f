import Control
import JSON
import Synchronization

/// The open routes that probes ask.
struct HealthRoutes: Sendable {
  let version: String
  let readiness: Readiness

  var routes: [Route] {
    [
      Route(.get, "/livez", .open) { _ async throws(ControlError) in .json(["live": true]) },
      Route(.get, "/readyz", .open) { _ async throws(ControlError) in
        readiness.isReady
          ? .json(["ready": true]) : .json(["ready": false, "reason": "the mock device is stopping"], status: 503)
      },
      OpenAPIFile.device.route,
      Route(.get, "/version", .open) { _ async throws(ControlError) in
        .json(["name": "widgetpush", "role": "device", "version": .string(version)])
      },
    ]
  }
}

/// Whether the device takes requests; false once it drains.
final class Readiness: Sendable {
  private let ready = Atomic<Bool>(true)
  var isReady: Bool { ready.load(ordering: .relaxed) }
  func end() { ready.store(false, ordering: .relaxed) }
}
