import Rules
import Testing

@testable import widgetpush

@Suite("What lint reads") struct LintInputTests {
  @Test(arguments: [
    ("curl -d x", ["curl", "-d", "x"]), ("a 'b c' \"d e\"", ["a", "b c", "d e"]), ("a \\\n  b", ["a", "b"]), ("a\\ b", ["a b"]),
    (#"a "b\"c" 'd\e'"#, ["a", "b\"c", "d\\e"]), ("a''b ''", ["ab", ""]), ("a # b\nc", ["a"]), ("a b | c", ["a", "b"]),
    ("\n a\nb", ["a"]), ("# first\na b", ["a", "b"]), ("$'x y'", ["x y"]), ("a $ b", ["a", "$", "b"]),
  ]) func wordsAreThoseOfAShell(text: String, words: [String]) throws {
    let first = try #require(ShellWords.commands(text).first)
    #expect(first.map(\.text) == words)
    #expect(first.filter(\.isOpen) == [])
  }

  @Test(arguments: ["$X", "\"a $X b\"", "a${X}b", "$(f \"$(g)\" )c", "\"bearer $(f)\"", "`f x`", "a`f`"])
  func whatAShellPutsInIsOpen(text: String) {
    let words = ShellWords.commands("x \(text) y")[0]
    #expect(words.count == 3 && words[1].isOpen && words[2].text == "y" && !words[2].isOpen, "\(words)")
  }

  @Test func nothingIsOpenInSingleQuotes() {
    #expect(ShellWords.commands("'$X'") == [[ShellWords.Word(text: "$X", isOpen: false)]])
  }

  @Test func theCurlCommandOfAScriptIsFound() {
    let script = "#!/bin/sh\nset -e; token=$(widgetpush token)\n  A=1 curl -X POST https://h/3/device/aa && echo done\ncurl -X GET h\n"
    #expect(CurlCommand.request(script) { _ in nil }?.method == "POST")
    for text in ["r=$(curl -X POST h/3/device/aa)", "(curl -X POST h/3/device/aa)", "time curl -X POST h/3/device/aa\r\nb"] {
      let request = CurlCommand.request(text) { _ in nil }
      #expect(request?.method == "POST" && request?.path == "/3/device/aa", "\(text): \(String(describing: request))")
    }
    let joined = CurlCommand.request("curl -d a -d b h/x") { _ in nil }
    #expect(joined?.body == Array("a&b".utf8))
  }

  @Test func bytesAreNotRepaired() {
    let input = LintInput("x", Array("{\"aps\":{\"alert\":\"".utf8) + [0xFF] + Array("\"}}".utf8), type: "alert")
    #expect(PushLint.findings(input.request, now: .distantPast).map(\.rule) == ["notJSON"])
  }

  @Test func aCurlCommandIsARequest() throws {
    let command = """
      $ curl -sS --http2 --cacert ca.pem -H "authorization: bearer $(widgetpush token)" -H'apns-topic:  com.example.app' \\
        --header apns-priority:5 -XPUT --data '{"aps":{}}' --url=https://localhost:2197/3/device/aa -o out
      """
    let request = try #require(CurlCommand.request(command) { _ in nil })
    #expect(request.method == "PUT" && request.path == "/3/device/aa")
    #expect(
      request.headers == [.init("authorization", nil), .init("apns-topic", "com.example.app"), .init("apns-priority", "5")])
    #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"aps":{}}"#)
    #expect(!request.hasClientCertificate)
  }

  @Test func aFileOfACurlCommandIsRead() {
    let request = CurlCommand.request("curl --data-binary @p.json -E c.pem host/3/device/aa") { $0 == "p.json" ? Array("{}".utf8) : nil }
    #expect(request?.body == Array("{}".utf8) && request?.hasClientCertificate == true && request?.method == "POST")
    #expect(request?.path == "/3/device/aa")
    let open = CurlCommand.request("curl -d \"$X\" \"https://h/3/device/$T\"") { _ in nil }
    #expect(open?.body == nil && open?.path == nil && open?.method == "POST")
    #expect(CurlCommand.request("wget x") { _ in nil } == nil)
    #expect(CurlCommand.request(#"{"aps":{}}"#) { _ in nil } == nil)
  }

  @Test func aFileForTheSimulatorIsAPayload() {
    let input = LintInput("x.apns", Array(#"{"Simulator Target Bundle":"com.example.app","aps":{"content-changed":true}}"#.utf8), type: nil)
    #expect(input.request.body == Array(#"{"aps":{"content-changed":true}}"#.utf8))
    #expect(!input.request.isWhole)
  }

  @Test func findingsHaveTheirLine() {
    let input = LintInput("x", Array("{\n\"aps\":{\n\"timestamp\":1}}".utf8), type: "liveactivity")
    #expect(input.line(of: "aps.timestamp") == 3)
    #expect(input.line(of: "aps.event") == 1)
    let finding = LintFinding(.ignored, "r", "aps.timestamp", "50% of\nit")
    #expect(LintReport.annotation(finding, input) == "::error file=x,line=3,title=r::50%25 of%0Ait")
    #expect(LintReport.text([finding], input) == "x:3: ignored by the device: 50% of\nit [r]")
    #expect(LintReport.text([], input) == "x: nothing found")
    #expect(LintReport.json(finding, input)["line"] == 3)
  }
}
