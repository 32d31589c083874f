import Synchronization

/// Whether whoever waits for an answer has lost interest in it.
final class Abandonment: Sendable {
  private let state = Atomic<Bool>(false)

  /// Whether the answer is not wanted any more.
  var isDeclared: Bool { state.load(ordering: .relaxed) }

  /// Gives the answer up, for good.
  func declare() { state.store(true, ordering: .relaxed) }
}
