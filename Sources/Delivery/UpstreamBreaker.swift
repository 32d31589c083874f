public import Primitives
public import Push

/// Whether an upstream is left alone for a while, by what it has answered.
///
/// Server errors in a row rest it, each further one after a rest for twice as long; a refusal of the gateway's own credentials pauses it,
/// since nothing that is sent would fare better. After either, one push at a time is tried, and its answer decides. Pure.
public struct UpstreamBreaker: Hashable, Sendable {
  /// Bounds and spans.
  public struct Bounds: Hashable, Sendable {
    /// Server errors in a row that open it, at least 1.
    public var serverErrors: Int
    /// The first rest; doubled by each further one until something else is answered.
    public var firstRest: TimeSpan
    /// The longest rest.
    public var longestRest: TimeSpan
    /// How long a refusal of the credentials pauses.
    public var pause: TimeSpan

    /// Bounds with these values.
    public init(serverErrors: Int, firstRest: TimeSpan, longestRest: TimeSpan, pause: TimeSpan) {
      precondition(serverErrors > 0)
      self.serverErrors = serverErrors
      self.firstRest = firstRest
      self.longestRest = longestRest
      self.pause = pause
    }
  }

  /// What an answer says about the upstream, whatever it means for its push.
  public enum Answer: Hashable, Sendable, CaseIterable {
    /// It works.
    case works
    /// It has failed: 5xx.
    case serverError
    /// It refuses the gateway's own provider token.
    case refusesSender
  }

  /// How it is.
  public enum State: Hashable, Sendable {
    /// Everything goes; so many server errors came last.
    case closed(serverErrors: Int)
    /// Nothing goes before the instant, and one push at a time from then on; `openings` counts those since the upstream last worked.
    case open(until: Instant, Cause, openings: Int)
  }

  /// What may go at some instant.
  public enum Permission: Hashable, Sendable {
    /// All.
    case all
    /// One push, once no other is on its way; the cause is why the others wait.
    case one(Cause)
    /// None before the instant, for that cause.
    case none(until: Instant, Cause)
  }

  private let bounds: Bounds
  /// How it is at the moment.
  public private(set) var state = State.closed(serverErrors: 0)

  /// A closed one.
  public init(_ bounds: Bounds) { self.bounds = bounds }

  /// What may go at `now`.
  public func permission(at now: Instant) -> Permission {
    switch state {
    case .closed: .all
    case .open(let until, let cause, _): now < until ? .none(until: until, cause) : .one(cause)
    }
  }

  /// Takes note of an answer. One that was on its way when it opened may close it, and does not open it any further.
  public mutating func answered(_ answer: Answer, at now: Instant) {
    switch (state, answer) {
    case (_, .works): state = .closed(serverErrors: 0)
    case (.closed(let count), .serverError) where count + 1 < bounds.serverErrors: state = .closed(serverErrors: count + 1)
    case (.closed, .serverError): open(1, .serverError, at: now)
    case (.closed, .refusesSender): open(1, .refusesSender, at: now)
    case (.open(let until, _, let openings), .serverError): if now >= until { open(openings + 1, .serverError, at: now) }
    case (.open(let until, let cause, let openings), .refusesSender):
      if now >= until || cause != .upstreamPaused { open(openings + 1, .refusesSender, at: now) }
    }
  }

  private mutating func open(_ openings: Int, _ answer: Answer, at now: Instant) {
    if answer == .refusesSender {
      state = .open(until: now + bounds.pause, .upstreamPaused, openings: openings)
    } else {
      let rest = min(bounds.firstRest * (1 << Int64(min(openings - 1, 30))), bounds.longestRest)
      state = .open(until: now + rest, .upstreamFailed, openings: openings)
    }
  }
}
