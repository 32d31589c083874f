import Synchronization

/// Lets a few tasks at a time through, in the order in which they came.
public final class Turnstile: Sendable {
  private struct State {
    var inside = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let insideMax: Int
  private let waitingMax: Int
  private let purpose: String

  /// A turnstile that has `insideMax` tasks inside, and before which at most `waitingMax` wait.
  ///
  /// - Parameter purpose: What they wait for, such as `move the clock`; for the error.
  public init(insideMax: Int = 1, waitingMax: Int, to purpose: String) {
    self.insideMax = insideMax
    self.waitingMax = waitingMax
    self.purpose = purpose
  }

  /// Runs `body` once it is the caller's turn; throws at once where too many wait.
  public func pass<Result: Sendable>(_ body: () async throws(ControlError) -> Result) async throws(ControlError) -> Result {
    try await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async throws(ControlError) {
    let isFull = state.withLock { $0.inside >= insideMax && $0.waiting.count >= waitingMax }
    guard !isFull else { throw .unavailable("\(waitingMax) calls wait already to \(purpose)") }
    await withCheckedContinuation { continuation in
      let isMyTurn = state.withLock { state in
        guard state.inside >= insideMax else {
          state.inside += 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isMyTurn { continuation.resume() }
    }
  }

  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.inside -= 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
