public import JSON
import Primitives
import Push

extension DeviceSettings {
  /// Reads `platform`, `environment`, `user` and `developerMode`, each of which may be absent.
  public init(_ reader: inout JSONReader) throws(FieldError) {
    self.init()
    if let platform = try reader.optionalChoice("platform", of: Platform.allCases.map(\.rawValue)) { self.platform = platform }
    let environments = PushEnvironment.allCases.map(\.name)
    if let name = try reader.optionalChoice("environment", of: environments), let environment = PushEnvironment(name: name) {
      self.environment = environment
    }
    user = try reader.optionalString("user")
    if let user, user.hasSteering {
      throw reader.error("user", "must have no control characters and none that turn the direction of writing")
    }
    developerMode = try reader.optionalBool("developerMode") ?? false
  }

  /// The names of those that are not as they are by default.
  public var given: [String] {
    let standard = DeviceSettings()
    var names: [String] = []
    if developerMode != standard.developerMode { names.append("developerMode") }
    if environment != standard.environment { names.append("environment") }
    if platform != standard.platform { names.append("platform") }
    if user != standard.user { names.append("user") }
    return names
  }
}
