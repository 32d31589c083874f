import Configuration

/// Sources of a test: a file called `config/gateway.yaml`, and files that its values may name.
func sources(
  _ yaml: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:], files: [String: String] = [:]
) -> ConfigurationSources {
  ConfigurationSources(
    file: yaml.map { ConfigurationSources.File(name: "config/gateway.yaml", text: $0) }, environment: environment, flags: flags
  ) { path throws(ConfigurationSources.ReadFailure) in
    guard let text = files[path] else { throw ConfigurationSources.ReadFailure("no such file or directory") }
    return text
  }
}
