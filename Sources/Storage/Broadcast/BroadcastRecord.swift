public import Primitives
public import Push

/// The life of one broadcast, as the control side shows it.
public struct BroadcastRecord: Hashable, Sendable {
  /// Where it has got with one upstream.
  public struct Delivery: Hashable, Sendable {
    /// The upstream's number; its name is the configuration's.
    public var upstream: UInt16
    /// What became of it there.
    public var disposition: Disposition
    /// Why.
    public var cause = Cause.none
    /// How often it was sent.
    public var attempts = 0
    /// When it is sent next, while it waits.
    var due: Instant
    /// Activities that the upstream's devices reached, and those of them that did what it asked; nil where the upstream does not tell.
    public var reached: Int?
    /// See `reached`.
    public var applied: Int?
    /// What the device had to say besides.
    public var detail: String?
  }

  /// One thing that happened to it.
  public struct Step: Hashable, Sendable {
    /// When.
    public var at: Instant
    /// What it was from then on.
    public var disposition: Disposition
    /// Why.
    public var cause: Cause
    /// The upstream concerned; nil where none is.
    public var upstream: UInt16?
    /// Which attempt it was, from 1; nil for what is no attempt.
    public var attempt: Int?
  }

  /// Its number, never given twice.
  public var sequence: UInt64
  /// Its id, in the sender's letter case.
  public var id: PushID
  /// Whose channel it went to.
  public var owner: ChannelOwner
  /// The channel.
  public var channel: ChannelID
  /// The priority; nil when none was sent.
  public var priority: Priority?
  /// The expiration.
  public var expiration: Expiration
  /// When the request was complete.
  public var received: Instant
  /// The warnings of the rules.
  public var warnings: PushWarnings
  /// What those of them are about that are of a key, a header or a date.
  public var warningDetails: [WarningDetail] = []
  /// The newer broadcast that stands for it where it still waited.
  public var mergedInto: PushID?
  /// Each upstream.
  public var deliveries: [Delivery] = []
  /// What happened, in order; at most `Limits.stepsPerPush`, of which the last is the latest.
  public var steps: [Step] = []

  /// Whether nothing more happens to it.
  public var isFinal: Bool { deliveries.allSatisfy(\.disposition.isFinal) }

  /// What became of it: what is still open comes first, then the best that any upstream has done.
  public var outcome: (disposition: Disposition, cause: Cause) {
    let order: [Disposition] = [.forwarding, .waiting, .applied, .accepted, .failed, .ignored, .expired, .merged]
    for disposition in order {
      if let delivery = deliveries.first(where: { $0.disposition == disposition }) { return (disposition, delivery.cause) }
    }
    return (.waiting, .none)
  }

  /// Activities reached, and those that did what was asked, at all upstreams that tell; nil when none does.
  public var activities: (reached: Int, applied: Int)? {
    guard deliveries.contains(where: { $0.reached != nil }) else { return nil }
    return deliveries.reduce((0, 0)) { ($0.0 + ($1.reached ?? 0), $0.1 + ($1.applied ?? 0)) }
  }

  mutating func add(_ step: Step) {
    steps.append(step)
    if steps.count > Limits.stepsPerPush { steps.remove(at: 1) }
  }
}
