import Primitives
import Push

/// The provider tokens that were last new in one place, and when they were first used: `Limits.providerTokensFree` of them may
/// be new within `Limits.providerTokenUpdateSeconds` (apns.md section 4.2: the first, and a small burst).
struct TokenUpdateWindow {
  private struct Use {
    var token: UInt64 = 0
    var first = Instant.distantPast
  }

  // The size is a constant of the type.
  private var uses = InlineArray<4, Use>(repeating: Use())
  private(set) var lastUpdate = Instant.distantPast

  init() { precondition(uses.count == Limits.providerTokensFree) }

  /// Whether `token`, never 0, may be used now: one that was used before may, and a new one unless too many were. One that may not
  /// is forgotten, unless `keeps`.
  mutating func note(_ token: UInt64, _ now: Instant, keeps: Bool) -> Bool {
    var oldest = 0
    for index in uses.indices {
      if uses[index].token == token { return true }
      if uses[index].first < uses[oldest].first { oldest = index }
    }
    let isInTime = uses[oldest].token == 0 || now - uses[oldest].first >= .seconds(Limits.providerTokenUpdateSeconds)
    if isInTime || keeps {
      uses[oldest] = Use(token: token, first: now)
      lastUpdate = now
    }
    return isInTime
  }
}
