import Foundation
import Testing

/// What a request leaves out stays as it was, or is said to be dropped.
@Suite("What is left out", .processes) struct OmissionTests {
  private let path = "/v1/apps/com.example.app"

  @Test func aPutNamesWhatItDrops() async throws {
    let dev = try await Deployment.start(["dev"])
    let first = try await dev.control(
      "PUT", path, #"{"validation":"apple","budgets":{"widgets":{"burst":3}},"contentStates":{"Ride":{"type":"object"}}}"#)
    #expect(try first.json["dropped"].array.isEmpty, "\(first)")
    let second = try await dev.control("PUT", path, #"{"validation":"apple","budgetMode":"observe"}"#)
    #expect(try second.json["dropped"].array.map(\.string) == ["budgets.widgets.burst"], "\(second)")
    #expect(try second.json["contentStates"]["Ride"]["type"].string == "object", "schemas stay where the body has none: \(second)")
    let third = try await dev.control("PUT", path, #"{"contentStates":{"Game":{}}}"#)
    #expect(try third.json["dropped"].array.map(\.string) == ["budgetMode", "contentStates.Ride", "validation"], "\(third)")
    #expect(try await dev.terminate() == 0)
  }

  @Test func aPatchLeavesTheRest() async throws {
    let dev = try await Deployment.start(["dev"])
    _ = try await dev.control(
      "PUT", path, #"{"validation":"apple","budgets":{"widgets":{"burst":3,"allowance":30}},"contentStates":{"Ride":{},"Game":{}}}"#)
    let patched = try await dev.control(
      "PATCH", path, #"{"budgets":{"widgets":{"burst":4}},"contentStates":{"Ride":null,"Walk":{"type":"object"}}}"#
    ).json
    #expect(patched["validation"].string == "apple" && patched["budgets"]["widgets"]["allowance"].int == 30, "\(patched)")
    #expect(patched["budgets"]["widgets"]["burst"].int == 4, "\(patched)")
    #expect(
      patched["schemas"]["Ride"].string == nil && "\(patched["contentStates"])".contains("Walk")
        && "\(patched["contentStates"])".contains("Game"), "\(patched)")
    #expect(!"\(patched["contentStates"])".contains("Ride"), "\(patched)")
    let back = try await dev.control("PATCH", path, #"{"validation":null}"#).json
    #expect(back["validation"].string == "strict" && back["budgets"]["widgets"]["burst"].int == 4, "\(back)")
    let wrong = try await dev.control("PATCH", path, #"{"validatoin":null}"#)
    #expect(wrong.status == 400 && wrong.text.contains("did you mean \\\"validation\\\"?"), "\(wrong)")
    #expect(try await dev.terminate() == 0)
  }

  /// What a patch does not name stays, over a crash as well.
  @Test func anAppThatIsPatchedIsSoAfterACrash() async throws {
    let state = try await Deployment.newState()
    let first = try await Deployment.start(["gateway"], in: state)
    let put = #"{"validation":"apple","contentStates":{"Ride":{"type":"object"}},"budgets":{"widgets":{"allowance":30,"burst":3}}}"#
    #expect(try await first.control("PUT", path, put).status == 200)
    let patched = try await first.control(
      "PATCH", path, #"{"contentStates":{"Game":{"type":"object"}},"budgets":{"widgets":{"burst":null}}}"#)
    #expect(patched.status == 200 && patched.text.contains(#""dropped":["budgets.widgets.burst"]"#), "\(patched)")
    let before = try await first.control("GET", path).text
    try await first.crash()

    let second = try await Deployment.start(["gateway"], in: state)
    #expect(try await second.control("GET", path).text == before)
    for part in ["\"validation\":\"apple\"", "Ride", "Game", "\"allowance\":30"] { #expect(before.contains(part), "\(part)") }
    #expect(try await second.terminate() == 0)
  }

  /// A manifest that does not speak of frequent updates leaves the switch, and with it what runs.
  @Test func aManifestsOmissionEndsNothing() async throws {
    let dev = try await Deployment.start(["dev"])
    let app = "/v1/devices/phone/apps/com.example.app"
    func device(_ method: String, _ path: String, _ json: String) async throws -> Document {
      let answer = try await dev.control(method, path, json, face: "device")
      #expect((200..<300).contains(answer.status), "\(answer)")
      return try answer.json
    }
    _ = try await device("PUT", app, #"{"activities":[{"attributesType":"Ride"}],"frequentUpdates":true}"#)
    _ = try await device(
      "POST", "/v1/devices/phone/activities", #"{"bundleID":"com.example.app","attributesType":"Ride","contentState":{"stops":3}}"#)
    let changed = try await device("PUT", app, #"{"activities":[{"attributesType":"Game"}]}"#)
    #expect(changed["frequentUpdates"].bool == true && changed["activities"].array[0]["state"].string == "active", "\(changed)")
    #expect(changed["dropped"].array.map(\.string) == ["activities.Ride"], "\(changed)")
    let patched = try await device("PATCH", app, #"{"widgets":[{"kind":"Steps"}]}"#)
    #expect(patched["dropped"].array.isEmpty && patched["activities"].array[0]["state"].string == "active", "\(patched)")
    #expect(try await dev.terminate() == 0)
  }
}
