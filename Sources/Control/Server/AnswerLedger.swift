import Push

/// The bytes of answers that wait until their clients read them: of each connection, of each access token, and in all.
///
/// Whoever asks and does not read costs memory for as long as the connection lasts. So an answer for which there is no room is not kept;
/// a short error takes its place, which says whose answers are unread. Answers below `smallBytes` are not counted: there are no more of
/// them than requests.
///
/// Belongs to its loop.
final class AnswerLedger {
  /// Bytes that may wait.
  struct Bounds: Hashable {
    var connection = Limits.unreadBytesOfConnection
    var caller = Limits.unreadBytesOfCaller
    var all = Limits.unreadBytes
    /// Bytes of an answer that is too small to count.
    var small = Limits.unreadBytesUncounted
  }

  /// An answer that was let in; it counts until this is let go of.
  final class Entry {
    private let ledger: AnswerLedger
    fileprivate let bytes: Int
    fileprivate let connection: ObjectIdentifier
    fileprivate let caller: String

    fileprivate init(_ ledger: AnswerLedger, _ bytes: Int, _ connection: ObjectIdentifier, _ caller: String) {
      (self.ledger, self.bytes, self.connection, self.caller) = (ledger, bytes, connection, caller)
    }

    deinit { ledger.remove(bytes, connection, caller) }
  }

  private let bounds: Bounds
  private var byConnection: [ObjectIdentifier: Int] = [:]
  private var byCaller: [String: Int] = [:]
  /// Bytes that wait in all.
  private(set) var total = 0

  init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

  /// Lets an answer of so many bytes in; nil for one that is too small to count.
  ///
  /// One that is larger than a bound is let in where nothing else waits.
  ///
  /// - Parameter caller: The name of the access token; empty for an answer that needs none.
  /// - Throws: 429 where the connection or the token has too much unread, 503 where all together have.
  func enter(_ bytes: Int, connection: ObjectIdentifier, caller: String) throws(ControlError) -> Entry? {
    guard bytes > bounds.small else { return nil }
    func fits(_ used: Int, _ bound: Int) -> Bool { used == 0 || used + bytes <= bound }
    guard fits(byConnection[connection] ?? 0, bounds.connection) else {
      throw Self.refusal(429, "this connection", bounds.connection)
    }
    guard fits(byCaller[caller] ?? 0, bounds.caller) else {
      throw Self.refusal(429, caller.isEmpty ? "clients without an access token" : "the access token \"\(caller)\"", bounds.caller)
    }
    guard fits(total, bounds.all) else { throw Self.refusal(503, "all clients together", bounds.all) }
    byConnection[connection, default: 0] += bytes
    byCaller[caller, default: 0] += bytes
    total += bytes
    return Entry(self, bytes, connection, caller)
  }

  private func remove(_ bytes: Int, _ connection: ObjectIdentifier, _ caller: String) {
    total -= bytes
    byConnection[connection] = byConnection[connection].flatMap { $0 > bytes ? $0 - bytes : nil }
    byCaller[caller] = byCaller[caller].flatMap { $0 > bytes ? $0 - bytes : nil }
  }

  private static func refusal(_ status: Int, _ who: String, _ bound: Int) -> ControlError {
    ControlError(
      status: status, code: "answersUnread",
      message: "answers to \(who) wait to be read, and \(bound >> 10) KB is the most that may; read them before asking for more",
      fields: ["retry-after": "1"])
  }
}
