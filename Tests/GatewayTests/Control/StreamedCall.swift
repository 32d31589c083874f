import Control
import Testing

/// A call whose answer is written bit by bit, and what it has been sent.
struct StreamedCall {
  let text = Box("")
  let outcome = Box(BodyWriter.Outcome.taken)
  let task: Task<Void, Never>
  /// One for what was written since it was last looked at; its end is the call's.
  private let writes: AsyncStream<Void>

  init(_ response: HTTPResponse) throws {
    let (text, outcome) = (text, outcome)
    let body = try #require(response.stream)
    let (writes, written) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.writes = writes
    task = Task {
      await body.run(
        BodyWriter { bytes in
          if outcome.value == .taken { text.change { $0 += String(decoding: bytes, as: UTF8.self) } }
          written.yield()
          return outcome.value
        })
      written.finish()
    }
  }

  /// Waits until what was written makes `condition` hold.
  func until(_ condition: () -> Bool) async throws {
    var writes = writes.makeAsyncIterator()
    while !condition() { _ = try #require(await writes.next(), "the call has ended: \(text.value.suffix(2000))") }
  }
}
