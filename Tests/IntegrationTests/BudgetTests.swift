import Foundation
import Testing

@Suite("Budgets", .processes) struct BudgetTests {
  @Test func aBurstBecomesTwoReloadsAndCostsTwoCredits() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 2))
    let full = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]["remaining"].int

    let ids = (0..<200).map { _ in newID() }
    let answers = try await dev.sendAll(ids.map { (token, $0) })

    #expect(answers.count == 200)
    #expect(answers.allSatisfy { $0.status == 200 })
    #expect(Set(answers.map(\.id)) == Set(ids))
    let list = try await dev.control("GET", "/v1/pushes?token=\(token)&disposition=applied&wait=20s&count=2&limit=1000", as: "read").json
    #expect(list["matched"].int == 2, "\(list)")
    let merged = try await dev.control("GET", "/v1/pushes?token=\(token)&disposition=merged&limit=1000", as: "read").json
    #expect(merged["pushes"].array.count == 198, "\(merged["pushes"].array.count)")
    let trailing = list["pushes"].array.compactMap { $0["id"].string?.lowercased() }
    #expect(merged["pushes"].array.allSatisfy { trailing.contains($0["mergedInto"].string?.lowercased() ?? "") })
    let budget = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]
    #expect(budget["remaining"].int == full.map { $0 - 2 }, "\(budget)")
  }

  @Test func aPushBeyondTheIntervalSaysWhyItWaits() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let first = try await dev.send(.widgets(token))
    try await dev.settled(try #require(first["apns-id"]), as: "applied")

    let second = try await dev.send(.widgets(token))
    let third = try await dev.send(.widgets(token))

    let waiting = try await dev.record(try #require(second["apns-id"]))
    #expect(waiting["disposition"].string == "waiting")
    #expect(waiting["cause"].string == "minimumInterval")
    let merged = try await dev.record(try #require(third["apns-id"]))
    #expect(merged["disposition"].string == "merged")
    #expect(merged["mergedInto"].string?.lowercased() == second["apns-id"]?.lowercased())
    #expect(merged["cause"].string == "mergedIntoWaiting")
  }

  @Test func developerModeLiftsTheBudget() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets.dropLast() + #","developerMode":true}"#)
    for _ in 0..<5 {
      let answer = try await dev.send(.widgets(token))
      try await dev.settled(try #require(answer["apns-id"]), as: "applied")
    }
  }

  @Test func aBudgetIsReadSetAndReset() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)

    let report = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]
    #expect(report["allowance"].int == 40, "\(report)")
    let full = report["remaining"].int
    let set = try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":2}"#)
    #expect(set.status == 200, "\(set)")
    #expect(try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]["remaining"].int == 2)
    #expect(try await dev.control("DELETE", "/v1/budgets/\(token)").status == 204)
    #expect(try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]["remaining"].int == full)
    let tooMuch = try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":1000}"#)
    #expect(tooMuch.status == 400, "\(tooMuch)")
    #expect(try await dev.control("GET", "/v1/budgets/\(newToken())", as: "read").status == 404)
  }

  @Test func everyPlacedWidgetHasABudgetOfItsOwn() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(
      token,
      #"{"type":"widgets","bundleID":"com.example.app","environment":"development","widgets":[{"kind":"Steps","family":"systemSmall"},{"kind":"Steps","family":"systemLarge"}]}"#
    )
    let report = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json
    #expect(report["budgets"].array.count == 2, "\(report)")
  }
}
