import COpenAPI

/// The description of one of the two APIs, which the binary has in it.
public enum OpenAPIFile: CaseIterable, Sendable {
  /// The gateway's control API.
  case control
  /// The mock device's.
  case device

  /// The file's bytes: OpenAPI 3.1 as YAML.
  public var bytes: [UInt8] {
    var count = 0
    let start = self == .control ? c_openapi_control(&count) : c_openapi_device(&count)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// `GET /openapi.yaml`, open to all: it describes the program, and nothing of whoever runs it.
  public var route: Route {
    Route(.get, "/openapi.yaml", .open) { _ in
      HTTPResponse(status: 200, fields: ["content-type": "application/yaml"], body: bytes)
    }
  }
}
