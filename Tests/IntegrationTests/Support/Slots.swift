import Synchronization
import Testing

/// Holds the tests of a suite to a few at a time: each runs processes of its own, and there may be only two processors.
struct Slots: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true
  private static let free = AsyncSemaphore(3)

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Slots? { testCase == nil ? nil : self }

  func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
    await Self.free.wait()
    defer { Self.free.signal() }
    try await function()
  }
}

extension Trait where Self == Slots {
  /// At most three test cases of all suites with this trait run at once.
  static var processes: Slots { Slots() }
}

/// Counts free places; those who find none wait in turn.
final class AsyncSemaphore: Sendable {
  private let state: Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

  init(_ count: Int) { state = Mutex((count, [])) }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func signal() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
