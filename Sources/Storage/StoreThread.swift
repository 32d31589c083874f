import Glibc
import Primitives
import Reactor

/// The one thread that touches tokens, budgets, lanes and the log.
struct StoreThread {
  /// Runs rounds until the inbox is closed and empty; then saves everything.
  static func run(_ core: consuming StoreCore, _ inbox: Inbox) {
    raisePriority()
    var batches: ContiguousArray<(batch: Batch, loop: Int)> = []
    var work: ContiguousArray<Inbox.Work> = []
    while true {
      let isClosed = inbox.take(&batches, &work, nanoseconds: core.pause)
      if isClosed, batches.isEmpty, work.isEmpty { break }
      core.round(&batches, &work)
    }
    core.close()
  }

  /// Asks for a nice value of -10: on busy processors a round then waits a tenth as long for its turn. Where the system does not
  /// allow it, things go on as they are.
  private static func raisePriority() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -10) }
}
