import Foundation
import Testing

/// Live Activities that a backend calls by names of its own, on a mock device, with the gateway killed in between.
@Suite("Activities by name", .processes) struct NamedActivityTests {
  private let path = "/v1/activities/com.example.app/order-9"

  private func put(_ dev: Deployment, _ json: String) async throws -> Answer {
    try await dev.control("PUT", path, json, as: "reload")
  }

  private func device(_ dev: Deployment, _ method: String, _ path: String, _ json: String) async throws {
    let answer = try await dev.control(method, "/v1/devices/\(path)", json, face: "device")
    #expect((200..<300).contains(answer.status), "\(answer)")
  }

  private func activity(_ dev: Deployment, is state: String) async throws -> Document {
    var last: Document?
    do {
      try await eventually("the activity is \(state)") {
        last = try await dev.control("GET", path, as: "read").json
        return last?["state"].string == state
      }
    } catch { throw HarnessError("\(error)\n\(last.map { "\($0)" } ?? "")") }
    return last!
  }

  /// What the app's content-state does not decode from is told before anything is sent, whatever the app's validation.
  @Test(arguments: ["strict", "apple"]) func aContentStateThatDoesNotDecode(validation: String) async throws {
    let dev = try await Deployment.start(["dev", "--validation", validation])
    let schema = #"{"required":["stops"],"properties":{"stops":{"type":"integer"},"eta":{"format":"date2001"}}}"#
    let app = try await dev.control("PUT", "/v1/apps/com.example.app", #"{"contentStates":{"Ride":\#(schema)}}"#)
    #expect((200..<300).contains(app.status), "\(app)")
    func begin(_ state: String, type: String = "Ride") async throws -> Answer {
      try await put(dev, #"{"user":"alice","attributesType":"\#(type)","contentState":\#(state),"alert":{"title":"Ride","body":"Soon"}}"#)
    }
    let unix = Int(Date().timeIntervalSince1970) + 600
    for (state, field, sentence) in [
      (#"{"stops":"two"}"#, "contentState.stops", #"contentState.stops must be an integer, not "two""#),
      (#"{"stop":2}"#, "contentState.stops", "contentState.stops is missing; it must be an integer; is stop meant for it?"),
      (#"{"stops":2,"eta":\#(unix)}"#, "contentState.eta", "send \(unix - 978_307_200)"),
    ] {
      let answer = try await begin(state)
      #expect(answer.status == 400, "\(answer)")
      let error = try answer.json["error"]
      #expect(error["field"].string == field && error["message"].string?.contains(sentence) == true, "\(answer)")
    }
    #expect(try await dev.control("GET", path, as: "read").status == 404, "nothing has begun")
    #expect(try await begin(#"{"stops":2}"#).status == 201)
    // An update and an end are of the type that the start named.
    #expect(try await put(dev, #"{"contentState":{"stops":null}}"#).status == 400)
    let end = try await dev.control("DELETE", path, #"{"contentState":{"stops":1.5}}"#, as: "reload")
    #expect(end.status == 400 && "\(end)".contains("contentState.stops"), "\(end)")
    #expect(try await dev.control("GET", path, as: "read").json["state"].string == "waitingForStartToken")
    #expect(try await dev.control("DELETE", path, #"{"contentState":{"stops":0}}"#, as: "reload").status == 200)
    #expect(try await dev.terminate() == 0)
  }

  /// Asked for before the phone is there; killed; then started, updated and ended, all by one name.
  @Test func aLifeByName() async throws {
    let state = try Folder()
    let first = try await Deployment.start(["dev"], in: state)
    let begun = try await put(
      first,
      #"{"user":"alice","attributesType":"Ride","attributes":{"id":"9"},"contentState":{"stops":3},"alert":{"title":"Ride","body":"Soon"}}"#
    )
    #expect(begun.status == 201, "\(begun)")
    #expect(try begun.json["state"].string == "waitingForStartToken")
    try await first.crash()

    let dev = try await Deployment.start(["dev"], in: state)
    let held = try await put(dev, #"{"contentState":{"stops":2}}"#)
    #expect(held.status == 200, "\(held)")
    try await device(dev, "PUT", "alices-phone", #"{"platform":"iOS","user":"alice"}"#)
    try await device(dev, "POST", "alices-phone/apps", #"{"bundleID":"com.example.app"}"#)
    let active = try await activity(dev, is: "active")
    #expect(active["devices"].array.count == 1 && active["devices"][0]["device"].string == "alices-phone", "\(active)")
    let start = try #require(active["pushes"][0]["id"].string)
    #expect(try await dev.settled(start, as: "applied")["activity"].string == "order-9")

    let update = try await put(dev, #"{"contentState":{"stops":1},"alert":{"title":"Ride","body":"Here"}}"#)
    let push = try #require(try update.json["pushes"].array.last?["id"].string)
    let record = try await dev.settled(push, as: "applied")
    #expect(record["cause"].string == "updated" && record["warnings"].isMissing, "\(record)")
    #expect(try await put(dev, #"{"contentState":{"stops":1}}"#).json["pushes"].array.count == update.json["pushes"].array.count)
    let shown = try await dev.control("GET", "/v1/devices/alices-phone", face: "device").text
    #expect(shown.contains(#""stops":1"#), "\(shown)")

    let end = try await dev.control("DELETE", path, #"{"contentState":{"stops":0}}"#, as: "reload")
    #expect(end.status == 200, "\(end)")
    let ended = try await activity(dev, is: "ended")
    let last = try #require(ended["pushes"].array.last)
    #expect(last["event"].string == "end" && last["disposition"].string == "applied" && last["cause"].string == "ended", "\(ended)")
    let story = try await run([Deployment.executable, "explain", "--state-dir", state.path, last["id"].string ?? ""])
    #expect(story.text.contains("made by the gateway for the activity order-9"), "\(story.text)")
    // Nothing was started twice.
    let events = try await dev.control("GET", "/v1/events?event=activityStarted", face: "device").json["events"].array
    #expect(events.count == 1, "\(events)")
    #expect(try await dev.terminate() == 0)
  }
}
