import Delivery
import Storage
import Synchronization

/// The loops by number, for the store to deliver to; it is there before they are, since they need the store.
final class LoopSet: Sendable {
  private struct Contents {
    var loops: [GatewayLoop] = []
    /// Pushes that became due, or were left over by an earlier run, before their loop was there.
    var early: [(loop: Int, batch: Batch)] = []
    var earlyBroadcasts: [(loop: Int, broadcast: ForwardedBroadcast)] = []
  }

  private let contents = Mutex(Contents())

  /// Adds the next loop and gives it what came too early.
  func append(_ loop: GatewayLoop) {
    contents.withLock { contents in
      let number = contents.loops.count
      contents.loops.append(loop)
      for item in contents.early where item.loop == number { loop.deliver(item.batch) }
      contents.early.removeAll { $0.loop == number }
      for item in contents.earlyBroadcasts where item.loop == number { loop.deliver(item.broadcast) }
      contents.earlyBroadcasts.removeAll { $0.loop == number }
    }
  }

  /// All of them.
  var all: [GatewayLoop] { contents.withLock { $0.loops } }

  /// Hands a broadcast to a loop; called on the store thread.
  func deliver(_ loop: Int, _ broadcast: ForwardedBroadcast) {
    contents.withLock { contents in
      if loop < contents.loops.count {
        contents.loops[loop].deliver(broadcast)
      } else {
        contents.earlyBroadcasts.append((loop, broadcast))
      }
    }
  }

  /// Hands a settled batch to a loop; called on the store thread.
  func deliver(_ loop: Int, _ batch: Batch) {
    contents.withLock { contents in
      if loop < contents.loops.count {
        contents.loops[loop].deliver(batch)
      } else {
        contents.early.append((loop, batch))
      }
    }
  }
}
