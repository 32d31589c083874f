import Primitives
public import Push

/// Why an app gets no activity more.
public struct ActivityRefusal: Error, Hashable, Sendable {
  /// What there are as many of as there may be.
  public enum Measure: Hashable, Sendable {
    /// The activities that are known.
    case count
    /// Bytes of their texts.
    case textBytes
  }

  /// Whose share is used up.
  public let share: ShareRefusal
  /// Of what.
  public let measure: Measure

  /// Whether it is the app itself that has its share.
  var isOfApp: Bool { if case .app = share { true } else { false } }
}

// Room for a new activity. Those that are over are remembered while there is room, and make way for new ones, one for one: an app's own
// first, then, unless the app has its share, the oldest of all.
extension ActivityTable {
  /// The activities to forget so that an app gets one more, or why it gets none. Nothing is forgotten here, so that a refusal costs
  /// nobody anything.
  ///
  /// - Parameters:
  ///   - old: The ended activity of the same name, which goes in any case.
  ///   - bytes: Bytes of the new one's texts.
  mutating func room(
    for bundleID: String, replacing old: UInt32?, bytes: Int, at now: Instant
  ) -> Result<[UInt32], ActivityRefusal> {
    var leaving = old.map { [$0] } ?? []
    var own: [UInt32]?
    var others: [UInt32] = []
    while let refusal = refusal(of: bundleID, leaving: leaving, for: bytes) {
      if own == nil { own = newestOver(of: bundleID, at: now).filter { $0 != old } }
      var next = own?.popLast()
      if next == nil, !refusal.isOfApp, let other = oldest(at: now) {
        others.append(other)
        next = other
      }
      guard let next else {
        over += others.reversed()
        return .failure(refusal)
      }
      if !leaving.contains(next) { leaving.append(next) }
    }
    return .success(leaving)
  }

  /// Why there is no room for one of `bytes` when those have left; nil too where as much leaves as comes.
  private func refusal(of bundleID: String, leaving: [UInt32], for bytes: Int) -> ActivityRefusal? {
    let has = namesOfApp[bundleID]?.names.count ?? 0
    let counts = FairShare(of: Limits.namedActivities)
    if leaving.isEmpty, let share = counts.refusal(used: count, token: nil, apps: [(bundleID, has)]) {
      return ActivityRefusal(share: share, measure: .count)
    }
    let gone = leaving.compactMap { self[$0] }
    let freed = gone.reduce(0) { $0 + $1.textBytes }
    let freedOfApp = gone.reduce(0) { $1.bundleID == bundleID ? $0 + $1.textBytes : $0 }
    let hasBytes = (textBytesOfApp[bundleID] ?? 0) - freedOfApp
    let texts = FairShare(of: Limits.namedActivityBytes)
    guard freed < bytes, let share = texts.refusal(used: textBytes - freed, token: nil, apps: [(bundleID, hasBytes)]) else { return nil }
    return ActivityRefusal(share: share, measure: .textBytes)
  }

  /// Those of an app that are over, the oldest last. O(the app's activities).
  private func newestOver(of bundleID: String, at now: Instant) -> [UInt32] {
    let all = (namesOfApp[bundleID]?.names ?? []).compactMap { name in
      number(bundleID, name).flatMap { number in self[number].map { (number, $0) } }
    }
    let over = all.filter { Self.restUntil($0.1) <= now }
    return over.sorted { ($0.1.ended ?? $0.1.updated) > ($1.1.ended ?? $1.1.updated) }.map(\.0)
  }
}
