import Push

/// What a reset has forgotten.
public struct ResetReport: Hashable, Sendable {
  /// Pushes and broadcasts, refused ones included.
  public var pushes = 0
  /// Tokens that had spent something, or had pushes.
  public var tokens = 0
}

extension Store {
  /// Stops an app's reloads, forgets its activities by name and its pushes, those that wait included, and fills its budgets;
  /// registrations stay. Durable when it answers.
  ///
  /// It is done in slices, between which pushes are settled; what comes in meanwhile may stay.
  ///
  /// - Parameter bundleID: Nil means every app.
  public func reset(_ bundleID: String?) async throws(StoreError) -> ResetReport {
    var report = ResetReport()
    try await change { core in core.state.stopErrands(of: bundleID, at: core.now) }
    var first: UInt32? = 0
    while let start = first {
      let (reset, next) = try await change { core in
        let end = start + Limits.resetTokens
        return (
          core.state.resetTokens(of: bundleID, from: start, count: Limits.resetTokens, at: core.now),
          end < core.state.tokens.end ? end : nil
        )
      }
      report.tokens += reset
      first = next
    }
    var (end, oldest) = try await ask { core in (core.state.log.next, core.state.log.oldest) }
    while end > oldest {
      report.pushes += try await change { [end] core in
        core.state.forgetPushes(of: bundleID, below: end, count: Limits.resetPushes)
      }
      end -= min(end, Limits.resetPushes)
    }
    report.pushes += try await change { core in core.state.forgetRefused(of: bundleID) }
    return report
  }
}
