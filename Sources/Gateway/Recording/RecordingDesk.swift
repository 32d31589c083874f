package import Primitives
import Push
import Storage
import Synchronization

/// Those who record at one gateway: its loops and its control API tell it what comes, and it hands that on to each of them.
///
/// Safe to use from any thread. While nobody records, a push costs a load and a branch; nobody ever waits for who does.
package final class RecordingDesk: Sendable {
  private let armed = Atomic<Bool>(false)
  private let queues = Mutex<[RecordingQueue]>([])

  private let bytesMax: Int

  /// A desk at which nobody records yet.
  ///
  /// - Parameter bytesMax: What may wait for each who does.
  package init(bytesMax: Int = Limits.recordingBytes) { self.bytesMax = bytesMax }

  /// Whether somebody records.
  package var isArmed: Bool { armed.load(ordering: .relaxed) }

  /// Begins a recording of what belongs to these apps; nil when there are as many as there may be.
  ///
  /// - Parameters:
  ///   - visible: The apps that the caller may see; nil means all, and what belongs to none.
  ///   - bundleID: The one that is asked for; nil for all that may be seen.
  func open(visible: Set<String>?, bundleID: String?) -> RecordingQueue? {
    queues.withLock { queues in
      queues.removeAll { $0.isOver }
      guard queues.count < Limits.recorders else { return nil }
      let queue = RecordingQueue(visible: visible, bundleID: bundleID, capacity: bytesMax)
      queues.append(queue)
      armed.store(true, ordering: .relaxed)
      return queue
    }
  }

  /// Ends a recording; what comes is not kept for it any more.
  func close(_ queue: RecordingQueue) {
    queue.end()
    queues.withLock { queues in
      queues.removeAll { $0.isOver }
      armed.store(!queues.isEmpty, ordering: .relaxed)
    }
  }

  /// A push has come, at this time of the product's clock.
  package func take(_ push: RecordedPush, bundleID: String, at: Instant) {
    give(.push(push, bundleID: bundleID), at, bundleID)
  }

  /// A token was registered, or registered anew, in the place of another where that was said.
  func registered(_ registration: Registration, replacing replaced: DeviceToken?, at: Instant) {
    guard isArmed else { return }
    give(.registered(registration, replacing: replaced), at, registration.bundleID)
  }

  /// A token's registration was taken back.
  func unregistered(_ token: DeviceToken, of bundleID: String, at: Instant) {
    guard isArmed else { return }
    give(.unregistered(token), at, bundleID)
  }

  /// An app has other settings.
  func changed(app bundleID: String, at: Instant) {
    guard isArmed else { return }
    give(.app(bundleID), at, bundleID)
  }

  private func give(_ content: RecordingQueue.Content, _ at: Instant, _ bundleID: String) {
    queues.withLock { queues in
      for queue in queues where queue.wants(bundleID) { queue.give(RecordingQueue.Item(at: at, content: content)) }
    }
  }
}
