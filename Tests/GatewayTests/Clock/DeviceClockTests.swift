import Control
import Foundation
import JSON
import Primitives
import Testing

@testable import Gateway

/// What mock devices tell of their clocks is added to what the gateway answers, whatever they tell.
@Suite("Clocks of mock devices") struct DeviceClockTests {
  /// The clock API of a gateway with these devices, whose machine's clock goes on by a second whenever it is read: what is never done is
  /// not waited for.
  private func table(_ devices: [ClockStage], _ start: Instant) throws -> RouteTable {
    let machine = Box(start)
    let clock = VirtualClock(real: {
      machine.change { $0 = $0 + .seconds(1) }
      return machine.value
    })
    let driver = ClockDriver(clock, .init(permitted: true))
    for device in devices { driver.add(try #require(DeviceClock(device.upstream))) }
    let authorizer = Authorizer(AccessTokens([AccessToken(name: "admin", scopes: [.admin, .read], secret: "admin")]))
    return RouteTable(ClockRoutes(driver).routes, authorizer: authorizer, now: { start })
  }

  private func call(_ table: RouteTable, _ method: HTTPMethod, _ target: String, _ body: String = "") async throws -> JSONValue {
    let request = try HTTPRequest(
      method: method, target: target, fields: ["authorization": "Bearer admin"], authority: "gateway", body: Array(body.utf8))
    let response = await table.respond(to: request)
    let text = String(decoding: response.body, as: UTF8.self)
    try #require(response.status == 200, "\(text)")
    return try JSONValue.parse(text)
  }

  /// Whole seconds: what a stage is set to is what it shows.
  private var start: Instant { Instant(unixSeconds: Int64(Date().timeIntervalSince1970)) }

  static let counts: [JSONValue?] = [
    nil, .null, 0, 3, -1, .integer(.min), .integer(.max), .integer(Int64(UInt32.max) + 1), .number(1e300), .number(-0.5), "many", [], true,
  ]

  /// How much is left is never less than nothing, however little a device tells, and two that tell of very much can be added up.
  @Test(arguments: counts) func whateverIsCountedIsAnswered(count: JSONValue?) async throws {
    let start = start
    var standing: JSONObject = [:]
    if let count { (standing["outstandingCount"], standing["changes"]) = (count, count) }
    let devices = try ["one", "two"].map { try ClockStage($0, at: start, standing: standing) }
    let table = try table(devices, start)
    let each = min(max(0, count?.intValue ?? 0), Int64(UInt32.max))
    let shown = try await call(table, .get, "/v1/clock")
    #expect(shown["outstandingCount"]?.intValue == 2 * each && shown["complete"]?.boolValue == (each == 0), "\(shown)")
    let moved = try await call(table, .post, "/v1/clock/advance", #"{"by":"1m"}"#)
    #expect(moved["outstandingCount"]?.intValue == 2 * each && moved["complete"]?.boolValue == (each == 0), "\(moved)")
    #expect(moved["advancedSeconds"]?.doubleValue == 60, "\(moved)")
    #expect(moved["outstanding"] == [], "the devices show the time that they were set to: \(moved)")
  }

  /// What a device lists is left to do, even if it counts less.
  @Test(arguments: [nil, 0, -7, 1, 5] as [Int64?]) func whatIsListedCounts(count: Int64?) async throws {
    let start = start
    var standing: JSONObject = ["outstanding": [["message": "a push is on its way"], ["message": 7], "nothing"]]
    standing["outstandingCount"] = count.map { .integer($0) }
    let device = try ClockStage("one", at: start, standing: standing)
    let shown = try await call(table([device], start), .get, "/v1/clock")
    #expect(shown["outstandingCount"]?.intValue == max(3, count ?? 0) && shown["complete"] == false, "\(shown)")
    #expect(shown["outstanding"]?.arrayValue?.compactMap { $0["message"]?.stringValue } == ["a push is on its way", "", ""], "\(shown)")
  }

  /// Events that are none, or past, or where no clock goes, are passed over.
  @Test(
    arguments: [
      "next", ["at": "never", "what": "pushDue"], ["at": 5, "what": "pushDue"], ["what": "pushDue"],
      ["at": "1970-01-01T00:00:00Z", "what": "pushDue"], ["at": "0001-01-01T00:00:00Z", "what": "pushDue"],
      ["at": "9999-12-31T23:59:59Z", "what": "pushDue"],
    ] as [JSONValue]) func whateverComesNextTheClockMoves(next: JSONValue) async throws
  {
    let start = start
    let device = try ClockStage("one", at: start, standing: ["next": next])
    let table = try table([device], start)
    #expect(try await call(table, .get, "/v1/clock")["complete"] == true)
    let moved = try await call(table, .post, "/v1/clock/advance", #"{"by":"1m"}"#)
    #expect(moved["complete"] == true && moved["steps"] == 0 && moved["advancedSeconds"]?.doubleValue == 60, "\(moved)")
  }

  /// One that cannot be used is named, with what to do.
  @Test(
    arguments: [
      (["permitted": false], "the mock device one does not permit that its clock is moved: set clock.permitted there"),
      (["now": 5], "the mock device one does not tell its time"), (["now": "soon"], "the mock device one does not tell its time"),
    ] as [(JSONObject, String)]) func whatIsInTheWayIsSaid(standing: JSONObject, message: String) async throws
  {
    let start = start
    let device = try ClockStage("one", at: start, standing: standing)
    let shown = try await call(table([device], start), .get, "/v1/clock")
    #expect(shown["outstanding"]?[0]?["message"]?.stringValue == message && shown["complete"] == false, "\(shown)")
  }
}
