import Synchronization

/// Messages from any thread to one loop, in order, at most `capacity` of them waiting.
///
/// The loop is woken only when it sleeps. Two arrays are swapped back and forth, so a mailbox that is used
/// steadily allocates nothing.
public final class Mailbox<Message: Sendable>: Sendable {
  private struct Contents: Sendable {
    var incoming: ContiguousArray<Message> = []
    var spare: ContiguousArray<Message> = []
    var isClosed = false
  }

  /// The most messages that wait at once.
  public let capacity: Int
  private let loop: LoopHandle
  private let contents = Mutex(Contents())

  init(capacity: Int, loop: LoopHandle) {
    self.capacity = capacity
    self.loop = loop
  }

  /// Leaves `message` for the loop; false when the mailbox is full or its loop is gone, and the message is not taken.
  @discardableResult
  public func post(_ message: Message) -> Bool {
    let taken = contents.withLock { contents in
      guard contents.incoming.count < capacity, !contents.isClosed else { return false }
      contents.incoming.append(message)
      return true
    }
    if taken { loop.wake() }
    return taken
  }

  /// Whether nothing waits.
  public var isEmpty: Bool { contents.withLock { $0.incoming.isEmpty } }

  /// Hands over everything that waited at the time of the call; false when that was nothing.
  func drain(_ receive: (Message) -> Void) -> Bool {
    var taken = contents.withLock { contents -> ContiguousArray<Message> in
      guard !contents.incoming.isEmpty else { return [] }
      let taken = contents.incoming
      contents.incoming = contents.spare
      contents.spare = []
      return taken
    }
    guard !taken.isEmpty else { return false }
    for message in taken { receive(message) }
    taken.removeAll(keepingCapacity: true)
    contents.withLock { $0.spare = taken }
    return true
  }

  /// Takes nothing more, and lets go of what still waits: its senders may hold the mailbox for long.
  func close() {
    let dropped = contents.withLock { contents in
      contents.isClosed = true
      let dropped = contents.incoming
      contents.incoming = []
      return dropped
    }
    // Messages end here, outside the lock: they may post again.
    _ = consume dropped
  }
}
