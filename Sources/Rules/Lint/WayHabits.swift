/// The way by which a request would go: where it leads nowhere, nobody answers, and the rules of a request are never asked.
///
/// Source: Apple, "Sending notification requests to APNs" and "Sending channel management requests to APNs"; Apple ended the binary interface
/// on 2021-03-31.
struct WayHabits {
  let request: LintedRequest

  /// Every rule of these.
  static let ruleNames = ["plainHTTP", "http1", "retiredHost", "otherHost"]

  var findings: [LintFinding] {
    var findings: [LintFinding] = []
    if request.scheme == "http" {
      findings.append(
        LintFinding(.refused, "plainHTTP", ":scheme", "http:// is answered by nobody: APNs speaks TLS only; send to https://"))
    } else if request.scheme == nil, let host = request.host, host.hasSuffix(".push.apple.com") {
      findings.append(
        LintFinding(
          .refused, "plainHTTP", ":authority", "curl takes \(host) for http://\(host), and APNs speaks TLS only; send to https://\(host)"))
    }
    if let host = request.host, let right = Self.retired[host] {
      findings.append(
        LintFinding(
          .refused, "retiredHost", ":authority",
          "\(host) belonged to the binary interface, which is shut down since 2021; send to \(right)"))
    }
    if let host = request.host, let right = rightHost(host) {
      findings.append(
        LintFinding(
          .refused, "otherHost", ":authority",
          "\(host) \(managesChannels ? "does not manage channels" : "manages channels, and sends nothing"); send to https://\(right)"))
    }
    if let option = request.http1Option {
      findings.append(
        LintFinding(.refused, "http1", option, "\(option) has curl speak HTTP/1, and APNs speaks HTTP/2 only; send with --http2"))
    }
    return findings
  }

  private var managesChannels: Bool { request.service == .channels || request.service == .allChannels }

  /// The host that serves the request where Apple's `host` does not; nil where it does, or is not Apple's.
  private func rightHost(_ host: String) -> String? {
    switch host {
    case "api.push.apple.com" where managesChannels: "api-manage-broadcast.push.apple.com:2196"
    case "api.sandbox.push.apple.com" where managesChannels, "api.development.push.apple.com" where managesChannels:
      "api-manage-broadcast.sandbox.push.apple.com:2195"
    case "api-manage-broadcast.push.apple.com" where !managesChannels: "api.push.apple.com"
    case "api-manage-broadcast.sandbox.push.apple.com" where !managesChannels: "api.sandbox.push.apple.com"
    default: nil
    }
  }

  /// The hosts of the binary interface, and what to use instead.
  private static let retired = [
    "gateway.push.apple.com": "https://api.push.apple.com",
    "gateway.sandbox.push.apple.com": "https://api.sandbox.push.apple.com",
    "feedback.push.apple.com": "https://api.push.apple.com, which answers 410 for a token that is gone",
    "feedback.sandbox.push.apple.com": "https://api.sandbox.push.apple.com, which answers 410 for a token that is gone",
  ]
}
