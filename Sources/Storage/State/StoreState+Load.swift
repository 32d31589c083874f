import Delivery
import Primitives
import Push

// Opening: the pages give the state as it was folded, the journal's rows what has changed since.
extension StoreState {
  /// The state that `engine` has saved. What was in flight waits again: whether it arrived is not known, and a push that
  /// comes twice is better than one that never comes.
  static func load(
    _ engine: any Engine, settings: StoreSettings, resolver: RouteResolver, at now: Instant, lead: TimeSpan = .zero
  ) throws(StoreError) -> StoreState {
    var state = StoreState(settings: settings, resolver: resolver)
    state.lead = lead
    var loader = StateLoader(logCapacity: state.log.capacity)
    try engine.load { (item) throws(StoreError) in
      do throws(ByteReader.Malformed) {
        try loader.take(item, &state, at: now)
      } catch {
        throw .corrupt(path: engine.description, "a saved record has no meaning")
      }
    }
    do throws(ByteReader.Malformed) {
      try loader.finish(&state, at: now)
    } catch {
      throw .corrupt(path: engine.description, "a waiting push has lost its payload")
    }
    state.routes.markSaved()
    state.convertSavedBudgets(at: now)
    return state
  }

  /// Goes on where a state that is ahead of the disk must be given up: pushes that loops have in hand stay in flight, and
  /// what is in memory only is kept.
  mutating func takeOver(_ old: inout StoreState, inFlight: Set<UInt64>) {
    swap(&refused, &old.refused)
    refused.touchAll()
    let (waiting, flying) = (counters.waiting, counters.inFlight)
    counters = old.counters
    (counters.waiting, counters.inFlight) = (waiting, flying)
    casts.takeOver(old.casts)
    generator = old.generator
    group = old.group + 1
    isWatched = old.isWatched
    for number in 0..<tokens.end where tokens[number].pointee.laneHead != none {
      // Not always the lane's head: an alert passes a background push that waits for its budget.
      var slot = tokens[number].pointee.laneHead
      while slot != none, !inFlight.contains(pushes[slot].pointee.sequence) { slot = pushes[slot].pointee.next }
      guard slot != none else { continue }
      unlink(slot, from: number)
      pushes[slot].pointee.isInFlight = true
      tokens[number].pointee.inFlight = slot
      counters.inFlight += 1
      if pushes[slot].pointee.errand != none { errands.moved(pushes[slot].pointee.errand, forwarding: 1) }
      relocated[pushes[slot].pointee.sequence] = slot
      setWake(number, .distantFuture)
      delays.set(number, .distantFuture)
    }
  }

  /// Visits every push in flight.
  func forEachInFlight(_ body: (UnsafeMutablePointer<LivePush>) -> Void) {
    for slot in 0..<pushes.end where pushes[slot].pointee.isInFlight && pushes[slot].pointee.sequence != 0 { body(pushes[slot]) }
  }

  /// Gives the next commit something to write.
  mutating func probe() { journal.append(RecordTag.nothing.rawValue) }
}
