import Synchronization

/// What keeps the gateway from doing its work well, as `/readyz` tells it; set by the loops, read by anybody.
final class GatewayConditions: Sendable {
  private let sentences = Mutex<[String: String]>([:])
  private let clauses = Mutex<[String: String]>([:])

  /// Puts `sentence` on record for `subject`, or takes it off when it is nil.
  func set(_ subject: String, _ sentence: String?) { sentences.withLock { $0[subject] = sentence } }

  /// Puts a clause on record about the upstream of that name, such as `the upstream device at 127.0.0.1:8444 cannot be reached (…)`, which
  /// keeps the gateway from nothing else; nil takes it off.
  func setUnreachable(_ upstream: String, _ clause: String?) { clauses.withLock { $0[upstream] = clause } }

  /// The clauses about upstreams that cannot be reached, by their names.
  var unreachable: [String: String] { clauses.withLock { $0 } }

  /// Every sentence on record, by subject; what several loops have found is told once.
  var all: [String] {
    let sorted = sentences.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
    return sorted.enumerated().filter { !sorted[..<$0.offset].contains($0.element) }.map(\.element)
  }
}
