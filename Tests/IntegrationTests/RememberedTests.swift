import Foundation
import Testing

/// What was registered is what the mock device makes of it: by the command line, and by the device itself before a restart of `dev`.
@Suite("Registered devices", .processes) struct RememberedTests {
  private func widgetpush(_ dev: Deployment, _ arguments: String...) async throws -> String {
    let result = try await run([Deployment.executable] + arguments + ["--state-dir", dev.state.path])
    #expect(result.status == 0, "\(arguments): \(result.standardError)")
    return result.text
  }

  private func device(_ dev: Deployment, _ name: String) async throws -> Document {
    let answer = try await dev.control("GET", "/v1/devices/\(name)", face: "device")
    #expect(answer.status == 200, "\(answer)")
    return try answer.json
  }

  @Test func theDeviceHasTheNameTheUserAndTheWidgetsThatWereRegistered() async throws {
    let dev = try await SharedDev.deployment()
    let (token, name) = (newToken(), "kates-\(newToken().prefix(8))")
    let registered = ["--widget", "Steps:systemSmall", "--widget", "Steps:systemMedium", "--device", name, "--user", "kate"]
    let result = try await run([Deployment.executable, "register", token, "--state-dir", dev.state.path] + registered)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(try await widgetpush(dev, "send", token).contains("2 widgets"))
    let kates = try await device(dev, name)
    #expect(kates["user"].string == "kate" && kates["platform"].string == "iOS", "\(kates)")
    let widgets = kates["apps"][0]["widgets"].array
    #expect(widgets.map { $0["kind"].string } == ["Steps", "Steps"] && widgets.allSatisfy { $0["reloads"].int == 1 }, "\(kates)")
    #expect(widgets.map { $0["family"].string } == ["systemSmall", "systemMedium"])
    #expect(try await device(dev, token)["device"].string == name)
  }

  @Test func whatWasPlacedBeforeARestartIsThereAgain() async throws {
    let first = try await Deployment.start(["dev"])
    func call(_ dev: Deployment, _ method: String, _ path: String, _ body: String) async throws -> Document {
      let answer = try await dev.control(method, "/v1/devices/phone\(path)", body, face: "device")
      #expect((200..<300).contains(answer.status), "\(path): \(answer)")
      return try answer.json
    }
    _ = try await call(first, "PUT", "", #"{"user":"alice"}"#)
    let widget = #"{"bundleID":"com.example.app","kind":"Orders","family":"systemMedium"}"#
    let placed = try await call(first, "POST", "/widgets", widget)
    let lamp = try await call(first, "POST", "/controls", #"{"bundleID":"com.example.app","kind":"Lamp"}"#)
    let ride = try await call(first, "POST", "/activities", #"{"bundleID":"com.example.app","attributesType":"Ride"}"#)
    #expect(try await first.terminate() == 0)

    let dev = try await Deployment.start(["dev"], in: first.state)
    // Whose phone it is, is known at once, here and at the gateway.
    #expect(try await device(dev, "phone")["user"].string == "alice")
    let alices = try await dev.control("GET", "/v1/registrations?user=alice&device=phone", as: "read").json["registrations"].array
    #expect(Set(alices.compactMap { $0["type"].string }).isSuperset(of: ["app", "pushToStart"]), "\(alices)")
    let token = try #require(placed["token"].string)
    #expect(try await widgetpush(dev, "send", token).contains("widget Orders-1"))
    #expect(try await widgetpush(dev, "send", try #require(lamp["token"].string)).contains("control Lamp-1"))
    let update = try await widgetpush(dev, "send", try #require(ride["token"].string), "--content-state", #"{"stops":3}"#)
    #expect(update.contains("activity Ride-1"), "\(update)")
    let phone = try await device(dev, "phone")
    #expect(phone["user"].string == "alice", "\(phone)")
    let app = phone["apps"][0]
    #expect(app["widgets"][0]["kind"].string == "Orders" && app["widgets"][0]["family"].string == "systemMedium", "\(app)")
    #expect(app["widgetExtension"]["token"].string == token && app["controls"][0]["token"].string == lamp["token"].string)
    #expect(app["activities"][0]["contentState"]["stops"].int == 3)
    let devices = try await dev.control("GET", "/v1/devices", face: "device").json["devices"].array
    #expect(devices.map { $0["device"].string } == ["phone"], "no stray device: \(devices)")
    #expect(try await call(dev, "POST", "/widgets", widget)["token"].string == token, "placed again it has its token")
    #expect(try await device(dev, "phone")["apps"][0]["widgets"].array.count == 1)
    #expect(try await dev.terminate() == 0)
  }
}
