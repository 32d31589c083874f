import Primitives
import Push

// List calls that wait for enough matches. What they cost in a round is what has changed in it, and a bounded way through the log for all
// of them together: whoever waits, and for whatever, keeps no push waiting.
extension StoreCore {
  /// A list call that waits.
  struct Waiter {
    var query: PushQuery
    var wait: PushWait
    let abandonment: Abandonment
    /// What it has found; nil for one that waits for a push by its id.
    var search: PushSearch?
    var resume: @Sendable (PushPage) -> Void

    /// Whether it waits no longer, whatever has been found.
    func isOver(at steady: Instant) -> Bool { steady >= wait.until || abandonment.isDeclared }
  }

  /// Answers a list call at once, or keeps it until enough matches are there.
  mutating func wait(
    _ query: PushQuery, _ wait: PushWait, _ abandonment: Abandonment, _ resume: @escaping @Sendable (Result<PushPage, StoreError>) -> Void
  ) {
    let search = query.id == nil ? PushSearch(query, wanted: wait.count, state) : nil
    var waiter = Waiter(query: query, wait: wait, abandonment: abandonment, search: search) { resume(.success($0)) }
    if let page = answer(&waiter, hasNews: true) { return resume(.success(page)) }
    guard waiters.count < settings.waiters else {
      return resume(.failure(.notReady("\(settings.waiters) list calls wait already")))
    }
    waiters.append(waiter)
    state.isWatched = true
  }

  /// Answers those that have enough, or whose time is over. O(what has changed × who waits), and `Limits.waitVisits`.
  mutating func answerWaiters() {
    defer {
      state.touchedEntries.removeAll(keepingCapacity: true)
      refusedSeen = state.refused.next
    }
    hasMoreToFind = false
    guard !waiters.isEmpty else { return }
    let isNew = !state.touchedEntries.isEmpty || refusedSeen < state.refused.next
    var kept: [Waiter] = []
    for var waiter in waiters {
      if isNew { waiter.search?.note(state.touchedEntries, refusedFrom: refusedSeen, state) }
      let hasNews = isNew && waiter.query.id.map { state.hasNews(of: $0, refusedSeen: refusedSeen) } ?? true
      if let page = answer(&waiter, hasNews: hasNews) { waiter.resume(page) } else { kept.append(waiter) }
    }
    waiters = kept
  }

  /// The answer to a call that is over or has enough; nil while it waits.
  private mutating func answer(_ waiter: inout Waiter, hasNews: Bool) -> PushPage? {
    let isOver = waiter.isOver(at: steady)
    guard waiter.search != nil else {
      guard isOver || hasNews else { return nil }
      let page = state.page(waiter.query, wanted: waiter.wait.count, isLast: isOver)
      return page.complete || isOver ? page : nil
    }
    waiter.search?.look(state, visits: &waitVisits)
    guard waiter.search?.isWhole ?? false else {
      hasMoreToFind = true
      return nil
    }
    guard isOver || waiter.search?.isMet ?? false, var page = waiter.search?.page(state) else { return nil }
    // What the log has forgotten counts no more.
    guard waiter.search?.isWhole ?? false, page.complete || isOver else {
      hasMoreToFind = true
      return nil
    }
    guard !page.complete else { return page }
    guard waitVisits > 0 else {
      hasMoreToFind = true
      return nil
    }
    page.nearMisses = state.nearMisses(waiter.query, visits: &waitVisits)
    return page
  }

  /// Answers all with what has been found by now.
  mutating func endWaits() {
    for var waiter in waiters {
      waiter.resume(waiter.search?.page(state) ?? state.page(waiter.query, wanted: waiter.wait.count, isLast: true))
    }
    waiters.removeAll()
  }

  /// The state has been read anew: what was found in the one before is searched once more.
  mutating func restartWaits() {
    for index in waiters.indices where waiters[index].search != nil {
      waiters[index].search = PushSearch(waiters[index].query, wanted: waiters[index].wait.count, state)
    }
  }
}
