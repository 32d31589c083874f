import Foundation
import Synchronization

/// What a process wrote to one of its outputs so far; filled by a thread of its own, read by tests.
final class ByteStream: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Reads `descriptor` to its end on a thread of its own, then closes it.
  init(reading descriptor: Int32, name: String) {
    let thread = Thread { [self] in
      var chunk = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        state.withLock { $0.bytes += chunk[..<count] }
      }
      close(descriptor)
      state.withLock { $0.isClosed = true }
    }
    thread.name = name
    thread.stackSize = 256 << 10
    thread.start()
  }

  /// Everything so far.
  var data: Data { state.withLock { Data($0.bytes) } }

  /// Everything so far, as text.
  var text: String { String(decoding: data, as: UTF8.self) }

  /// The whole lines so far.
  var lines: [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines.removeLast()
    return lines
  }

  /// How many whole lines there are so far.
  var lineCount: Int { state.withLock { state in state.bytes.count { $0 == UInt8(ascii: "\n") } } }

  /// Whether the writer is gone.
  var isClosed: Bool { state.withLock { $0.isClosed } }
}
