import Primitives
import Push

/// A push in one of the two rings.
enum LogPlace {
  case accepted(UnsafeMutablePointer<LogEntry>)
  case refused(UInt64)
}

/// A walk over both rings together, from new to old; over one token's list where that is enough.
///
/// Whoever walks pays for each place that is looked at, also for those of which the push is forgotten, and stops where it has no more.
struct LogWalk {
  /// The number of the accepted push that was looked at last: all from there on are behind the walk.
  private var accepted: UInt64
  /// The same of the refused ones.
  private var refused: UInt64
  /// The accepted push that comes next, where it has been found.
  private var nextAccepted: UnsafeMutablePointer<LogEntry>?
  /// The number of the next in the token's list, 0 at its end; nil for a walk over the ring.
  private var nextOfToken: UInt64?

  /// A walk from the query's place.
  ///
  /// - Parameter token: The number of the only token whose accepted pushes are wanted; `none` for one without any.
  init(_ query: PushQuery, token: UInt32?, _ state: borrowing StoreState) {
    accepted = min(query.after?.accepted ?? .max, state.log.next)
    refused = min(query.after?.refused ?? .max, state.refused.next)
    nextOfToken = token.map { Self.first(of: $0, before: accepted, state) }
  }

  /// The token's newest push before that number. O(1) where that number is one of its own.
  private static func first(of token: UInt32, before accepted: UInt64, _ state: borrowing StoreState) -> UInt64 {
    guard token != none else { return 0 }
    if let entry = state.log[accepted], entry.pointee.token == token { return entry.pointee.previousOfToken }
    var number = state.tokens[token].pointee.logHead
    while number >= accepted, let entry = state.log[number] { number = entry.pointee.previousOfToken }
    return number
  }

  /// Where the walk is: a later one from here goes on with what comes next.
  var cursor: PushCursor { PushCursor(accepted: accepted, refused: refused) }

  /// Whether nothing comes any more, as far as `visits` reach; they are paid with.
  mutating func isAtEnd(_ state: borrowing StoreState, visits: inout Int) -> Bool {
    findAccepted(state, &visits)
    return nextAccepted == nil && hasPassedAccepted(state) && refused <= state.refused.oldest
  }

  /// The next older push of either ring, by the time of its acceptance or refusal; nil at the end, and where no visits are left.
  mutating func next(_ state: borrowing StoreState, visits: inout Int) -> LogPlace? {
    findAccepted(state, &visits)
    let hasRefused = refused > state.refused.oldest
    if let entry = nextAccepted, !hasRefused || state.log.step(0, of: entry).at >= state.refused[refused - 1].pointee.at {
      accepted = entry.pointee.sequence
      if nextOfToken != nil { nextOfToken = entry.pointee.previousOfToken }
      nextAccepted = nil
      return .accepted(entry)
    }
    guard hasRefused, visits > 0, nextAccepted != nil || hasPassedAccepted(state) else { return nil }
    visits -= 1
    refused -= 1
    return .refused(refused)
  }

  /// Makes the walk one that can go on after the log has changed.
  mutating func rest() { nextAccepted = nil }

  private func hasPassedAccepted(_ state: borrowing StoreState) -> Bool {
    nextOfToken.map { $0 == 0 } ?? (accepted <= state.log.oldest)
  }

  private mutating func findAccepted(_ state: borrowing StoreState, _ visits: inout Int) {
    while nextAccepted == nil, visits > 0, !hasPassedAccepted(state) {
      visits -= 1
      if let number = nextOfToken {
        nextAccepted = state.log[number]
        // The list ends at one that has been forgotten, and an older one may go on: it is looked for in the ring.
        if nextAccepted == nil { (accepted, nextOfToken) = (min(accepted, number), nil) }
      } else {
        nextAccepted = state.log[accepted - 1]
        if nextAccepted == nil { accepted -= 1 }
      }
    }
  }
}
