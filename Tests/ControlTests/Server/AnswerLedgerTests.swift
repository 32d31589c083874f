import Push
import Testing

@testable import Control

@Suite("Answers that wait to be read") struct AnswerLedgerTests {
  private final class Connection {}

  private let bounds = {
    var bounds = AnswerLedger.Bounds()
    (bounds.connection, bounds.caller, bounds.all, bounds.small) = (100, 150, 200, 10)
    return bounds
  }()

  private func enter(_ ledger: AnswerLedger, _ bytes: Int, _ connection: Connection, _ caller: String) -> Result<
    AnswerLedger.Entry?, ControlError
  > {
    do throws(ControlError) {
      return .success(try ledger.enter(bytes, connection: ObjectIdentifier(connection), caller: caller))
    } catch {
      return .failure(error)
    }
  }

  /// Each bound is met by itself, and the error says whose answers are unread.
  @Test func connectionTokenAndAllAreBounded() throws {
    let ledger = AnswerLedger(bounds)
    let (a, b, c, d) = (Connection(), Connection(), Connection(), Connection())
    var entries = [try enter(ledger, 80, a, "one").get()]
    #expect(throws: ControlError.self) { try enter(ledger, 21, a, "one").get() }
    guard case .failure(let ofConnection) = enter(ledger, 21, a, "one") else { return #expect(Bool(false), "a connection is bounded") }
    #expect(ofConnection.status == 429 && ofConnection.code == "answersUnread" && ofConnection.message.contains("this connection"))
    entries.append(try enter(ledger, 70, b, "one").get())
    guard case .failure(let ofToken) = enter(ledger, 11, c, "one") else { return #expect(Bool(false), "a token is bounded") }
    #expect(ofToken.status == 429 && ofToken.message.contains(#"the access token "one""#))
    entries.append(try enter(ledger, 50, c, "two").get())
    guard case .failure(let ofAll) = enter(ledger, 11, d, "three") else { return #expect(Bool(false), "all are bounded") }
    #expect(ofAll.status == 503 && ofAll.fields["retry-after"] == "1" && ofAll.message.contains("all clients together"))
    #expect(ledger.total == 200)
    // What is too small to count is let in whatever waits.
    #expect(try enter(ledger, 10, a, "one").get() == nil)
    // What is read makes room.
    entries.removeAll()
    #expect(ledger.total == 0)
    #expect(try enter(ledger, 100, a, "one").get() != nil)
  }

  /// An answer that is larger than its bound is told where nothing else waits, and not beside another.
  @Test func oneThatIsTooLargeGoesAlone() throws {
    let ledger = AnswerLedger(bounds)
    let (a, b) = (Connection(), Connection())
    let large = try enter(ledger, 1000, a, "one").get()
    #expect(large != nil)
    guard case .failure = enter(ledger, 1000, b, "two") else { return #expect(Bool(false), "one at a time") }
  }
}
