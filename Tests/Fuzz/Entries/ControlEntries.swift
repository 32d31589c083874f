import Configuration
import Gateway
import JSON
import Primitives
import Push

/// What people and apps hand in: registrations, recordings and configuration files.
enum ControlEntries {
  static func registration(_ input: [UInt8]) {
    guard let value = try? JSONValue.parse(input) else { return }
    precondition((try? JSONValue.parse(value.serialized())) == value, "what is written is not what was read")
    guard var reader = try? JSONReader(value, at: "") else { return }
    let token = DeviceToken(hex: "a1b2")!
    if (try? RegistrationBody.read(&reader, token: token)) != nil { try? reader.finish() }
  }

  static func recording(_ input: [UInt8]) {
    guard let line = try? RecordingLine(JSONValue.parse(input)) else { return }
    if case .beginning(let beginning) = line.content, beginning.version != RecordingLine.version { return }
    precondition((try? RecordingLine(JSONValue.parse(line.text))) == line, "what is written is not what was read")
  }

  static func configuration(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    let file = ConfigurationSources.File(name: "gateway.yaml", text: text)
    // Each file that it names holds that name, but for one.
    let sources = ConfigurationSources(file: file, environment: ["A": "a secret of the environment"]) {
      path throws(ConfigurationSources.ReadFailure) in
      guard path != "missing" else { throw ConfigurationSources.ReadFailure("no such file or directory") }
      return path
    }
    do { _ = try GatewayConfiguration.load(sources) } catch { precondition(!error.description.isEmpty) }
    do { _ = try DeviceConfiguration.load(sources) } catch { precondition(!error.description.isEmpty) }
  }
}
