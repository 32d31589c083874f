public import Primitives
public import Push

/// When one loop may connect to one upstream, and what the upstream's answers say about the upstream itself.
///
/// Pure: the owner tells what happened and asks what to do. A dead upstream costs one connection attempt per delay; one that
/// answers nothing but errors is left alone (`UpstreamBreaker`); too many 400 and 410 answers stop the retiring of tokens,
/// since a mistaken environment or key would otherwise empty the store.
public struct UpstreamWindow: Hashable, Sendable {
  /// Bounds and delays of one upstream.
  public struct Bounds: Hashable, Sendable {
    /// Connections kept at most.
    public var connections: Int
    /// The delay after the first connection that failed or was of no use; doubled by each further one until something is answered.
    public var firstDelay: TimeSpan
    /// The longest delay between attempts.
    public var longestDelay: TimeSpan
    /// When its answers have it left alone.
    public var breaker: UpstreamBreaker.Bounds

    /// Bounds with these values.
    public init(connections: Int, firstDelay: TimeSpan, longestDelay: TimeSpan, breaker: UpstreamBreaker.Bounds) {
      self.connections = connections
      self.firstDelay = firstDelay
      self.longestDelay = longestDelay
      self.breaker = breaker
    }
  }

  /// Whether pushes can go to the upstream.
  public enum Availability: Hashable, Sendable {
    /// A connection is open, or one may be opened now.
    case available
    /// The same, but only for one push, once no other is on its way: its answer shows whether the upstream works again. The cause is
    /// why the others wait.
    case onTrial(Cause)
    /// Nothing goes before the instant: the last attempt to connect failed, or its answers have the upstream left alone.
    case unavailable(until: Instant, Cause)
  }

  /// Answers looked back on before retiring is stopped.
  public static let answersRemembered = 200
  /// Doubtful answers among them, beyond which retiring is stopped: 20 %.
  public static let doubtfulAnswersMax = 40

  private let bounds: Bounds
  private var open = 0
  private var connecting = 0
  private var failures: Int64 = 0
  private var retryAt: Instant?
  /// What the answers say about the upstream.
  public private(set) var breaker: UpstreamBreaker
  private var doubtful: [Bool] = []
  private var nextAnswer = 0
  private var doubtfulCount = 0

  /// A window on an upstream that has not been tried yet.
  public init(_ bounds: Bounds) {
    self.bounds = bounds
    breaker = UpstreamBreaker(bounds.breaker)
  }

  /// Whether 410 answers may retire tokens; false while more than 20 % of the last 200 answers were 400 or 410.
  public var mayRetire: Bool { doubtful.count < Self.answersRemembered || doubtfulCount <= Self.doubtfulAnswersMax }

  /// Whether pushes can go to the upstream at `now`.
  public func availability(at now: Instant) -> Availability {
    let permission = breaker.permission(at: now)
    if case .none(let until, let cause) = permission { return .unavailable(until: until, cause) }
    if open == 0, let retryAt, now < retryAt { return .unavailable(until: retryAt, .upstreamUnavailable) }
    if case .one(let cause) = permission { return .onTrial(cause) }
    return .available
  }

  /// Whether to start one more connection now; the caller does so at once when the answer is true.
  ///
  /// One attempt runs at a time. A further connection is opened only when more pushes are queued than the open ones have
  /// free streams for.
  public mutating func shouldConnect(queued: Int, freeStreams: Int, at now: Instant) -> Bool {
    guard queued > freeStreams, connecting == 0, open < bounds.connections else { return false }
    if case .unavailable = availability(at: now) { return false }
    if let retryAt, now < retryAt { return false }
    connecting += 1
    return true
  }

  /// The attempt that was under way has succeeded.
  public mutating func connected() {
    precondition(connecting > 0)
    connecting -= 1
    open += 1
  }

  /// The attempt that was under way has failed; the next waits with `jitter` (0 to 1) of half its delay added.
  public mutating func connectFailed(at now: Instant, jitter: Double) {
    precondition(connecting > 0)
    connecting -= 1
    backOff(at: now, jitter: jitter)
  }

  /// An open connection has ended: `orderly` when both sides had finished, `hasAnswered` when it answered any push.
  ///
  /// A server that takes connections and then turns every push away, as one that is being shut down may, says GOAWAY in good
  /// order: without a delay, connecting would go on as fast as it does.
  public mutating func disconnected(at now: Instant, orderly: Bool, hasAnswered: Bool, jitter: Double) {
    precondition(open > 0)
    open -= 1
    if !(orderly && hasAnswered) { backOff(at: now, jitter: jitter) }
  }

  /// Takes note of an answer.
  public mutating func answered(_ answer: UpstreamAnswer, at now: Instant) {
    failures = 0
    retryAt = nil
    breaker.answered(answer.ofUpstream, at: now)
    let doubt = answer.status == 400 || answer.status == 410
    doubtfulCount += doubt ? 1 : 0
    if doubtful.count < Self.answersRemembered {
      doubtful.append(doubt)
    } else {
      doubtfulCount -= doubtful[nextAnswer] ? 1 : 0
      doubtful[nextAnswer] = doubt
      nextAnswer = (nextAnswer + 1) % Self.answersRemembered
    }
  }

  private mutating func backOff(at now: Instant, jitter: Double) {
    let doubled = bounds.firstDelay * (1 << min(failures, 20))
    let delay = min(doubled, bounds.longestDelay)
    failures += 1
    retryAt = now + delay + TimeSpan(nanoseconds: Int64(Double(delay.nanoseconds) / 2 * jitter))
  }
}
