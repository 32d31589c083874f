import Push

extension GatewayConfiguration {
  /// The values that flags and variables may set.
  public static let keys: [ConfigurationKey] =
    [
      ConfigurationKey("bind", "ADDRESS", "IP address the faces listen on (127.0.0.1)"),
      ConfigurationKey("loops", "N", "event loops of the data path, a thread each (1)"),
      ConfigurationKey("provider.port", "PORT", "port of the provider API, 0 takes a free one (2197)"),
      ConfigurationKey(
        "provider.initialConcurrentStreams", "N", "streams of a connection until its first provider token is verified (1)"),
      ConfigurationKey("provider.tokenUpdates", "WORD", "new provider tokens too often: enforce, warn or off (enforce)"),
      ConfigurationKey("provider.clientCertificates.ca", "FILE", "authorities of client certificates as PEM (ca.pem of the state folder)"),
      ConfigurationKey("provider.explainHeaders", "BOOL", "true adds widgetpush-disposition to every answer (false)"),
      ConfigurationKey("control.port", "PORT", "port of the control API, 0 takes a free one (8443)"),
      ConfigurationKey("tls.certificateFile", "FILE", "certificate chain as PEM (server.pem of the state folder)"),
      ConfigurationKey("tls.keyFile", "FILE", "its private key as PEM (server.key of the state folder)"),
      ConfigurationKey("store.path", "FOLDER", "folder of the store, or memory (store in the state folder)"),
      ConfigurationKey("device.url", "URL", "the mock device, where upstreams lists none (that of the state folder)"),
      ConfigurationKey(
        "store.waitingMegabytes", "N", "megabytes of pushes that wait for upstreams, of all together (\(Limits.waitingBytes >> 20))"),
      ConfigurationKey("pushLog.maxEntries", "N", "accepted pushes that the log keeps (\(Limits.pushLogEntries))"),
      ConfigurationKey("pushLog.maxAge", "SECONDS", "how long the log keeps a push at most (as long as there is room)"),
      ConfigurationKey("pushLog.payloads", "BOOL", "true keeps the payloads of accepted pushes in the log (false)"),
      ConfigurationKey("faults.allowed", "BOOL", "true permits faults to be set over the control API (false)"),
      ConfigurationKey("log.format", "FORMAT", "log lines as text or json (text)"),
    ] + ConfigurationKey.clockKeys + answerKeys

  /// What the sources say; throws for the first value that is unknown or of the wrong form.
  ///
  /// - Parameters:
  ///   - otherVariables: Variables that begin with `WIDGETPUSH_` and are no part of any configuration.
  ///   - trace: Keeps every value with where it came from.
  public static func load(
    _ sources: ConfigurationSources, otherVariables: [String] = [], trace: ConfigurationTrace? = nil
  ) throws(ConfigurationError) -> GatewayConfiguration {
    try sources.refuseUnknownVariables(keys + DeviceConfiguration.keys, others: otherVariables)
    var reader = try ConfigurationReader(sources, trace: trace)
    var configuration = GatewayConfiguration()
    configuration.bind = try reader.bindAddress("bind") ?? configuration.bind
    configuration.loops = try reader.integer("loops", in: 1...Int64(Limits.loops)).map { Int($0) } ?? configuration.loops

    var provider = try reader.section("provider")
    configuration.providerPorts = try provider.ports("port", several: "ports") ?? configuration.providerPorts
    let streams = try provider.integer("initialConcurrentStreams", in: 1...Int64(Limits.concurrentStreams))
    configuration.initialConcurrentStreams = streams.map { Int($0) } ?? configuration.initialConcurrentStreams
    configuration.tokenUpdates = try provider.choice("tokenUpdates", ProviderTokenPolicy.Updates.self) ?? configuration.tokenUpdates
    var certificates = try provider.section("clientCertificates")
    configuration.clientAuthorityPEM = try certificates.fileText("ca")
    try certificates.finish()
    configuration.explainHeaders = try provider.bool("explainHeaders") ?? configuration.explainHeaders
    configuration.answers = try provider.answers("answers")
    try provider.finish()

    var control = try reader.section("control")
    configuration.controlPort = try control.port("port") ?? configuration.controlPort
    try control.finish()

    configuration.identity = try reader.identity("tls")

    var store = try reader.section("store")
    configuration.store = try store.string("path").map { $0 == "memory" ? .memory : .folder(sources.resolved($0)) }
    let waiting = try store.integer(
      "waitingMegabytes", in: Int64(Limits.waitingMegabytes.lowerBound)...Int64(Limits.waitingMegabytes.upperBound))
    configuration.waitingBytes = waiting.map { Int($0) << 20 } ?? configuration.waitingBytes
    try store.finish()

    var pushLog = try reader.section("pushLog")
    let entries = try pushLog.integer("maxEntries", in: 256...Int64(Limits.pushLogEntriesMax))
    configuration.pushLogEntries = entries.map { Int($0) } ?? configuration.pushLogEntries
    configuration.pushLogAge = try pushLog.seconds("maxAge", in: 60...Double(Limits.pushLogAgeSecondsMax))
    configuration.pushLogPayloads = try pushLog.bool("payloads") ?? configuration.pushLogPayloads
    try pushLog.finish()

    var faults = try reader.section("faults")
    configuration.faultsAllowed = try faults.bool("allowed") ?? configuration.faultsAllowed
    try faults.finish()

    var log = try reader.section("log")
    configuration.logFormat = try log.choice("format", LogFormat.self) ?? configuration.logFormat
    try log.finish()

    configuration.clock = try reader.clock("clock", judgesTokens: true)
    configuration.providers = try reader.providers("providers")
    configuration.signingKeys = try reader.teams("teams")
    configuration.upstreams = try reader.upstreams("upstreams")
    try reader.check(configuration.clock, configuration.upstreams)
    configuration.deviceURL = try reader.deviceURL("device", upstreams: configuration.upstreams)
    configuration.accessTokens = try reader.accessTokens("accessTokens")
    (configuration.apps, configuration.anyApp, configuration.appFields, configuration.contentStates) = try reader.apps(
      "apps", upstreams: configuration.upstreams, keys: configuration.signingKeys)
    try reader.finish()
    return configuration
  }
}
