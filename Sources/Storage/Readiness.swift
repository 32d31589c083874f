import Push

/// Whether the store takes pushes.
public enum Readiness: Hashable, Sendable {
  /// It does.
  case ready
  /// It does not, for the reason in the sentence.
  case notReady(String)
}

/// Something that goes wrong although the store takes pushes, and that somebody should see to before it does not.
public enum StoreWarning: Hashable, Sendable {
  /// Pages of the write-ahead log cannot be copied into the database, for that reason, and the log grows.
  case checkpointsFail(String)
  /// The pushes that wait for the upstream of that name hold all that they may; further ones are answered 503.
  case upstreamFull(String)
  /// Its thread has been saving for so long, and so many pushes wait for it.
  case isBehind(pushes: Int, milliseconds: Int64)
}

extension StoreWarning: CustomStringConvertible {
  /// The sentence.
  public var description: String {
    switch self {
    case .checkpointsFail(let why):
      "The store's write-ahead log cannot be copied into its database (\(why)); pushes are answered 503 once the log has \(Limits.writeAheadBytesMax >> 20) MB."
    case .upstreamFull(let name):
      "The upstream \(name) takes no pushes, and those that wait for it hold all that is there for it: further ones for it are answered 503, those for other upstreams are not."
    case .isBehind(let pushes, let milliseconds):
      "The store has been saving for \(milliseconds) ms, and \(pushes) pushes wait for it; see whether its disk is slow. With \(Limits.unsettledPushes) on a loop, clients are no longer read until some are saved."
    }
  }
}
