import JSON
import Primitives
import Testing

@testable import widgetpush

@Suite("What expect prints") struct ExpectationTests {
  private static let token = String(repeating: "a5", count: 32)

  private func push(_ id: String, to token: String, reason: String? = nil, cause: String? = nil) -> JSONValue {
    var push: JSONObject = [
      "id": .string(id), "type": "widgets", "token": .string(token), "disposition": reason == nil ? "applied" : "refused",
    ]
    push["reason"] = reason.map(JSONValue.string)
    push["cause"] = cause.map(JSONValue.string)
    return .object(push)
  }

  private func text(_ criteria: [(name: String, value: String)], _ pushes: [JSONValue], nearly misses: [(JSONValue, String)]) -> String {
    let page: JSONValue = [
      "pushes": .array(pushes), "complete": .bool(misses.isEmpty), "matched": .integer(Int64(pushes.count)),
      "nearMisses": .array(misses.map { ["push": $0.0, "differs": .string($0.1)] }),
    ]
    return Expectation(PushCriteria(criteria)).text(of: page, expected: 1, within: .seconds(2))
  }

  @Test func aRefusedPushIsNamedWithItsReason() {
    let refused = push("x", to: Self.token, reason: "TopicDisallowed")
    #expect(text([], [refused], nearly: []) == "x  widgets  to a5a5a5a5…  refused TopicDisallowed")
    let near = push("y", to: Self.token, reason: "DeviceTokenNotForTopic", cause: "otherKind")
    #expect(
      text([("type", "controls")], [], nearly: [(near, "type")]) == """
        0 of 1 came within 2 s
        nearly: y  widgets  to a5a5a5a5…  refused DeviceTokenNotForTopic (otherKind), but its type differs
        """)
  }

  /// Where a token is all that is asked for, a push to quite another one is no near miss.
  @Test func pushesToQuiteAnotherTokenAreLeftOut() {
    let other = (push("x", to: String(repeating: "b6", count: 32)), "token")
    let mistyped = (push("y", to: Self.token.dropLast() + "6"), "token")
    let lines = text([("token", Self.token)], [], nearly: [other, mistyped]).split(separator: "\n")
    #expect(lines.count == 2 && lines.last?.hasPrefix("nearly: y") == true, "\(lines)")
    #expect(text([("token", Self.token)], [], nearly: [other]).contains("no other push was nearly one of them"))
    let both = text([("token", Self.token), ("bundleID", "com.example.app")], [], nearly: [other])
    #expect(both.contains("nearly: x"), "the app is the same: \(both)")
  }
}
