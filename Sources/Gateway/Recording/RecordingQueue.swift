import Primitives
import Push
import Storage
import Synchronization

/// What waits for one who records, bounded: nobody waits for it, and what does not fit is counted, where it is missing.
final class RecordingQueue: Sendable {
  /// Something to tell.
  struct Item: Sendable {
    var at: Instant
    var content: Content
  }

  /// What there is to tell.
  enum Content: Sendable {
    case push(RecordedPush, bundleID: String)
    case outcome(PushID, RecordedOutcome)
    case registered(Registration, replacing: DeviceToken?)
    case unregistered(DeviceToken)
    case app(String)
    case lost(RecordingLine.Lost)
  }

  private struct State {
    var items: [Item] = []
    var bytes = 0
    var isTicked = false
    var isOver = false
    var waiting: CheckedContinuation<[Item]?, Never>?
  }

  private let visible: Set<String>?
  private let bundleID: String?
  private let capacity: Int
  private let state = Mutex(State())

  init(visible: Set<String>?, bundleID: String?, capacity: Int) {
    self.visible = visible
    self.bundleID = bundleID
    self.capacity = capacity
  }

  /// Whether nobody takes anything out any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Whether what belongs to that app is recorded.
  func wants(_ bundleID: String) -> Bool {
    (visible?.contains(bundleID) ?? true) && (self.bundleID == nil || self.bundleID == bundleID)
  }

  /// Puts something in, or counts it where there is no room.
  func give(_ item: Item) {
    let bytes = item.bytes
    change { state in
      guard !state.isOver else { return }
      guard state.bytes + bytes > capacity else {
        state.items.append(item)
        state.bytes += bytes
        return
      }
      var lost = RecordingLine.Lost()
      if case .lost(let earlier)? = state.items.last?.content {
        lost = earlier
        state.items.removeLast()
      }
      lost.add(item.content)
      state.items.append(Item(at: item.at, content: .lost(lost)))
    }
  }

  /// Has the one who waits go on, although nothing has come.
  func tick() { change { $0.isTicked = true } }

  /// Has nothing come any more; what has come can still be taken.
  func end() { change { $0.isOver = true } }

  /// What has come since the last call, in order; waits while that is nothing. Empty after a `tick`, and nil when nothing comes any more.
  func next() async -> [Item]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        change { state in
          precondition(state.waiting == nil, "one task at a time waits")
          state.waiting = continuation
        }
      }
    } onCancel: {
      end()
    }
  }

  /// Changes the state, and resumes who waits if that is due.
  private func change(_ body: (inout State) -> Void) {
    let (waiting, items) = state.withLock { state -> (CheckedContinuation<[Item]?, Never>?, [Item]?) in
      body(&state)
      guard let waiting = state.waiting, !state.items.isEmpty || state.isTicked || state.isOver else { return (nil, nil) }
      let items: [Item]? = state.isOver && state.items.isEmpty ? nil : state.items
      state.items.removeAll()
      state.bytes = 0
      state.isTicked = false
      state.waiting = nil
      return (waiting, items)
    }
    waiting?.resume(returning: items)
  }
}

extension RecordingQueue.Item {
  /// What it counts of a queue's room.
  fileprivate var bytes: Int {
    guard case .push(let push, _) = content else { return Limits.recordedItemBytes }
    return push.fields.reduce(Limits.recordedItemBytes + push.payload.count + push.path.utf8.count) {
      $0 + $1.name.utf8.count + $1.value.utf8.count
    }
  }
}

extension RecordingLine.Lost {
  /// Counts something that could not be told.
  fileprivate mutating func add(_ content: RecordingQueue.Content) {
    switch content {
    case .push: pushes += 1
    case .outcome: outcomes += 1
    case .registered, .unregistered, .app: changes += 1
    case .lost(let lost):
      pushes += lost.pushes
      changes += lost.changes
      outcomes += lost.outcomes
    }
  }
}
