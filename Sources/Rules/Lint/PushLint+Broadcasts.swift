import JSON
import Primitives
import Push

// Requests about broadcasts and channels: their rules are asked one by one, as those of a push are.
extension PushLint {
  /// Finds everything about a request to `/4/broadcasts/apps/…` or `/1/apps/…`, in the order of the request: path, headers, payload.
  mutating func checkBroadcast() {
    findings += WayHabits(request: request).findings
    let route = checkPath()
    if let method = request.method {
      checking(":method") { bytes, fields throws(Violation) in
        try route.check(fields.method, bytes)
      } with: {
        [(":method", method)]
      }
    }
    checkDuplicates()
    checkAuthorization()
    for name in ["apns-request-id", "apns-id"] {
      checkHeader(name, isNeeded: false) { bytes, fields throws(Violation) in _ = try BroadcastHeaders.id(fields, bytes) }
    }
    switch (route, request.method) {
    case (.broadcasts, _): checkMessage()
    case (.channels, "POST"): checkCreation()
    case (.channels, "GET"), (.channels, "DELETE"): checkChannel()
    default: break
    }
  }

  /// The route that the path leads to, or nearly does.
  private mutating func checkPath() -> BroadcastRoute {
    let meant: BroadcastRoute =
      switch request.service {
      case .devices, .broadcasts: .broadcasts
      case .channels: .channels
      case .allChannels: .allChannels
      }
    guard let path = request.path else { return meant }
    checking(":path") { bytes, fields throws(Violation) in
      let (_, bundle) = try BroadcastRoute.find(fields.path ?? .empty, bytes)
      if let type = TopicSuffix.type(of: bytes[bundle]) { throw BroadcastRoute.suffixed(type) }
    } with: {
      [(":path", path)]
    }
    return meant
  }

  private mutating func checkMessage() {
    checkHeader("apns-expiration", isNeeded: true) { bytes, fields throws(Violation) in
      _ = try BroadcastHeaders.expiration(fields.expiration, bytes)
    }
    checkExpiration()
    checkHeader("apns-priority", isNeeded: false) { bytes, fields throws(Violation) in
      if let range = fields.priority { _ = try HeaderRules.priority(bytes[range]) }
    }
    checkHeader("apns-push-type", isNeeded: true) { bytes, fields throws(Violation) in
      try BroadcastHeaders.checkType(fields.pushType, bytes)
    }
    checkChannel()
    guard let payload, let body = request.body else { return }
    do throws(Violation) {
      try BroadcastHeaders.checkSize(body.count)
    } catch {
      return findings.append(LintFinding(.refused, "\(error.reason.text)", error.field, error.detail))
    }
    judge(payload, PayloadContext(broadcastAt: now, priority: priority))
  }

  private mutating func checkChannel() {
    checkHeader("apns-channel-id", isNeeded: true) { bytes, fields throws(Violation) in
      _ = try BroadcastHeaders.channel(fields.channelID, bytes)
    }
  }

  /// The body of a channel's creation, where all of it is known.
  private mutating func checkCreation() {
    guard let body = request.body, request.bodyGaps.isEmpty else { return }
    do throws(Violation) {
      _ = try unsafe ChannelBody.read(body.span.bytes, bodyBytesTotal: body.count)
    } catch {
      findings.append(LintFinding(.refused, "\(error.reason.text)", error.field, error.detail))
    }
  }

  /// Asks a rule about one header, or about its absence where that is known.
  private mutating func checkHeader(
    _ name: String, isNeeded: Bool, _ rule: (RawSpan, RequestFields) throws(Violation) -> Void
  ) {
    let header = request.header(name)
    if let value = header?.value {
      checking(name, rule, with: { [(name, value)] })
    } else if header == nil, isNeeded, !request.mayHaveMore {
      checking(name, rule, with: { [] })
    }
  }
}
