public import Push

/// What the store counts and measures; one value, copied out after each commit.
public struct StoreCounters: Sendable {
  /// Broadcast channels that have not been deleted.
  public internal(set) var channels = 0
  /// Broadcasts that have not reached every upstream.
  public internal(set) var broadcastsPending = 0
  /// Pushes that wait in lanes.
  public internal(set) var waiting = 0
  /// Pushes in flight.
  public internal(set) var inFlight = 0
  /// Bytes held for waiting and unfinished pushes.
  public internal(set) var waitingBytes = 0
  /// Registered tokens.
  public internal(set) var registrations = 0
  /// Entries of the push log.
  public internal(set) var logEntries = 0
  /// Bytes of journal that have not been folded.
  public internal(set) var journalBytes = 0
  /// Commits so far.
  public internal(set) var commits: UInt64 = 0
  /// Commits that failed.
  public internal(set) var failedCommits: UInt64 = 0
  /// Copies from the write-ahead log into the database that failed.
  public internal(set) var failedCheckpoints: UInt64 = 0

  // A type takes 16 places, which is more than there are dispositions; inline, so that a copy allocates nothing.
  private var finished = InlineArray<256, UInt64>(repeating: 0)

  /// Pushes of that type that have ended so, since the start.
  public func finished(_ type: PushType, _ disposition: Disposition) -> UInt64 {
    finished[Int(type.rawValue) << 4 | Int(disposition.rawValue)]
  }

  mutating func count(_ type: PushType, _ disposition: Disposition) {
    finished[Int(type.rawValue) << 4 | Int(disposition.rawValue)] &+= 1
  }
}
