extension UpstreamSettings {
  /// The host, without brackets, and the port of an `https` URL without a path; nil for anything else.
  public static func hostAndPort(of url: String) -> (host: String, port: UInt16)? {
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
}
