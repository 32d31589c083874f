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

extension PushTraits {
  /// Whether a waiting push is dropped when a newer one of its token arrives: one that shows a later state, or, as APNs does for a device
  /// that is away, one that is sent under the same collapse id.
  ///
  /// An end never gives way, a reload signal only merges into another, and an update gives way only to what the device will not call older.
  ///
  /// - Parameter sharesCollapseID: Whether both have the same push type and the same collapse id.
  public func givesWay(to newer: PushTraits, sharesCollapseID: Bool) -> Bool {
    let isLater = newer.timestamp >= timestamp
    if lane.givesWay(to: newer.lane) { return isLater }
    guard sharesCollapseID, lane != .reload, activity != .end else { return false }
    return activity != .update || isLater
  }
}

extension Expiration {
  /// Whether a push that was received at `received` is for one attempt and no storage: it has 0, or a date that had passed by then, at which
  /// APNs "tries to deliver it at least once" as well.
  public func isUnstored(received: Instant) -> Bool {
    switch self {
    case .absent: false
    case .zero: true
    case .at(let date): date <= received
    }
  }

  /// Until when a push may wait, if it was received at `received`; nothing is kept longer than `storage`.
  public func deadline(received: Instant, storage: TimeSpan) -> Instant {
    switch self {
    case .at(let date) where date > received: min(date, received + storage)
    case .absent, .zero, .at: received + storage
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
