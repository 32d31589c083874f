import Primitives
import Push

/// The pushes that match a query, for one who waits until there are enough of them.
///
/// ```
///        new pushes, and changes of old ones ─▶ looked at as they come
/// newest ├────────── behind the walk ──────────┤──── before it ────┤ oldest
///                     matches known            ◀ walks on, a bounded way each round
/// ```
///
/// The log is walked over once, not whenever something changes: with a hundred thousand pushes in it, and as many calls as may wait, one
/// push would else cost the store thread most of a second. What is known is never much: a search that has found enough is answered.
struct PushSearch {
  /// What is searched.
  let query: PushQuery
  /// How many are waited for.
  let wanted: Int
  private var filter: LogFilter
  private var walk: LogWalk
  /// The numbers of the accepted pushes that match, of those behind the walk.
  private var accepted: Set<UInt64> = []
  /// The same of the refused ones.
  private var refused: Set<UInt64> = []
  /// Whether the walk is over.
  private var hasWalked = false

  /// A search that has not looked at anything; the query names no id.
  init(_ query: PushQuery, wanted: Int, _ state: borrowing StoreState) {
    self.query = query
    self.wanted = wanted
    filter = LogFilter(query, state)
    walk = LogWalk(query, token: filter.token, state)
  }

  private var limit: Int { max(1, min(query.limit, Limits.pageRows)) }
  /// More need not be known.
  private var needed: Int { max(wanted, limit) }
  /// How many match, of those that have been looked at.
  var count: Int { accepted.count + refused.count }
  /// Whether all that is told of the matches is known.
  var isWhole: Bool { hasWalked || count >= needed }
  /// Whether there are enough.
  var isMet: Bool { isWhole && count >= wanted }

  /// Goes on with the walk, as far as `visits` reach.
  mutating func look(_ state: borrowing StoreState, visits: inout Int) {
    guard !isWhole else { return }
    filter.refresh(state)
    while count < needed, let place = walk.next(state, visits: &visits) {
      guard filter.misses(place, state)?.isEmpty ?? false else { continue }
      switch place {
      case .accepted(let entry): accepted.insert(entry.pointee.sequence)
      case .refused(let sequence): refused.insert(sequence)
      }
    }
    if count < needed { hasWalked = walk.isAtEnd(state, visits: &visits) }
    walk.rest()
  }

  /// Takes in what has changed since it looked last: accepted pushes by their numbers, and the refused ones from a number on.
  mutating func note(_ touched: ContiguousArray<UInt64>, refusedFrom first: UInt64, _ state: borrowing StoreState) {
    filter.refresh(state)
    let place = walk.cursor
    for sequence in touched where sequence < query.after?.accepted ?? .max && (hasWalked || sequence >= place.accepted) {
      if let entry = state.log[sequence], filter.misses(.accepted(entry), state)?.isEmpty ?? false {
        accepted.insert(sequence)
      } else {
        accepted.remove(sequence)
      }
    }
    let start = max(first, state.refused.oldest, place.refused)
    for sequence in start..<max(start, min(state.refused.next, query.after?.refused ?? .max)) {
      if filter.misses(.refused(sequence), state)?.isEmpty ?? false { refused.insert(sequence) }
    }
  }

  /// What is known, without the pushes that the log has forgotten meanwhile.
  mutating func page(_ state: borrowing StoreState) -> PushPage {
    filter.refresh(state)
    accepted = accepted.filter { sequence in
      state.log[sequence].flatMap { filter.misses(.accepted($0), state)?.isEmpty } ?? false
    }
    refused = refused.filter { $0 >= state.refused.oldest && filter.misses(.refused($0), state)?.isEmpty ?? false }
    var page = PushPage(
      pushes: records(state), next: nil, complete: count >= wanted, matched: min(count, needed), nearMisses: [])
    if count > page.pushes.count || count == limit && !hasWalked { page.next = page.pushes.last?.cursor }
    return page
  }

  /// The newest of the matches, in the order of a walk.
  private func records(_ state: borrowing StoreState) -> [PushRecord] {
    var cursor = PushCursor(
      accepted: min(query.after?.accepted ?? .max, state.log.next), refused: min(query.after?.refused ?? .max, state.refused.next))
    var (accepted, refused) = (accepted.sorted()[...], refused.sorted()[...])
    var records: [PushRecord] = []
    while records.count < limit {
      let entry = accepted.last.flatMap { state.log[$0] }
      if let entry, refused.last.map({ state.log.step(0, of: entry).at >= state.refused[$0].pointee.at }) ?? true {
        cursor.accepted = accepted.removeLast()
        records.append(state.record(.accepted(entry), cursor))
      } else if let sequence = refused.popLast() {
        cursor.refused = sequence
        records.append(state.record(.refused(sequence), cursor))
      } else {
        break
      }
    }
    return records
  }
}
