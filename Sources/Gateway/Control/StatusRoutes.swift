import Control
import JSON
import Storage
import Telemetry

extension ControlAPI {
  /// How the gateway is.
  var statusRoutes: [Route] {
    let parts = parts
    return [
      // Alive means that the loop turns and answers, whatever the store does: a restart would not mend a full disk.
      Route(.get, "/livez", .open) { _ in .json(["alive": true]) },
      Route(.get, "/readyz", .open) { _ in
        var obstacles = parts.obstacles()
        if case .notReady(let why) = parts.store.readiness { obstacles.insert("The store takes no pushes: \(why).", at: 0) }
        var object: JSONObject = ["ready": .bool(obstacles.isEmpty), "obstacles": .array(obstacles.map(JSONValue.string))]
        let unreachable = parts.unreachable().sorted { $0.key < $1.key }.map {
          "\($0.value.asSentenceStart); pushes for it wait until it can."
        }
        let warnings = parts.store.warnings.map { "\($0)" } + unreachable
        if !warnings.isEmpty { object["warnings"] = .array(warnings.map(JSONValue.string)) }
        return .json(.object(object), status: obstacles.isEmpty ? 200 : 503)
      },
      OpenAPIFile.control.route,
      Route(.get, "/version", .open) { _ in .json(["name": "widgetpush", "version": .string(parts.version)]) },
      Route(.get, "/metrics", .scope(.read)) { routed throws(ControlError) in
        guard routed.grant.bundleIDs == nil else {
          throw .forbidden("metrics count the pushes of every app, and the access token \"\(routed.grant.name)\" is limited to some")
        }
        return .text(Exposition.text(of: parts.metrics), type: Exposition.contentType)
      },
    ]
  }
}

extension String {
  /// It, with a capital letter.
  fileprivate var asSentenceStart: String { prefix(1).uppercased() + dropFirst() }
}
