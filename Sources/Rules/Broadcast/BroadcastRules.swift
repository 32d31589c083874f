import Primitives
public import Push

extension RequestRules {
  /// Whether a request for `path` is judged by `evaluateBroadcast`, and not as a push.
  public static func isBroadcast(_ path: RawSpan) -> Bool { BroadcastRoute.owns(path) }

  /// The verdict on one request about broadcasts or channels, in the order of apns.md section 5.3: path, method, repeated
  /// headers, provider token, header syntax, app, channel, body.
  ///
  /// What needs the stored channels is left to the store: an id that was never given out or is deleted, how many there may be, and
  /// whether the channel stores messages. The parameters are those of `evaluate`.
  public func evaluateBroadcast(
    _ fields: RequestFields, headers: RawSpan, body: RawSpan, bodyBytesTotal: Int, environment: PushEnvironment?, time: RequestTime,
    memory: inout RequestMemory, connection: inout ConnectionCredentials
  ) -> BroadcastVerdict {
    do {
      return .accepted(
        try checkBroadcast(
          fields, headers: headers, body: body, bodyBytesTotal: bodyBytesTotal, environment: environment, time: time, memory: &memory,
          connection: &connection))
    } catch {
      var refusal = Refusal(reason: error.reason, field: error.field, detail: error.detail)
      refusal.id = try? BroadcastHeaders.id(fields, headers)
      refusal.type = .liveactivity
      if let path = fields.path { refusal.topic = try? BroadcastRoute.find(path, headers).bundle }
      return .refused(refusal)
    }
  }

  private func checkBroadcast(
    _ fields: RequestFields, headers: RawSpan, body: RawSpan, bodyBytesTotal: Int, environment: PushEnvironment?, time: RequestTime,
    memory: inout RequestMemory, connection: inout ConnectionCredentials
  ) throws(Violation) -> BroadcastRequest {
    guard let path = fields.path else { preconditionFailure("only a request with a path is judged here") }
    let (route, bundle) = try BroadcastRoute.find(path, headers)
    try route.check(fields.method, headers)
    try checkDuplicates(fields)
    let sender = try authenticate(fields.authorization, headers, environment, time, &memory.tokens, &connection)
    let id = try BroadcastHeaders.id(fields, headers)
    let sending = route == .broadcasts ? try BroadcastHeaders.check(fields, headers) : nil
    let app = try checkBundle(headers[bundle], sender)
    let method = headers[fields.method ?? .empty]
    let action: BroadcastRequest.Action
    if let sending {
      action = .send(try checkPush(sending, fields, headers, body, bodyBytesTotal, app: app, time: time, &memory.payload))
    } else if route == .allChannels {
      action = .list
    } else if method.equals("POST") {
      action = .create(try ChannelBody.read(body, bodyBytesTotal: bodyBytesTotal))
    } else {
      let channel = try BroadcastHeaders.channel(fields.channelID, headers)
      action = method.equals("GET") ? .read(channel) : .delete(channel)
    }
    return BroadcastRequest(
      id: id, bundle: bundle, app: app, provider: sender.provider,
      environment: environment ?? environmentLimit(sender) ?? .development, action: action)
  }

  /// The environment that a sender is limited to.
  private func environmentLimit(_ sender: Sender) -> PushEnvironment? {
    switch sender {
    case .provider(let index): providers[index].environment
    case .certificate(let certificate): certificate.environment
    case .anyone: nil
    }
  }

  /// The app that the path names: a bare bundle id that the sender may serve, with the broadcast capability.
  private func checkBundle(_ bundle: RawSpan, _ sender: Sender) throws(Violation) -> Int {
    let listed = apps.listedIndex(of: bundle)
    if listed == nil, let suffix = TopicSuffix.type(of: bundle) {
      throw BroadcastRoute.suffixed(suffix)
    }
    let mayBeUnlisted = bundle.byteCount <= Limits.bundleIDBytes && TopicSuffix.mayBeBundleID(bundle)
    guard let app = listed ?? (mayBeUnlisted ? apps.index(of: bundle) : nil) else {
      // Who may not serve every app is not told which ones there are.
      switch sender {
      case .provider(let provider) where isLimited(provider): throw foreignBundle(bundle, provider)
      case .certificate(let certificate) where !certificate.names(bundle): throw Self.unnamedBundle(bundle, certificate)
      case .provider, .certificate, .anyone: break
      }
      let near = nearestName(to: bundle.string, among: bundleIDs(for: sender)).map { "; did you mean \"\($0)\"?" } ?? ""
      throw Violation(.topicMismatch, ":path", "the path names the app \(bundle.quoted), which is not configured here\(near)")
    }
    switch sender {
    case .provider(let provider) where !isAllowed(app, bundle, provider): throw foreignBundle(bundle, provider)
    case .certificate(let certificate) where !certificate.names(bundle): throw Self.unnamedBundle(bundle, certificate)
    case .provider, .certificate, .anyone: break
    }
    guard apps.policy(at: app).broadcast else {
      throw Violation(.broadcastFeatureNotEnabled, ":path", "broadcast is set to false for the app \(bundle.quoted)")
    }
    return app
  }

  private func foreignBundle(_ bundle: RawSpan, _ provider: Int) -> Violation {
    let near = nearestName(to: bundle.string, among: bundleIDs(for: .provider(provider))).map { "; did you mean \"\($0)\"?" } ?? ""
    return Violation(
      .topicMismatch, ":path",
      "the provider key \(providers[provider].keyID) of the team \(providers[provider].teamID) may not serve \(bundle.quoted)\(near)")
  }

  private static func unnamedBundle(_ bundle: RawSpan, _ certificate: SenderCertificate) -> Violation {
    Violation(.topicMismatch, ":path", "the client's certificate does not name \(bundle.quoted), only \(certificate.list)")
  }

  private func checkPush(
    _ sending: BroadcastHeaders, _ fields: RequestFields, _ headers: RawSpan, _ body: RawSpan, _ bodyBytesTotal: Int, app: Int,
    time: RequestTime, _ memory: inout PayloadMemory
  ) throws(Violation) -> BroadcastPush {
    let channel = try BroadcastHeaders.channel(fields.channelID, headers)
    try BroadcastHeaders.checkSize(bodyBytesTotal)
    precondition(body.byteCount == bodyBytesTotal, "a body within the limit must be kept whole")
    let context = PayloadContext(broadcastAt: time.sender, priority: sending.priority)
    var warnings = try PayloadRules.check(body, context, apps.policy(at: app).validation, answers.malformedBody, &memory).warnings
    if let warning = sending.expirationWarning ?? HeaderRules.passed(sending.expiration, now: time.sender) { warnings.insert(warning) }
    return BroadcastPush(
      channel: channel, expiration: time.product(sending.expiration), priority: sending.priority ?? .immediate,
      prioritySent: sending.priority != nil, warnings: warnings)
  }
}
