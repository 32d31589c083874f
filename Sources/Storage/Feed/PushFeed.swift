import Push
import Synchronization

/// The events of the push log for one who follows it: the store puts them in, and `next` takes them out.
///
/// It ends when it is let go of, when its store stops, or with the task that waits in `next`. Safe to use from any thread; one task at a
/// time may wait.
public final class PushFeed: Sendable {
  /// What a follower is told.
  public enum Item: Hashable, Sendable {
    /// A push has changed.
    case push(PushEvent)
    /// At least so many events could not be told at this place: more came than wait for one follower.
    case lost(Int)
  }

  let queue: FeedQueue

  init(_ queue: FeedQueue) { self.queue = queue }

  deinit { queue.end() }

  /// What has come since the last call, in order; waits while that is nothing. Empty after a `tick`, and nil when nothing comes any more.
  public func next() async -> [Item]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { queue.wait($0) }
    } onCancel: {
      queue.end()
    }
  }

  /// Has the one who waits go on, although nothing has come.
  public func tick() { queue.tick() }

  /// Has nothing come any more; what has come can still be taken.
  public func end() { queue.end() }
}

/// What waits for one follower, bounded: the store never waits for it, and what does not fit is counted.
final class FeedQueue: Sendable {
  private struct State {
    var items: [PushFeed.Item] = []
    var bytes = 0
    var isTicked = false
    var isOver = false
    var waiting: CheckedContinuation<[PushFeed.Item]?, Never>?
  }

  /// What one who follows can take before some is lost.
  struct Room {
    var events: Int
    var bytes: Int

    /// Takes up what `event` needs; false where that is not there.
    mutating func take(_ event: PushEvent) -> Bool {
      let needed = event.bytes
      guard events > 0, needed <= bytes else { return false }
      events -= 1
      bytes -= needed
      return true
    }
  }

  private let capacity: Room
  private let state = Mutex(State())

  /// An empty queue for so many events of so many bytes.
  init(capacity: Int, bytes: Int = Limits.eventQueueBytes) { self.capacity = Room(events: capacity, bytes: bytes) }

  /// Bytes of the events that wait.
  var bytes: Int { state.withLock { $0.bytes } }

  /// Whether nobody takes anything out any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// What it takes before some is lost.
  var room: Room { state.withLock { Room(events: max(0, capacity.events - $0.items.count), bytes: max(0, capacity.bytes - $0.bytes)) } }

  /// Puts events in, and `lost` behind them.
  func give(_ events: [PushEvent], lost: Int = 0) {
    change { state in
      state.items += events.map { .push($0) }
      state.bytes += events.reduce(0) { $0 + $1.bytes }
      guard lost > 0 else { return }
      if case .lost(let earlier)? = state.items.last {
        state.items[state.items.count - 1] = .lost(earlier + lost)
      } else {
        state.items.append(.lost(lost))
      }
    }
  }

  /// Has the one who waits go on with what there is.
  func tick() { change { $0.isTicked = true } }

  /// Nothing comes any more; what is there can still be taken.
  func end() { change { $0.isOver = true } }

  /// Gives `continuation` what is there, or as soon as something is.
  func wait(_ continuation: CheckedContinuation<[PushFeed.Item]?, Never>) {
    change { state in
      precondition(state.waiting == nil, "one task at a time waits")
      state.waiting = continuation
    }
  }

  /// Changes the state, and resumes who waits if that is due.
  private func change(_ body: (inout State) -> Void) {
    let (waiting, items) = state.withLock { state -> (CheckedContinuation<[PushFeed.Item]?, Never>?, [PushFeed.Item]?) in
      body(&state)
      guard let waiting = state.waiting, !state.items.isEmpty || state.isTicked || state.isOver else { return (nil, nil) }
      let items: [PushFeed.Item]? = state.isOver && state.items.isEmpty ? nil : state.items
      state.items.removeAll()
      state.bytes = 0
      state.isTicked = false
      state.waiting = nil
      return (waiting, items)
    }
    waiting?.resume(returning: items)
  }
}
