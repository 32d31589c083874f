import Primitives
import Push

extension ConfigurationReader {
  /// The mapping of upstreams by name.
  mutating func upstreams(_ key: String) throws(ConfigurationError) -> [UpstreamSettings] {
    var upstreams: [UpstreamSettings] = []
    for (name, reader) in try named(key, max: Limits.upstreams) ?? [] {
      var entry = reader
      let apple = try entry.choice("apple", of: PushEnvironment.allCases.map(\.name)).flatMap { PushEnvironment(name: $0) }
      let url = try entry.string("url")
      let authority = try entry.fileText("ca")
      let retry = try entry.integer("serverErrorRetrySeconds", in: 0...Limits.serverErrorRetrySeconds)
      let accessToken = try entry.secret("accessToken")
      let pause = try entry.integer("pauseSeconds", in: 1...Limits.upstreamPauseSecondsMax)
      try entry.finish()
      switch (url, apple) {
      case (nil, let environment?):
        guard authority == nil else { throw entry.error("ca", "is for mock devices; Apple's certificate is checked with the system's") }
        guard accessToken == nil else { throw entry.error("accessToken", "is for mock devices, whose clock is moved along") }
        let host = environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com"
        var settings = UpstreamSettings(name: name, host: host, port: 443, isApple: true)
        settings.serverErrorRetry = retry.map { .seconds($0) } ?? settings.serverErrorRetry
        settings.pause = pause.map { .seconds($0) } ?? settings.pause
        upstreams.append(settings)
      case (let url?, nil):
        guard let (host, port) = UpstreamSettings.hostAndPort(of: url) else {
          throw entry.error("url", "must be https://HOST or https://HOST:PORT, not \"\(url)\"")
        }
        var settings = UpstreamSettings(name: name, host: host, port: port, authorityPEM: authority)
        settings.serverErrorRetry = retry.map { .seconds($0) } ?? settings.serverErrorRetry
        settings.accessToken = accessToken
        settings.pause = pause.map { .seconds($0) } ?? settings.pause
        upstreams.append(settings)
      default: throw entry.error("url", "or apple must be given; one of them")
      }
    }
    return upstreams
  }

  /// The section with the URL of the mock device that stands for a list of upstreams.
  mutating func deviceURL(_ key: String, upstreams: [UpstreamSettings]) throws(ConfigurationError) -> String? {
    var device = try section(key)
    let url = try device.scalar("url")
    try device.finish()
    guard let url else { return nil }
    guard UpstreamSettings.hostAndPort(of: url.text) != nil else {
      throw device.error("url", "must be https://HOST or https://HOST:PORT, not \"\(url.text)\"", url.origin)
    }
    guard upstreams.isEmpty else {
      throw device.error("url", "is for configurations without upstreams; write the device among them instead", url.origin)
    }
    return url.text
  }
}
