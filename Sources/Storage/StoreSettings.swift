public import Delivery
public import Primitives
import Push

/// The bounds and delays of a store; the defaults are those of `Limits`.
public struct StoreSettings: Hashable, Sendable {
  /// Tokens that may be registered.
  public var registrations = Limits.registrations
  /// Pushes that may wait in one token's lane.
  public var lanePushes = Limits.lanePushes
  /// The numbers of the upstreams that are Apple's, whose channels are not kept here.
  public var appleUpstreams: Set<UInt16> = []
  /// Whether a push whose expiration has passed as it comes is tried once, as one with 0 is; else it ends unsent.
  public var triesPastExpirations = true
  /// Bytes of all waiting and unfinished pushes.
  public var waitingBytes = Limits.waitingBytes
  /// Accepted pushes that the log keeps, rounded up to a multiple of 256.
  public var logEntries = Limits.pushLogEntries
  /// How long the log keeps pushes and refused requests at most; nil as long as there is room.
  public var logAge: TimeSpan?
  /// The names of the upstreams, by their numbers: each has a share of what waits. Without any, all wait together.
  public var upstreams: [String] = []
  /// Whether the payloads of accepted pushes are kept with the log; where not, those of earlier runs are forgotten.
  public var keepsPayloads = false
  /// Bytes of the payloads that are kept; the oldest go first.
  public var payloadBytes = Limits.pushLogPayloadBytes
  /// Refused requests that the log keeps.
  public var refusedEntries = Limits.refusedLogEntries
  /// The longest any push is kept.
  public var storage = TimeSpan.seconds(Limits.storageSeconds)
  /// How long a push with expiration 0 that is no reload signal may look for a connection.
  public var connectPatience = TimeSpan.milliseconds(Limits.upstreamConnectMilliseconds)
  /// The delays between attempts.
  public var retry = Retry(
    first: .milliseconds(Limits.retryMilliseconds.first), longest: .milliseconds(Limits.retryMilliseconds.longest))
  /// The delays after a server error, by the upstream's number; where there is none, `retry` holds.
  public var serverErrorRetries: [UInt16: Retry] = [:]
  /// Bytes of journal after which changed pages are folded.
  public var journalFoldBytes = Limits.journalFoldBytes
  /// Bytes of changed pages that one commit carries beside its own row while folding, at least.
  public var foldSliceBytes = Limits.foldSliceBytes
  /// Pushes of each loop that may wait for the store thread.
  public var inboxPushes = Limits.inboxPushesPerLoop
  /// Bytes of each loop's batches that may wait for it.
  public var inboxBytes = Limits.inboxBytesPerLoop
  /// Waiting list calls at once.
  public var waiters = Limits.pushWaiters
  /// Feeds of events at once.
  public var followers = Limits.eventFollowers
  /// Events that wait for one of them.
  public var followedEvents = Limits.eventsQueued
  /// Bytes of those events.
  public var followedBytes = Limits.eventQueueBytes
  /// Seeds the hash of tokens and ids, and the jitter; secret, since senders choose tokens.
  public var seed: UInt64 = .random(in: .min ... .max)

  /// The defaults.
  public init() {}
}
