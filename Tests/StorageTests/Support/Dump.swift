import Delivery
import Primitives
import Push

@testable import Storage

extension StoreState {
  /// All that must survive a crash, as text: tokens with budgets and live pushes, and the lives of all pushes.
  ///
  /// What was in flight waits again after a crash, and attempts that came to nothing are not saved, so neither is told.
  ///
  /// - Parameter exact: Whether the latest charges are told; an attempt that is made again moves them in memory only.
  func durable(exact: Bool = true) -> String {
    var lines: [String] = []
    for number in 0..<tokens.end where tokens[number].pointee.flags.contains(.used) {
      let token = tokens[number].pointee
      // A removed token that nothing mentions may be forgotten at any time.
      guard token.isActive || token.hasLane || log[token.logHead] != nil else { continue }
      var live: [String] = []
      var slot = token.inFlight
      var next = token.laneHead
      if slot == none { (slot, next) = (next, next == none ? none : pushes[next].pointee.next) }
      while slot != none {
        let push = pushes[slot].pointee
        live.append(
          "\(push.id) \(push.type) \(push.priority) \(push.prioritySent) \(push.expiration) \(push.isCharged) \(push.traits) \(push.warnings) "
            + String(decoding: push.bytes, as: UTF8.self))
        slot = next
        if next != none { next = pushes[next].pointee.next }
      }
      let budgets = tokens.budgets(number).map { "\($0.fullAt.nanoseconds)" + (exact ? "/\($0.lastCharge.nanoseconds)" : "") }
      lines.append(
        "\(number) \(tokens.token(number)) \(token.kind) \(token.isActive) \(routes.names[Int(token.route)]) \(token.retiredSince) "
          + "\(token.flags.intersection([.developerMode, .suspect, .frequentUpdates, .unmetered])) "
          + "\(ownTerms(number).map { "\($0)" } ?? "") \(token.minimumIntervalMilliseconds) \(token.coalesceMilliseconds) "
          + "\(token.registered.nanoseconds) \(budgets) \(live)")
    }
    return lines.joined(separator: "\n")
  }

  /// The final dispositions of all accepted pushes by id; nil for what has not ended.
  func endings() -> [PushID: Disposition?] {
    var endings: [PushID: Disposition?] = [:]
    for sequence in log.oldest..<log.next {
      guard let entry = log[sequence] else { continue }
      let last = log.last(of: entry).disposition
      endings[entry.pointee.id] = .some(last.isFinal ? last : nil)
    }
    return endings
  }
}
