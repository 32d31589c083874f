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
      try entry.finish()
      switch (url, apple) {
      case (nil, let environment?):
        guard authority == nil else { throw entry.error("ca", "is for mock devices; Apple's certificate is checked with the system's") }
        let host = environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com"
        upstreams.append(UpstreamSettings(name: name, host: host, port: 443, isApple: true))
      case (let url?, nil):
        guard let (host, port) = splitURL(url) else {
          throw entry.error("url", "must be https://HOST or https://HOST:PORT, not \"\(url)\"")
        }
        upstreams.append(UpstreamSettings(name: name, host: host, port: port, authorityPEM: authority))
      default: throw entry.error("url", "or apple must be given; one of them")
      }
    }
    return upstreams
  }
}

/// The host, without brackets, and the port of an `https` URL without a path; nil for anything else.
func splitURL(_ url: String) -> (host: String, port: UInt16)? {
  guard url.hasPrefix("https://") else { return nil }
  var rest = url.dropFirst("https://".count)
  if rest.hasSuffix("/") { rest.removeLast() }
  guard !rest.isEmpty, !rest.contains(where: { "/?#@ ".contains($0) }) else { return nil }
  if rest.hasPrefix("[") {
    guard let end = rest.firstIndex(of: "]") else { return nil }
    let host = String(rest[rest.index(after: rest.startIndex)..<end])
    let tail = rest[rest.index(after: end)...]
    if tail.isEmpty { return (host, 443) }
    guard tail.hasPrefix(":"), let port = UInt16(tail.dropFirst()), port > 0 else { return nil }
    return (host, port)
  }
  guard let colon = rest.firstIndex(of: ":") else { return (String(rest), 443) }
  guard colon != rest.startIndex, let port = UInt16(rest[rest.index(after: colon)...]), port > 0 else { return nil }
  return (String(rest[..<colon]), port)
}
