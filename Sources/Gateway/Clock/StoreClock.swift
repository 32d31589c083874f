import Control
import Primitives
import Push
import Storage

/// The gateway's own part of what the clock moves: registrations, budgets, waiting pushes and those on their way.
struct StoreClock: ClockPart {
  private let store: Store

  init(_ store: Store) { self.store = store }

  func clockChanged(to time: VirtualTime, at real: Instant) async { store.clockChanged() }

  func standing(of time: VirtualTime, until: Instant?, real: @Sendable () -> Instant) async -> ClockStanding {
    do throws(StoreError) {
      return ClockStanding(try await store.standing(until: until))
    } catch {
      return ClockStanding(outstanding: [ClockWork("the store cannot tell what is due: \(error)")])
    }
  }
}

extension ClockStanding {
  /// The store's standing as the control side shows it.
  fileprivate init(_ standing: StoreStanding) {
    var outstanding = standing.outstanding.map { work in
      var subject = ["push": work.push.description]
      subject["token"] = work.token?.hex
      let cause = work.cause == .none ? "" : " (\(work.cause.name))"
      return ClockWork("the push is \(work.disposition.name)\(cause)", bundleID: work.bundleID, subject: subject)
    }
    var count = standing.outstandingCount
    if let obstacle = standing.obstacle {
      outstanding.insert(ClockWork("the store takes no changes: \(obstacle)"), at: 0)
      count += 1
    }
    let next = standing.next.map { event -> ClockEvent in
      var subject = [event.what == .reloadDue ? "reload" : "push": event.id.description]
      subject["token"] = event.token?.hex
      return ClockEvent(at: event.at, what: event.what.rawValue, bundleID: event.bundleID, subject: subject)
    }
    self.init(next: next, outstanding: outstanding, outstandingCount: count, changes: standing.changes)
  }
}
