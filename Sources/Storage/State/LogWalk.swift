import Primitives
import Push

/// A push in one of the two rings.
enum LogPlace {
  case accepted(UnsafeMutablePointer<LogEntry>)
  case refused(UInt64)
}

/// A walk over both rings together, from new to old; over one token's list where that is enough.
struct LogWalk {
  /// The number of the accepted push that comes before the next.
  private var accepted: UInt64
  /// The number of the refused one.
  private var refused: UInt64
  private var nextAccepted: UnsafeMutablePointer<LogEntry>?
  private let usesList: Bool

  /// A walk from the query's place.
  ///
  /// - Parameter token: The number of the only token whose accepted pushes are wanted; `none` for one without any.
  init(_ query: PushQuery, token: UInt32?, _ state: borrowing StoreState) {
    accepted = min(query.after?.accepted ?? .max, state.log.next)
    refused = min(query.after?.refused ?? .max, state.refused.next)
    usesList = token != nil
    if let token {
      nextAccepted = token == none ? nil : state.log[state.tokens[token].pointee.logHead]
      while let entry = nextAccepted, entry.pointee.sequence >= accepted { nextAccepted = Self.previous(entry, state) }
    } else {
      nextAccepted = Self.older(accepted, state)
    }
  }

  /// Where the walk is: a later one from here goes on with what comes next.
  var cursor: PushCursor { PushCursor(accepted: accepted, refused: refused) }

  /// Whether nothing comes any more.
  func isAtEnd(_ state: borrowing StoreState) -> Bool { nextAccepted == nil && refused <= state.refused.oldest }

  /// The next older push of either ring, by the time of its acceptance or refusal.
  mutating func next(_ state: borrowing StoreState) -> LogPlace? {
    let hasRefused = refused > state.refused.oldest
    if let entry = nextAccepted, !hasRefused || state.log.step(0, of: entry).at >= state.refused[refused - 1].pointee.at {
      accepted = entry.pointee.sequence
      nextAccepted = usesList ? Self.previous(entry, state) : Self.older(accepted, state)
      return .accepted(entry)
    }
    guard hasRefused else { return nil }
    refused -= 1
    return .refused(refused)
  }

  private static func previous(
    _ entry: UnsafeMutablePointer<LogEntry>, _ state: borrowing StoreState
  ) -> UnsafeMutablePointer<LogEntry>? { state.log[entry.pointee.previousOfToken] }

  private static func older(_ sequence: UInt64, _ state: borrowing StoreState) -> UnsafeMutablePointer<LogEntry>? {
    var sequence = sequence
    while sequence > state.log.oldest {
      sequence -= 1
      if let entry = state.log[sequence] { return entry }
    }
    return nil
  }
}
