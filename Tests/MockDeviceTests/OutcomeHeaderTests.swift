import DeviceModel
import Primitives
import Push
import Testing

@testable import MockDevice

@Suite("The outcome header") struct OutcomeHeaderTests {
  @Test(arguments: [
    (PushOutcome.applied(.reloaded, detail: nil), "applied reloaded"),
    (.applied(.reloaded, detail: "2 widgets"), "applied reloaded 2 widgets"),
    (.ignored(.alertMissing, detail: "aps.alert is missing"), "ignored alertMissing aps.alert is missing"),
    (.ignored(.payloadNotUnderstood, detail: "caf\u{E9}\r\nx: y"), "ignored payloadNotUnderstood caf???x: y"),
    (.refused(.unregistered, since: nil, detail: nil), "refused"),
    (.applied(.alertShown, detail: ""), "applied alertShown"),
    (.applied(.alertShown, detail: " a  "), "applied alertShown  a"),
  ])
  func textOfAnOutcome(outcome: PushOutcome, text: String) {
    var header = OutcomeHeader()
    header.write(.ignored(.noSuchApp, detail: "a longer one before it, which must leave nothing behind"))
    header.write(outcome)
    #expect(header.value.string == text)
  }

  @Test func longDetailsAreCut() {
    var header = OutcomeHeader()
    header.write(.ignored(.noSuchApp, detail: String(repeating: "x", count: 5000)))
    #expect(header.value.byteCount == Limits.outcomeHeaderBytes)
  }

  /// It would be no field value (RFC 9113 section 8.2.1).
  @Test(arguments: 480..<520) func whereverItIsCutItEndsWithNoSpace(count: Int) {
    var header = OutcomeHeader()
    header.write(.ignored(.noSuchApp, detail: String(repeating: "x", count: count) + "    x"))
    #expect(!header.value.string.hasSuffix(" "))
  }

  @Test func everyCauseFits() {
    var header = OutcomeHeader()
    for cause in Cause.allCases {
      header.write(.ignored(cause, detail: nil))
      #expect(header.value.string == "ignored \(cause.name)")
    }
  }
}
