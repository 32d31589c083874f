/// What became of a push; every push ends in one final disposition.
public enum Disposition: UInt8, CaseIterable, Sendable {
  /// Answered with an error.
  case refused
  /// Accepted; waits for budget or for its upstream.
  case waiting
  /// Accepted; another push of the token stands for it.
  case merged
  /// Written to an upstream, whose answer is not in yet.
  case forwarding
  /// The upstream said 200 and tells no more.
  case accepted
  /// The device did what the push asked.
  case applied
  /// The device, or a budget, let the push pass without doing it.
  case ignored
  /// Its date passed before it could be delivered.
  case expired
  /// The upstream refused it for good.
  case failed

  /// The name used in JSON.
  public var name: String { "\(self)" }

  /// The disposition of that name, or nil.
  public init?(name: String) {
    guard let match = Disposition.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }

  /// Whether nothing more happens to the push.
  public var isFinal: Bool {
    switch self {
    case .waiting, .forwarding: false
    case .refused, .merged, .accepted, .applied, .ignored, .expired, .failed: true
    }
  }
}

/// How sure a statement about a push is.
public enum Certainty: UInt8, CaseIterable, Sendable {
  /// Seen to happen.
  case known
  /// Follows from what is known of Apple's behaviour.
  case likely
  /// Happens where the gateway cannot look.
  case cannotSee

  /// The name used in JSON.
  public var name: String { "\(self)" }
}
