public import Primitives
public import Push

/// The times by which a request is judged: three clocks, which show the same unless the product's has been moved.
public struct RequestTime: Hashable, Sendable {
  /// By the sender's clock: dates of a payload are compared with it as they are.
  public var sender: Instant
  /// By the clock that provider tokens age by.
  public var tokens: Instant
  /// By the clock that tells how much has passed between one provider token and the next.
  public var windows: Instant
  /// What turns the sender's dates into the product's.
  public var shift: TimeSpan
  /// What turns the time at which the sender signed a token, in seconds, into one of the clock that tokens age by. It is added when a
  /// token is first seen: from then on the token ages by that clock, however the product's is moved.
  public var tokenShiftSeconds: Int64

  /// All clocks at `now`.
  @inlinable public init(_ now: Instant) {
    (sender, tokens, windows, shift, tokenShiftSeconds) = (now, now, now, .zero, 0)
  }

  /// The clocks as `settings` choose between both of `moment`.
  @inlinable public init(_ moment: Moment, _ settings: ClockSettings) {
    sender = settings.providerTimes == .real ? moment.real : moment.now
    tokens = settings.tokenAge == .real ? moment.real : moment.now
    windows = settings.tokenAge == .real ? moment.steady : moment.now
    shift = moment.now - sender
    tokenShiftSeconds = settings.tokenAge == settings.providerTimes ? 0 : (tokens - sender).nanoseconds.floorDivide(1_000_000_000)
  }

  /// What the gateway's own requests are judged by at a mock device: their tokens are always signed by the machine's clock.
  public static func upstream(_ moment: Moment, senders: TimeScale) -> RequestTime {
    var time = RequestTime(moment, ClockSettings(permitted: true, tokenAge: .real, providerTimes: senders))
    time.tokenShiftSeconds = 0
    return time
  }

  /// The date that a sender wrote, by the product's clock.
  @inlinable func product(_ expiration: Expiration) -> Expiration {
    guard case .at(let date) = expiration, shift != .zero else { return expiration }
    return .at(date + shift)
  }
}
