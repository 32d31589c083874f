import Control
import Synchronization

/// Somebody who waits, in async code, for what a loop will say.
///
/// A reply that is let go without an answer — its mailbox was full, its loop has stopped — answers by itself, so that nobody waits for ever.
final class Reply<Value: Sendable>: Sendable {
  typealias Answer = Result<Value, ControlError>

  private let continuation: Mutex<CheckedContinuation<Answer, Never>?>

  private init(_ continuation: CheckedContinuation<Answer, Never>) { self.continuation = Mutex(continuation) }

  deinit { answer(.failure(.unavailable("the mock device is stopping or has too much to do; try again in a second"))) }

  /// Calls `ask` with a reply and waits until it is answered or let go.
  static func waiting(_ ask: (Reply) -> Void) async throws(ControlError) -> Value {
    let answer = await withCheckedContinuation { ask(Reply($0)) }
    return try answer.get()
  }

  /// Answers; a second answer goes nowhere.
  func answer(_ answer: Answer) {
    let taken = continuation.withLock { continuation in
      let taken = continuation
      continuation = nil
      return taken
    }
    taken?.resume(returning: answer)
  }
}
