public import Primitives
public import Push

/// An upstream's answer to one push, as far as deciding needs it.
public struct UpstreamAnswer: Hashable, Sendable {
  /// The HTTP status.
  public var status: Int
  /// The `reason` of the JSON body, when it is one of Apple's.
  public var reason: Reason?
  /// The `timestamp` of a 410's body: when the token was found dead.
  public var timestamp: Instant?
  /// The disposition of the `widgetpush-outcome` header, `waiting` for `pending`; only mock devices send it.
  public var disposition: Disposition?
  /// The cause of the `widgetpush-outcome` header; `fault` where a fault on a mock device has made the answer.
  public var cause: Cause

  /// An answer with these values.
  public init(
    status: Int, reason: Reason? = nil, timestamp: Instant? = nil, disposition: Disposition? = nil, cause: Cause = .none
  ) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
    self.disposition = disposition
    self.cause = cause
  }

  /// What the answer says about the upstream.
  public var ofUpstream: UpstreamBreaker.Answer {
    switch (status, reason) {
    case (403, .forbidden?): .works
    case (403, _), (429, .tooManyProviderTokenUpdates?): .refusesSender
    case (500...599, _): .serverError
    default: .works
    }
  }

  /// What the answer means for its push.
  ///
  /// Only 410 says that a token is dead; a `BadDeviceToken` may as well mean a wrong environment, and a 403 speaks of the
  /// gateway's own key, never of a token: but `Forbidden`, which is not to be tried again, fails its push. Source: Apple, "Handling
  /// notification responses from APNs".
  ///
  /// - Parameters:
  ///   - now: When the answer came; stands in for a 410's missing timestamp.
  ///   - mayRetire: False while the upstream's answers are under suspicion; then a 410 fails its push but retires nothing.
  public func meaning(at now: Instant, mayRetire: Bool) -> UpstreamOutcome {
    switch status {
    case 200: acceptance
    case 410 where mayRetire && reason == .expiredToken: .expired(timestamp ?? now)
    case 410 where mayRetire: .unregistered(timestamp ?? now)
    case 400 where reason == .badDeviceToken: .suspect
    case 429 where ofUpstream == .works: .retry(why(.upstreamBusy))
    case 500...599: .retry(why(.upstreamFailed))
    default: ofUpstream == .refusesSender ? .retry(why(.upstreamPaused)) : .refused(status: status, reason)
    }
  }

  private func why(_ usual: Cause) -> Cause { cause == .fault ? .fault : usual }

  private var acceptance: UpstreamOutcome {
    switch disposition {
    case .applied?: .finished(.applied, cause)
    case .ignored?: .finished(.ignored, cause)
    case .waiting?, .forwarding?: .pending
    default: .accepted
    }
  }
}

extension UpstreamAnswer {
  /// Takes the disposition and cause of a `widgetpush-outcome` header, `applied|ignored|pending|refused [cause [detail]]`; one that
  /// was refused has no disposition.
  ///
  /// An unknown disposition is no outcome; an unknown cause is none.
  ///
  /// - Returns: Where the detail stands in the header; empty when there is none.
  public mutating func readOutcome(_ header: RawSpan) -> ByteRange {
    // What nearly every push comes to, whole.
    if header.equals("applied reloaded") {
      (disposition, cause) = (.applied, .reloaded)
      return .empty
    }
    let count = header.byteCount
    let first = Self.space(in: header, from: 0)
    let second = Self.space(in: header, from: min(first + 1, count))
    let word = header.extracting(0..<first)
    if word.equals("applied") {
      disposition = .applied
    } else if word.equals("ignored") {
      disposition = .ignored
    } else if word.equals("pending") {
      disposition = .waiting
    } else if !word.equals("refused") {
      return .empty
    }
    cause = first < count ? Self.cause(named: header.extracting(first + 1..<second)) : .none
    return second < count ? ByteRange(offset: second + 1, count: count - second - 1) : .empty
  }

  private static func space(in text: RawSpan, from start: Int) -> Int {
    var index = start
    while index < text.byteCount, text.byte(index) != UInt8(ascii: " ") { index += 1 }
    return index
  }

  /// The common causes without building a string; the others by name.
  private static func cause(named name: RawSpan) -> Cause {
    if name.equals("reloaded") { return .reloaded }
    if name.equals("updated") { return .updated }
    return Cause(name: name.string) ?? .none
  }
}
