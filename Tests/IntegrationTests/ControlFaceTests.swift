import Foundation
import Testing

@Suite("Control face", .processes) struct ControlFaceTests {
  @Test(arguments: ["--http2", "--http1.1"]) func bothVersionsOfHTTPServe(protocolOption: String) async throws {
    let dev = try await SharedDev.deployment()
    let answer = try await dev.control("GET", "/livez", as: nil, protocolOption: protocolOption)
    #expect(answer.status == 200)
    #expect(answer.version == (protocolOption == "--http2" ? "2" : "1.1"))
  }

  @Test(arguments: ["/livez", "/readyz", "/version"]) func probesNeedNoAccessToken(path: String) async throws {
    let dev = try await SharedDev.deployment()
    #expect(try await dev.control("GET", path, as: nil).status == 200)
    #expect(try await dev.control("GET", path, as: nil, face: "plain", protocolOption: "--http1.1").status == 200)
  }

  /// Each face describes its own API, also over HTTP/1.1 and at the plain port.
  @Test func eachFaceServesItsDescription() async throws {
    let dev = try await SharedDev.deployment()
    for (face, path, file) in [
      ("control", "/openapi.yaml", "control"), ("device", "/openapi.yaml", "device"), ("plain", "/openapi.yaml", "control"),
      ("plain", "/device/openapi.yaml", "device"),
    ] {
      for option in face == "plain" ? ["--http1.1"] : ["--http2", "--http1.1"] {
        let answer = try await dev.control("GET", path, as: nil, face: face, protocolOption: option)
        #expect(answer.status == 200 && answer["content-type"] == "application/yaml")
        #expect(answer.text == (try String(contentsOfFile: "\(repository)/docs/openapi/\(file).yaml", encoding: .utf8)))
      }
    }
  }

  /// Whoever comes without a path, with a browser say, is told what there is.
  @Test(arguments: [("control", "/"), ("device", "/"), ("plain", "/"), ("plain", "/device"), ("plain", "/device/")])
  func whatThereIsIsToldAtTheRoot(face: String, path: String) async throws {
    let dev = try await SharedDev.deployment()
    let answer = try await dev.control("GET", path, as: nil, face: face)
    #expect(answer.status == 200, "\(answer)")
    let routes = try answer.json["routes"].array.compactMap(\.string)
    let isDevice = face == "device" || path != "/"
    #expect(routes.contains(isDevice ? "PUT /v1/devices/{device}" : "PUT /v1/registrations/{token}") && routes.contains("GET /livez"))
    #expect(try routes.contains("GET /openapi.yaml") && answer.json["description"].string == "/openapi.yaml")
    #expect(try await dev.control("POST", path, "", as: nil, face: face).status == 405)
  }

  @Test func theVersionIsOneNumberEverywhere() async throws {
    let dev = try await SharedDev.deployment()
    let served = try await dev.control("GET", "/version", as: nil).json["version"].string
    let printed = try await run([Deployment.executable, "version"]).text
    #expect(served?.wholeMatch(of: /\d+\.\d+\.\d+.*/) != nil)
    #expect(printed.contains(try #require(served)))
  }

  @Test func metricsCountPushesAndNameNoToken() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let answer = try await dev.send(.widgets(token))
    try await dev.settled(try #require(answer["apns-id"]), as: "applied")
    _ = try await dev.send(.widgets(token).with("apns-priority", "7"))

    #expect(try await dev.control("GET", "/metrics", as: nil).status == 401)
    let metrics = try await dev.control("GET", "/metrics", as: "read")

    #expect(metrics.status == 200)
    #expect(metrics["content-type"]?.hasPrefix("text/plain") == true)
    #expect(metrics.text.contains("# TYPE "))
    #expect(metrics.text.contains(#"type="widgets""#), "\(metrics.text)")
    #expect(metrics.text.contains(#"reason="BadPriority""#), "\(metrics.text)")
    #expect(metrics.text.contains(#"disposition="applied""#), "\(metrics.text)")
    #expect(!metrics.text.contains(token))
    #expect(metrics.text.firstMatch(of: /[0-9a-f]{64}/) == nil)
  }

  @Test func aRegistrationIsMadeReplacedReadListedAndRemoved() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    let path = "/v1/registrations/\(token)"
    let user = "user-\(token.prefix(8))"
    let body = RegistrationBody.widgets.dropLast() + #","user":"\#(user)"}"#

    #expect(try await dev.control("PUT", path, String(body)).status == 201)
    #expect(try await dev.control("PUT", path, String(body)).status == 200)
    let read = try await dev.control("GET", path).json
    #expect(read["type"].string == "widgets")
    #expect(read["widgets"][0]["kind"].string == "Steps")
    let list = try await dev.control("GET", "/v1/registrations?user=\(user)").json
    #expect(list["registrations"].array.map { $0["token"].string } == [token], "\(list)")
    #expect(try await dev.control("DELETE", path).status == 204)
    #expect(try await dev.control("GET", path).status == 404)
    #expect(try await dev.send(.widgets(token)).text == #"{"reason":"BadDeviceToken"}"#)
  }

  @Test(
    arguments: [
      ("PUT", "/v1/registrations/xyz", RegistrationBody.widgets, 400, nil),
      ("PUT", "/v1/registrations/TOKEN", #"{"type":"widgets","bundleId":"com.example.app","environment":"development"}"#, 400, "bundleID"),
      ("PUT", "/v1/registrations/TOKEN", #"{"type":"widget","bundleID":"com.example.app","environment":"development"}"#, 400, "widgets"),
      ("PUT", "/v1/registrations/TOKEN", #"{"type":"widgets","bundleID":"com.example.app","environment":"test"}"#, 400, "development"),
      ("PUT", "/v1/registrations/TOKEN", #"{"type":"widgets""#, 400, nil),
      ("PUT", "/v1/registrations/TOKEN", "", 400, nil),
      ("GET", "/v1/registration/TOKEN", nil, 404, "/v1/registrations"),
      ("POST", "/v1/pushes/00000000-0000-0000-0000-000000000000", "{}", 405, "GET"),
      ("GET", "/v1/pushes/nonsense", nil, 400, nil),
      ("GET", "/v1/pushes/00000000-0000-0000-0000-000000000000", nil, 404, nil),
      ("GET", "/v1/pushes?dispositon=applied", nil, 400, "disposition"),
      ("GET", "/v1/pushes?limit=many", nil, 400, "limit"),
    ] as [(String, String, String?, Int, String?)])
  func aBadCallNamesThePlaceAndTheRightForm(method: String, path: String, body: String?, status: Int, says: String?) async throws {
    let dev = try await SharedDev.deployment()
    let answer = try await dev.control(method, path.replacingOccurrences(of: "TOKEN", with: newToken()), body)
    #expect(answer.status == status, "\(answer)")
    let error = try answer.json["error"]
    #expect(error["code"].string?.isEmpty == false, "\(answer)")
    #expect((error["message"].string?.count ?? 0) > 10, "\(answer)")
    if let says { #expect("\(error)".contains(says), "\(answer)") }
  }

  @Test(arguments: [("localhost", 200), ("127.0.0.1", 200), ("[::1]", 200), ("evil.example", 403), ("127.0.0.1.evil.example", 403)])
  func thePlainPortHandsOutCredentialsToLocalNamesOnly(host: String, status: Int) async throws {
    let dev = try await SharedDev.deployment()
    let port = try dev.port("plain")
    let admin = try dev.credentials()["admin"].string ?? ""
    for file in ["ca.pem", "credentials.json", "AuthKey.p8"] {
      let answer = try await curl(
        "GET", "http://127.0.0.1:\(port)/dev/\(file)", ca: nil,
        headers: ["Host: \(host):\(port)"] + (file == "ca.pem" ? [] : ["Authorization: Bearer \(admin)"]), protocolOption: "--http1.1")
      #expect(answer.status == status, "\(file): \(answer)")
      if status == 200, file != "AuthKey.p8" { #expect(answer.body == (try dev.state.read(file))) }
    }
  }

  /// Another user of this machine reaches the plain port, and a browser's page has the browser do so.
  @Test func thePlainPortTellsSecretsToNobodyElse() async throws {
    let dev = try await SharedDev.deployment()
    for file in ["credentials.json", "AuthKey.p8"] {
      #expect(try await dev.control("GET", "/dev/\(file)", as: nil, face: "plain").status == 401, "\(file)")
      #expect(try await dev.control("GET", "/dev/\(file)", as: "read", face: "plain").status == 403, "\(file)")
    }
    let page = ["Origin: https://evil.example"]
    for (face, path) in [
      ("plain", "/dev/credentials.json"), ("plain", "/v1/pushes"), ("control", "/v1/pushes"), ("plain", "/device/v1/devices"),
      ("device", "/v1/devices"),
    ] {
      #expect(try await dev.control("GET", path, face: face, headers: page).status == 403, "\(face)\(path)")
    }
    #expect(try await dev.control("POST", "/v1/reset", "{}", headers: page).status == 403)
  }

  @Test func credentialsAreNotServedOverTLSToAnyone() async throws {
    let dev = try await SharedDev.deployment()
    let answer = try await dev.control("GET", "/dev/credentials.json", as: nil)
    #expect(answer.status != 200, "\(answer)")
  }

  @Test func thePlainPortListensOnLoopbackAlone() async throws {
    let dev = try await SharedDev.deployment()
    let port = try dev.port("plain")
    let sockets = try await run(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).text.split(separator: "\n")
    let suffix = ":" + String(format: "%04X", port)
    let listening = sockets.compactMap { line -> String? in
      let words = line.split(separator: " ")
      return words.count > 3 && words[1].hasSuffix(suffix) && words[3] == "0A" ? String(words[1].dropLast(suffix.count)) : nil
    }
    #expect(!listening.isEmpty)
    #expect(listening.allSatisfy { $0 == "0100007F" || $0 == "00000000000000000000000001000000" }, "\(listening)")
  }
}
