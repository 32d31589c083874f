/// A gateway.yaml for tests: one app, one upstream, whose address the test chooses.
struct GatewayConfiguration {
  /// The upstream's URL.
  var upstream: String
  /// Further keys of the app `com.example.app`, one a line.
  var app: [String] = []
  /// Further top-level lines.
  var rest: [String] = []

  /// Writes it into the state folder and returns the options that name it.
  func options(in state: Folder) throws -> [String] {
    let lines =
      [
        "upstreams:", "  here:", "    url: \(upstream)", "    ca: ca.pem", "apps:",
        "  - bundleID: com.example.app",
        "    upstream: {development: here, production: here}",
      ] + app.map { "    " + $0 } + rest
    return ["--config", try state.write("gateway.yaml", lines.joined(separator: "\n") + "\n")]
  }
}

extension Deployment {
  /// Makes a state folder with certificates and keys, by a first start of a gateway.
  static func newState() async throws -> Folder {
    let gateway = try await start(["gateway"])
    guard try await gateway.terminate() == 0 else { throw HarnessError("the first gateway did not end well") }
    return gateway.state
  }

  /// A gateway in front of an upstream that gives `answers`, or of nothing when they are empty; it has the upstream as `upstream`.
  static func behind(
    _ answers: [String], streams: Int = 1000, app: [String] = [], environment: [String: String] = [:], executable: String = executable
  ) async throws -> Deployment {
    let state = try await newState()
    let upstream = answers.isEmpty ? nil : try await FakeUpstream.start(answers, state: state, streams: streams)
    // Port 9 (discard) refuses connections on any machine that runs no inetd.
    let configuration = GatewayConfiguration(upstream: "https://localhost:\(upstream?.port ?? 9)", app: app)
    return try await start(
      ["gateway"] + configuration.options(in: state), in: state, environment: environment, executable: executable, upstream: upstream)
  }
}
