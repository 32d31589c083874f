import Control
import Delivery
import JSON
import Primitives
import Storage
import Testing

/// From when on something is possible is told so that at the time in the text it is: rounded up.
@Suite("Control API: times from which on") struct DueTimeTests {
  private func stage() async throws -> (APIStage, Instant) {
    let stage = try APIStage()
    stage.now.value = stage.now.value + TimeSpan(nanoseconds: 123_000_001)
    try await stage.register(1)
    let sent = try #require(try await stage.push(1).forwards.first)
    try await stage.settle { $0.completions.append(CompleteOperation(ticket: sent.ticket, outcome: .accepted)) }
    return (stage, stage.now.value)
  }

  @Test func ofABudget() async throws {
    let (stage, charged) = try await stage()
    let target = "/v1/budgets/\(APIStage.token(1))"
    let body = try await stage.call(.get, target, as: "read").json
    let budget = try #require(body["budgets"]?[0])
    #expect(budget["payableAt"] == "2027-01-15T08:05:00.124Z" && budget["lastCharge"] == "2027-01-15T08:00:00.123Z", "\(budget)")
    let credit = try #require(budget["nextCredit"]?.stringValue.flatMap { Instant(rfc3339: $0) })
    stage.now.value = credit
    #expect(try await stage.call(.get, target, as: "read").json["budgets"]?[0]?["remaining"] == 12)
    // What is payable now is not told to be so later.
    stage.now.value = charged + .seconds(4000) + TimeSpan(nanoseconds: 7)
    let later = try await stage.call(.get, target, as: "read").json
    #expect(later["budgets"]?[0]?["payableAt"] == later["now"], "\(later)")
  }

  @Test func ofAPushThatWouldWait() async throws {
    let (stage, _) = try await stage()
    let push: JSONValue = [
      "token": .string(APIStage.token(1)), "topic": "com.example.app.push-type.widgets", "payload": ["aps": ["content-changed": true]],
    ]
    let waits = try await stage.call(.post, "/v1/what-if", as: "read", push).json
    #expect(waits["cause"] == "minimumInterval" && waits["due"] == "2027-01-15T08:05:00.124Z", "\(waits)")
  }
}
