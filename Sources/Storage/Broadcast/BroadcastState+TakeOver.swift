import Delivery
import Primitives
import Push

extension BroadcastState {
  /// Goes on where a state that is ahead of the disk must be given up: what was sent before that is on its way still, and what has come
  /// of it has happened, whether that is saved or not.
  mutating func takeOver(_ old: BroadcastState) {
    for number in unended.map(\.sequence) {
      guard let sent = old.records[number] else { continue }
      for delivery in sent.deliveries { resume(delivery, of: number, sent.steps) }
    }
  }

  private mutating func resume(_ delivery: BroadcastRecord.Delivery, of number: UInt64, _ steps: [BroadcastRecord.Step]) {
    guard var record = records[number],
      let index = record.deliveries.firstIndex(where: { $0.upstream == delivery.upstream && !$0.disposition.isFinal }),
      // An attempt more was one of the round that is given up: nothing went out.
      delivery.attempts == record.deliveries[index].attempts, delivery.attempts > 0
    else { return }
    switch delivery.disposition {
    case .forwarding, .waiting:
      record.deliveries[index] = delivery
      put(record, isNews: false)
    case .accepted, .applied, .ignored, .failed:
      record.deliveries[index] = delivery
      if let step = steps.last(where: { $0.upstream == delivery.upstream }) { record.add(step) }
      put(record)
    // By another broadcast, or by a time, of that round; both come again if they are to.
    case .merged, .expired, .refused: break
    }
  }
}
