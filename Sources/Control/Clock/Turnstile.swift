import Synchronization

/// Lets one task at a time through, in the order in which they came.
final class Turnstile: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let waitingMax: Int

  /// A turnstile before which at most `waitingMax` tasks wait.
  init(waitingMax: Int) { self.waitingMax = waitingMax }

  /// Runs `body` once it is the caller's turn; throws at once where too many wait.
  func pass<Result: Sendable>(_ body: () async throws(ControlError) -> Result) async throws(ControlError) -> Result {
    try await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async throws(ControlError) {
    let isFull = state.withLock { $0.isTaken && $0.waiting.count >= waitingMax }
    guard !isFull else { throw .unavailable("\(waitingMax) calls wait already to move the clock") }
    await withCheckedContinuation { continuation in
      let isMyTurn = state.withLock { state in
        guard state.isTaken else {
          state.isTaken = true
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
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
