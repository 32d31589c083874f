import Delivery
import Primitives
import Push

// Slices of reloads that wait for their turn on the store thread.
extension StoreCore {
  /// One slice, and who made it.
  struct ReloadSlice {
    var number: UInt32
    /// Where the reload was when the slice was made.
    var from: ReloadPosition
    var page: ReloadPage
    var resume: @Sendable (Result<Void, StoreError>) -> Void
  }

  /// Admits slices that may go: one at a time of each reload, so many tokens a round, and what comes from providers in between.
  mutating func releaseSlices() {
    hasMoreSlices = false
    guard !slices.isEmpty else { return }
    var left = Limits.reloadSlice
    var kept: [ReloadSlice] = []
    slicesWake = nil
    for slice in slices {
      guard let reload = state.errands.reloads[slice.number], reload.state == .running, reload.position == slice.from else {
        // Stopped, or put back by a commit that failed: whoever made it asks anew.
        slice.resume(.success(()))
        continue
      }
      let (mayGo, wake) = state.mayGoOn(reload, at: now)
      guard mayGo, left > 0 else {
        kept.append(slice)
        hasMoreSlices = hasMoreSlices || mayGo
        if let wake { slicesWake = min(slicesWake ?? .distantFuture, wake) }
        continue
      }
      left -= max(1, slice.page.tokens.count)
      admit(slice)
    }
    slices = kept
  }

  private mutating func admit(_ slice: ReloadSlice) {
    // All batches there may be, since the state cannot ask for them while it changes.
    let batches = (0..<loops).map { dueBatch($0) }
    state.admit(slice.page, of: slice.number, loops: loops, at: now) { batches[$0] }
    afterCommit.append { error in slice.resume(error.map { .failure($0) } ?? .success(())) }
  }

  /// Makes the pushes that have become due for activities by name.
  mutating func carryOutActivities() {
    guard state.hasActivityWork(at: now) else { return }
    let batches = (0..<loops).map { dueBatch($0) }
    state.carryOutActivities(loops: loops, at: now) { batches[$0] }
  }

  /// Nobody makes slices any more.
  mutating func abandonSlices() {
    for slice in slices { slice.resume(.failure(.stopped)) }
    slices.removeAll()
  }
}
