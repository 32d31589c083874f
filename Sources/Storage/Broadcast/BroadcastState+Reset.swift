import Primitives
import Push

extension BroadcastState {
  /// Forgets an app's broadcasts, those on their way included, and what its channels have stored; the channels stay.
  ///
  /// - Parameter bundleID: Nil means every app.
  /// - Returns: How many broadcasts there were.
  mutating func reset(_ bundleID: String?) -> Int {
    let meant = records.values.filter { bundleID == nil || $0.owner.bundleID == bundleID }.sorted { $0.sequence < $1.sequence }
    for record in meant { forget(record) }
    for id in channels.messageUntil.keys.sorted(by: { ($0.high, $0.low) < ($1.high, $1.low) })
    where bundleID == nil || channels[id]?.owner.bundleID == bundleID {
      clearMessage(of: id)
    }
    return meant.count
  }
}
