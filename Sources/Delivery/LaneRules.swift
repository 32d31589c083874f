public import Primitives
public import Push

/// How pushes of one token stand for one another while they wait. Payloads are never rewritten.
extension LaneClass {
  /// Whether a waiting push of this class stands for a newer one, which then needs no place of its own.
  public func standsFor(newer: LaneClass) -> Bool { self == .reload && newer == .reload }

  /// Whether a waiting push of this class is dropped when a newer one arrives, since that shows a later state.
  public func givesWay(to newer: LaneClass) -> Bool {
    switch self {
    case .activityUpdate: newer == .activityUpdate || newer == .activityEndWithState
    case .background: newer == .background
    case .reload, .activityEndWithState, .keep: false
    }
  }

  /// Whether those behind it in the lane may go before it.
  public var letsOthersPass: Bool { self == .background }

  /// Whether `apns-expiration: 0` lets it wait for its budget, which is no storage; any other push with 0 only looks for a connection.
  public var mayWaitUnstored: Bool { self == .reload || self == .background }
}

extension Expiration {
  /// Until when a push may wait, if it was received at `received`; nothing is kept longer than `storage`.
  public func deadline(received: Instant, storage: TimeSpan) -> Instant {
    switch self {
    case .absent, .zero: received + storage
    case .at(let date): min(date, received + storage)
    }
  }

  /// The one that lasts longer: what a waiting push has after another merged into it.
  public func latest(_ other: Expiration) -> Expiration {
    switch (self, other) {
    case (.absent, _), (_, .absent): .absent
    case (.at(let a), .at(let b)): .at(max(a, b))
    case (.at, .zero), (.zero, .zero): self
    case (.zero, .at): other
    }
  }
}
