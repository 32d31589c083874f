import Push
import Rules
import Testing

@testable import widgetpush

@Suite("What lint reads") struct LintInputTests {
  private static func pushes(_ script: String, _ read: @escaping (String) -> [UInt8]? = { _ in nil }) -> [CurlCommand.Push] {
    CurlCommand.all(in: script, read: read).flatMap(\.pushes)
  }

  private static func request(_ script: String, _ read: @escaping (String) -> [UInt8]? = { _ in nil }) -> LintedRequest? {
    pushes(script, read).first?.request
  }

  @Test(arguments: [
    "r=$(curl -X POST h/3/device/aa)", "(curl -X POST h/3/device/aa)", "time curl -X POST h/3/device/aa\r\nb",
    "$ curl -XPOST h/3/device/aa",
    "A=1 curl -sSXPOST h/3/device/aa >out 2>&1", "if ! /usr/bin/curl -X POST h/3/device/aa; then", "f() { curl -X POST h/3/device/aa; }",
    "docker exec -it app curl -X POST h/3/device/aa", "x=\"$(curl -X POST h/3/device/aa | jq .)\"", "curl -d @- h/3/device/aa <<E\nx\nE",
    "curl -sd x --url h/3/device/aa", "curl -d x -o out h/3/device/aa", "for i in 1 2; do curl -dx h/3/device/aa; done",
  ]) func theCurlCommandOfAScriptIsFound(script: String) {
    let request = Self.request(script)
    #expect(request?.method == "POST" && request?.path == "/3/device/aa", "\(String(describing: request))")
  }

  @Test(arguments: [
    "curl -sS https://example.com/health", "curl -H \"$read\" \"$api/v1/pushes?token=$t\"",
    "curl --parallel -K \"$folder/curl\" >>\"$folder/x\"",
    "apt-get install curl h/3/device/aa", "echo curl -d x h/3/device/aa", "# curl -d x h/3/device/aa",
    "curl -X PUT h/v1/registrations/aa -d '{}'",
    "curl -o /3/device/aa h/x", "wget h/3/device/aa", "echo 'curl -d x h/3/device/aa'",
  ]) func whatIsNoPushIsLeftOut(script: String) {
    #expect(Self.pushes(script).map(\.request) == [])
  }

  /// What a request about broadcasts is for is told by its path, as far as that is written.
  @Test(arguments: [
    ("curl -d '{}' h/4/broadcasts/apps/com.example.app", LintedRequest.Service.broadcasts),
    ("curl -d x \"$h/4/broadcasts/apps/$b\"", .broadcasts),
    ("curl -X DELETE h/1/apps/x/channels", .channels), ("curl \"https://$h/1/apps/$b/all-channels\"", .allChannels),
    ("curl 'h/1/apps/x/all-channels?a=b'", .allChannels), ("curl -d x h/3/device/aa", .devices),
    ("curl -d x -H 'apns-topic: x' h/x", .devices),
  ]) func aRequestAboutBroadcastsIsFound(script: String, service: LintedRequest.Service) {
    #expect(Self.pushes(script).map(\.request.service) == [service])
  }

  @Test(arguments: [
    ("curl h/x\ncurl -d x h/4/broadcasts/apps/b\ncurl -d x h/3/device/aa", "2 commands judged, 1 not a push"),
    ("curl -d x h/3/device/aa h/3/device/bb", "1 command judged"), ("curl h/x\ncurl h/y", nil), (#"{"aps":{}}"#, nil),
    ("curl h/x; curl h/y; curl -d x h/3/device/aa", "1 command judged, 2 not a push"),
  ]) func theCommandsAreCounted(script: String, count: String?) {
    let input = LintInput("x.sh", Array(script.utf8), type: nil)
    #expect(input.count == count)
    guard let count else { return }
    #expect(LintReport.text([], input) == "x.sh: nothing found (\(count))")
    let located = LintInput.Located(line: 1, finding: LintFinding(.warning, "r", "f", "m"))
    #expect(LintReport.text([located], input) == "x.sh:1: warning: m [r]\nx.sh: \(count)")
  }

  @Test func eachCommandIsJudgedByItself() {
    let script = """
      #!/bin/sh
      curl -sS https://example.com/health
      curl -d '{}' \\
        -H 'apns-topic: com.example.app' h/3/device/aa && curl -d '{"aps":{}}' "h/3/device/$token"
      curl -X PUT -H "authorization: Bearer $admin" -d '{}' h/v1/registrations/aa
      curl -d '{"a":1}' h/3/device/bb --next -d '{"a":2}' h/3/device/cc h/3/device/dd
      """
    let pushes = Self.pushes(script)
    #expect(pushes.map(\.lines) == [3...4, 4...4, 6...6, 6...6, 6...6])
    #expect(pushes.map(\.request.path) == ["/3/device/aa", nil, "/3/device/bb", "/3/device/cc", "/3/device/dd"])
    #expect(
      pushes.map { String(decoding: $0.request.body ?? [], as: UTF8.self) } == [
        "{}", #"{"aps":{}}"#, #"{"a":1}"#, #"{"a":2}"#, #"{"a":2}"#,
      ])
    #expect(pushes.map(\.request.headers.count) == [1, 0, 0, 0, 0])
  }

  /// A misspelt path is judged where the headers say what is meant.
  @Test func aPushIsKnownByItsHeaders() {
    #expect(Self.request("curl -d x -H 'apns-topic: x' h/3/devices/aa")?.path == "/3/devices/aa")
    #expect(Self.request("curl -d x -H 'apns-topic: x' \"$URL\"")?.method == "POST")
    #expect(Self.request("curl -d '{\"aps\":{}}' \"$URL\"") != nil)
    #expect(Self.request("curl -d '{\"x\":{}}' \"$URL\"") == nil)
  }

  @Test(arguments: [
    "curl -d @- h/3/device/aa <<'E'\n{}\nE", "curl --json @- h/3/device/aa <<< '{}'", "echo '{}' | curl -d @- h/3/device/aa",
    "cat <<E | curl -d @- h/3/device/aa\n{}\nE", "curl -d @p.json h/3/device/aa", "curl -d @- h/3/device/aa <p.json",
    "curl -T p.json h/3/device/aa",
    "cat p.json | curl --data-binary @- h/3/device/aa", "printf '%s' '{}' | curl -d@- h/3/device/aa", "curl --data-raw '{}' h/3/device/aa",
    "curl --data={} h/3/device/aa", "curl --json '{' --json '}' h/3/device/aa",
  ]) func thePayloadIsFound(script: String) {
    let body = Self.request(script) { $0 == "p.json" ? Array("{}".utf8) : nil }?.body
    #expect(body.map { String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace } } == "{}")
  }

  @Test(arguments: [
    "curl -d \"$X\" h/3/device/aa", "f | curl -d @- h/3/device/aa", "curl -d @- h/3/device/aa <<E\n$x\nE", "curl -d @$x h/3/device/aa",
  ])
  func aPayloadThatOnlyAShellKnowsIsNotJudged(script: String) throws {
    let push = try #require(Self.pushes(script).first)
    #expect(push.request.body == nil && push.request.method == "POST" && push.unreadFile == nil)
  }

  /// Thousands of commands in one pipe are followed to the first.
  @Test(arguments: ["echo '{}'", "cat p.json", "cat <<<'{}'"]) func aLongPipeIsFollowed(source: String) {
    let script = source + String(repeating: " | cat", count: 20_000) + " | cat - | curl -d @- h/3/device/aa"
    let body = Self.request(script) { $0 == "p.json" ? Array("{}".utf8) : nil }?.body
    #expect(body.map { String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace } } == "{}")
  }

  @Test func aMissingFileIsTold() throws {
    let input = LintInput("x", Array("\ncurl -d @no/such.json \\\n  h/3/device/aa".utf8), type: nil)
    let notes = input.findings { _ in [] }
    #expect(
      notes.map(\.finding.rule) == ["payloadNotRead"] && notes.map(\.line) == [2] && notes[0].finding.message.contains("no/such.json"))
  }

  /// Options that a shell puts in may be the very ones that seem to be missing.
  @Test(arguments: [
    "curl \"${options[@]}\" -d '{\"aps\":{\"content-changed\":true}}' h/3/device/aa",
    "curl -K c -d '{\"aps\":{\"content-changed\":true}}' h/3/device/aa",
    "curl -H \"$auth\" -H @more -d '{\"aps\":{\"content-changed\":true}}' h/3/device/aa",
    "curl $options -H 'apns-priority: 5' h/3/device/aa",
  ]) func nothingIsMissingThatMayBeThere(script: String) throws {
    let request = try #require(Self.request(script))
    #expect(PushLint.findings(request, now: .distantPast).map(\.rule).filter { $0 != "BadDeviceToken" } == [])
  }

  /// Neither many headers beside many URLs nor many commands take more than their share of time.
  @Test func whatIsLongIsReadOnce() {
    let script = String(repeating: "curl -H 'apns-topic: x' ", count: 20_000) + "h/3/device/aa"
    #expect(Self.pushes(script).count == Limits.lintedURLs)
    #expect(Self.pushes(String(repeating: "curl -d x h/3/device/aa\n", count: 5_000)).count == 5_000)
  }

  @Test func bytesAreNotRepaired() {
    let input = LintInput("x", Array("{\"aps\":{\"alert\":\"".utf8) + [0xFF] + Array("\"}}".utf8), type: "alert")
    #expect(input.findings { PushLint.findings($0, now: .distantPast) }.map(\.finding.rule) == ["notJSON"])
  }

  @Test func aCurlCommandIsARequest() throws {
    let command = """
      $ curl -sS --http2 --cacert ca.pem -H "authorization: bearer $(widgetpush token)" -H'apns-topic:  com.example.app' \\
        --header apns-priority:5 -XPUT --data '{"aps":{}}' --url=https://localhost:2197/3/device/aa -o out
      """
    let request = try #require(Self.request(command))
    #expect(request.method == "PUT" && request.path == "/3/device/aa")
    #expect(
      request.headers == [.init("authorization", nil), .init("apns-topic", "com.example.app"), .init("apns-priority", "5")])
    #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"aps":{}}"#)
    #expect(!request.hasClientCertificate && !request.mayHaveMore)
    let withCertificate = Self.request("curl --data-binary @p.json -E c.pem host/3/device/aa") { _ in [] }
    #expect(withCertificate?.hasClientCertificate == true && withCertificate?.method == "POST" && withCertificate?.body == [])
    #expect(Self.request("curl -d a -d b h/3/device/aa")?.body == Array("a&b".utf8))
    #expect(Self.request("curl -G -d a h/3/device/aa")?.method == "GET")
    #expect(Self.request("curl -I h/3/device/aa")?.method == "HEAD")
  }

  @Test func aFileForTheSimulatorIsAPayload() {
    let input = LintInput("x.apns", Array(#"{"Simulator Target Bundle":"com.example.app","aps":{"content-changed":true}}"#.utf8), type: nil)
    #expect(input.pushes.map(\.request.body) == [Array(#"{"aps":{"content-changed":true}}"#.utf8)])
    #expect(input.pushes.first?.request.isWhole == false)
    let curl = LintInput("x", Array(#"{"aps":{"alert":"run curl -d x h/3/device/aa; now"}}"#.utf8), type: nil)
    #expect(curl.pushes.count == 1 && curl.pushes.first?.request.isWhole == false)
  }

  @Test(arguments: [
    ("x", "# A push for curl's configuration\necho done\n", "no curl command"), ("x.sh", "echo done", "no curl command"),
    ("x.sh", "", "no curl command"),
    ("x", "\ncurl -sS https://example.com/health", "the curl command on line 2 sends nothing to /3/device/"),
    ("x", "curl a\ncurl b", "the 2 curl commands, the first on line 1, send nothing"),
  ]) func aScriptWithoutAPushIsToldSo(name: String, script: String, message: String) {
    let input = LintInput(name, Array(script.utf8), type: nil)
    let notes = input.findings { PushLint.findings($0, now: .distantPast) }
    #expect(notes.count == 1 && notes.first?.finding.level == .note && notes.first?.finding.rule == "noPush")
    #expect(notes.first?.finding.message.contains(message) == true, "\(notes)")
  }

  @Test func whatIsNeitherIsNoJSON() {
    let input = LintInput("x", Array("aps: {}".utf8), type: nil)
    #expect(input.findings { PushLint.findings($0, now: .distantPast) }.map(\.finding.rule) == ["notJSON"])
  }

  @Test func findingsHaveTheirLine() {
    func lines(_ script: String, _ fields: String...) -> [Int] {
      LintInput("x", Array(script.utf8), type: "liveactivity").findings { _ in fields.map { LintFinding(.ignored, "r", $0, "m") } }.map(
        \.line)
    }
    #expect(lines("{\n\"aps\":{\n\"timestamp\":1}}", "aps.timestamp", "aps.event") == [3, 1])
    #expect(lines("{\r\n\"aps\":{\r\n\"timestamp\":1}}", "aps.timestamp") == [3])
    let script = "# timestamp\ncurl a -H 'x: apns-topic'\n\ncurl -d '{}' \\\n -H 'Apns-Topic: x' \\\n h/3/device/aa\n# timestamp"
    #expect(lines(script, "aps.timestamp", "apns-topic", ":path", "authorization", "body") == [4, 5, 6, 4, 4])
    #expect(lines("\ncat <<E |\n{\"timestamp\":1}\nE\n curl -d @- h/3/device/aa", "aps.timestamp") == [3])
    #expect(lines("\ncurl -d \"{\\\"timestamp\\\":1}\" h/3/device/aa", "aps.timestamp", "x") == [2, 2])
  }

  @Test func aReportHasItsForms() {
    let input = LintInput("x", Array("{}".utf8), type: nil)
    let located = LintInput.Located(line: 3, finding: LintFinding(.ignored, "r", "aps.timestamp", "50% of\nit"))
    #expect(LintReport.annotation(located, input) == "::error file=x,line=3,title=r::50%25 of%0Ait")
    #expect(LintReport.text([located], input) == "x:3: ignored by the device: 50% of\\u000ait [r]", "a finding is one line")
    #expect(LintReport.text([], input) == "x: nothing found")
    #expect(LintReport.json(located, input)["line"] == 3)
    let note = LintInput.Located(line: 1, finding: LintFinding(.note, "noPush", "", "none"))
    #expect(LintReport.annotation(note, input).hasPrefix("::notice ") && LintReport.text([note], input) == "x:1: note: none [noPush]")
    #expect(!note.finding.level.isWrong && located.finding.level.isWrong)
  }
}
