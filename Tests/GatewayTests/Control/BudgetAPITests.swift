import Control
import JSON
import Primitives
import Push
import Storage
import Testing

@Suite("Control API: budgets, and what would become of a push") struct BudgetAPITests {
  @Test func budgetsAreShownSetAndReset() async throws {
    let stage = try APIStage()
    let target = "/v1/budgets/\(APIStage.token(1))"
    let body: JSONValue = [
      "type": "widgets", "bundleID": "com.example.app", "environment": "development",
      "widgets": [["id": "w1", "kind": "Score", "family": "systemSmall"], ["kind": "Clock", "family": "systemLarge"]],
    ]
    #expect(try await stage.call(.put, "/v1/registrations/\(APIStage.token(1))", body).status == 201)
    try await stage.push(1)
    let budgets = try await stage.call(.get, target, as: "read").json
    #expect(budgets["token"] == .string(APIStage.token(1)) && budgets["budgets"]?.arrayValue?.count == 2)
    let first = try #require(budgets["budgets"]?[0])
    #expect(
      first["budget"] == "widgets" && first["index"] == 0 && first["widget"] == ["id": "w1", "kind": "Score", "family": "systemSmall"])
    #expect(first["allowance"] == 40 && first["burst"] == 12 && first["remaining"] == 11 && first["minimumIntervalSeconds"] == 300)
    #expect(first["lastCharge"] == "2027-01-15T08:00:00.000Z" && first["payableAt"] == "2027-01-15T08:05:00.000Z")
    let set = try await stage.call(.put, target, ["remaining": 3, "index": 1])
    #expect(set.status == 200)
    #expect(set.json["budgets"]?.arrayValue?.compactMap { $0["remaining"]?.intValue } == [11, 3])
    #expect(try await stage.call(.put, target, ["remaining": 0]).json["budgets"]?[0]?["remaining"] == 0)
    #expect(try await stage.call(.delete, target).status == 204)
    #expect(try await stage.call(.get, target).json["budgets"]?.arrayValue?.compactMap { $0["remaining"]?.intValue } == [12, 12])
    for (body, field) in [
      (["remaining": 13], "remaining"), (["remaining": -41], "remaining"), (["remaining": 1, "index": 2], "index"), ([:], "remaining"),
      (["remainig": 1], "remaining"),
    ] as [(JSONValue, String)] {
      let answer = try await stage.call(.put, target, body)
      #expect(answer.status == 400 && answer.field == field, "\(answer.text)")
    }
  }

  @Test func tokensWithoutBudgets() async throws {
    let stage = try APIStage()
    try await stage.register(1, "voip")
    let target = "/v1/budgets/\(APIStage.token(1))"
    #expect(try await stage.call(.get, target).json["budgets"]?.arrayValue == [])
    #expect(try await stage.call(.put, target, ["remaining": 1]).status == 409)
    #expect(try await stage.call(.delete, target).status == 409)
  }

  // MARK: What if

  @Test func whatWouldBecomeOfAPushIsTold() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let push: JSONValue = [
      "token": .string(APIStage.token(1)), "type": "widgets", "topic": "com.example.app.push-type.widgets", "priority": "5",
      "payload": ["aps": ["content-changed": true]],
    ]
    let first = try await stage.call(.post, "/v1/what-if", as: "read", push).json
    #expect(first["status"] == 200 && first["disposition"] == "forwarding" && first["budget"] == "widgets", "\(first)")
    #expect(first["budgetBefore"] == 12 && first["budgetAfter"] == 11)
    #expect(first["warnings"]?[0]?["code"] == "collapseIDMissing")
    try await stage.push(1)
    #expect(first["certainty"] == "cannotSee" && first["happened"] == "It would go to its upstream at once.")
    let numbers: JSONValue = [
      "token": .string(APIStage.token(1)), "topic": "com.example.app.push-type.widgets", "priority": 7, "body": "{}",
    ]
    #expect(try await stage.call(.post, "/v1/what-if", as: "read", numbers).json["reason"] == "BadPriority")
    let second = try await stage.call(.post, "/v1/what-if", as: "read", push).json
    #expect(second["disposition"] == "waiting" && second["cause"] == "minimumInterval", "\(second)")
    #expect(try await stage.call(.get, "/v1/pushes", as: "read").json["pushes"]?.arrayValue?.count == 1, "nothing was sent")
  }

  @Test func aWarningNamesItsKey() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let push: JSONValue = [
      "token": .string(APIStage.token(1)), "type": "widgets", "topic": "com.example.app.push-type.widgets", "priority": "5",
      "expiration": "45", "payload": ["aps": ["content-changed": true, "contentChanged": true], "kind": "Weather"],
    ]
    let answer = try await stage.call(.post, "/v1/what-if", as: "read", push)
    let warnings = try #require(answer.json["warnings"]?.arrayValue)
    func told(_ code: String) -> JSONValue? { warnings.first { $0["code"]?.stringValue == code } }
    #expect(told("unusedAPSKeys")?["field"] == "aps.contentChanged", "\(answer.text)")
    #expect(told("unusedAPSKeys")?["detail"]?.stringValue?.hasSuffix("(content-changed, which is there too, is what counts)") == true)
    #expect(told("customKeys")?["detail"]?.stringValue?.hasSuffix("kind \"Weather\"") == true)
    #expect(told("expirationRelative")?["detail"]?.stringValue?.contains("1970-01-01T00:00:45Z") == true)
    #expect(told("collapseIDMissing") != nil && told("collapseIDMissing")?["detail"] == nil)
  }

  @Test func whatWouldBeRefusedIsTold() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2, bundle: APIStage.other)
    let token = JSONValue.string(APIStage.token(1))
    for (body, reason, field) in [
      (["token": token, "topic": "com.example.app.push-type.widget"], "TopicDisallowed", "apns-topic"),
      (["token": "xy", "topic": "com.example.app.push-type.widgets"], "BadDeviceToken", ":path"),
      (["token": token, "topic": "com.example.app.push-type.widgets", "priority": "7"], "BadPriority", "apns-priority"),
      (["token": token, "topic": "com.example.app.push-type.widgets", "body": "{"], "BadPayload", "body"),
    ] as [(JSONValue, String, String)] {
      let answer = try await stage.call(.post, "/v1/what-if", as: "read", body)
      #expect(answer.status == 200 && answer.json["reason"]?.stringValue == reason, "\(answer.text)")
      #expect(answer.json["field"]?.stringValue == field && answer.json["remedy"] != nil, "\(answer.text)")
    }
    let payload: JSONValue = ["aps": ["content-changed": true]]
    let unknown: JSONValue = ["token": .string(APIStage.token(9)), "topic": "com.example.app.push-type.widgets", "payload": payload]
    #expect(try await stage.call(.post, "/v1/what-if", as: "read", unknown).json["cause"] == "tokenUnknown")
    // Another app's token is as good as none.
    let foreign: JSONValue = ["token": .string(APIStage.token(2)), "topic": "com.example.app.push-type.widgets", "payload": payload]
    #expect(try await stage.call(.post, "/v1/what-if", as: APIStage.bundle, foreign).json["cause"] == "tokenUnknown")
    let theirs: JSONValue = ["token": .string(APIStage.token(2)), "topic": "com.example.other.push-type.widgets", "payload": payload]
    let hidden = try await stage.call(.post, "/v1/what-if", as: APIStage.bundle, theirs)
    #expect(hidden.status == 200 && hidden.json["reason"] == "TopicDisallowed", "as an app that nobody has: \(hidden.text)")
    #expect(try await stage.call(.post, "/v1/what-if", as: "read", ["token": token, "body": "", "payload": 1]).field == "body")
    #expect(try await stage.call(.post, "/v1/what-if", as: "read", ["tokn": token]).status == 400)
  }

  // MARK: Status
}
