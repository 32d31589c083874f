import Synchronization

/// A list that any thread may append to, and that tells whoever waits for it.
public final class Recorder<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [AsyncStream<Void>.Continuation] = []
  }

  private let state = Mutex(State())

  /// An empty list.
  public init() {}

  /// What was appended since it was last taken.
  public var all: [Element] { state.withLock { $0.elements } }

  /// Adds an element to the end.
  public func append(_ element: Element) { append(contentsOf: [element]) }

  /// Adds all of these to the end, in one go.
  public func append(contentsOf elements: [Element]) {
    state.withLock {
      $0.elements += elements
      for each in $0.waiting { each.yield() }
    }
  }

  /// All of it, which is then forgotten.
  public func take() -> [Element] {
    state.withLock { state in
      defer { state.elements.removeAll() }
      return state.elements
    }
  }

  /// Returns once the list is as `condition` wants it; throws when the test's time limit has passed before.
  public func until(_ condition: ([Element]) -> Bool) async throws {
    let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.waiting.append(changed) }
    var iterator = changes.makeAsyncIterator()
    while !condition(all) {
      guard await iterator.next() != nil else { throw NotInTime(elements: "\(all)") }
    }
  }
}

/// The test's time was up.
public struct NotInTime: Error {
  /// The list by then.
  public let elements: String
}
