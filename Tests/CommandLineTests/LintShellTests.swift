import JSON
import Primitives
import Rules
import Testing

@testable import widgetpush

/// Of a curl command that a shell puts something into, lint judges what is written.
@Suite("What lint makes of a shell's expansions") struct LintShellTests {
  private static let now = Instant(unixSeconds: 1_796_000_000)
  private static let headers =
    "-H 'apns-push-type: liveactivity' -H \"apns-topic: $TOPIC\" -H 'apns-priority: 5' -H \"authorization: bearer $(widgetpush token)\""

  private static func findings(_ script: String) -> [LintFinding] {
    let input = LintInput("p.sh", Array(script.utf8), type: nil)
    return input.findings { PushLint.findings($0, now: now) }.map(\.finding)
  }

  private static func rules(_ script: String) -> [String] { findings(script).map(\.rule) }

  private static func push(_ data: String) -> String { "curl \(headers) \(data) https://localhost:2197/3/device/$activity" }

  @Test(arguments: [
    (#"-d '{"aps":{"timestamp":'$(date +%s)',"event":"updat","content-state":{"eta":1796000000}}}'"#, ["eventUnknown", "unixDate"]),
    (#"-d "{\"aps\":{\"timestamp\":$(date +%s%3N),\"event\":\"updat\",\"content-state\":{}}}""#, ["eventUnknown"]),
    (#"-d '{"aps":{"timestamp":"'$(date +%s)'","event":"update","content-state":{}}}'"#, ["timestampNotWholeSeconds"]),
    (#"-d "{\"aps\":{\"timestamp\":$now,\"event\":\"$EVENT\",\"content-state\":1}}""#, ["contentStateNotAnObject"]),
    (#"-d "{\"aps\":{\"timestamp\":$now,\"event\":\"update\",\"content-state\":$state}}""#, []),
    (#"-d "{\"aps\":{\"timestamp\":$((now + 5))000,\"event\":\"update\",\"content-state\":{\"by\":\"$who\"}}}""#, []),
    (#"-d "{\"aps\":{\"timestamp\":$now,\"event\":\"update\",\"content-state\":{\"next_stop\":$n}}}""#, ["snakeCaseKey"]),
    (#"-d "{\"aps\":{\"timestamp\":$now,\"event\":\"update\"$more}}""#, []),
    (#"-d "{\"aps\":{$members}}""#, []),
    (
      #"-d "{\"aps\":{\"timestamp\":$now,\"event\":\"start\",\"content-state\":{},\"attributes-type\":\"R\",\"attributes\":{},\"alert\":$alert,\"input-push-channel\":\"$channel\"}}""#,
      ["startNotCollapsed"]
    ),
    (#"-d "{\"aps\":{\"timestamp\":\"x\",\"$key\":1}}""#, ["timestampNotWholeSeconds"]),
    (#"-d "{\"aps\":$aps,\"event\":\"end\"}""#, []),
    (#"-d "{\"aps\":{\"timestamp\":$now,\"event\":\"update\",}}""#, ["notJSON"]),
    (#"-d "{\"aps\":{\"timestamp\":$now,\"content-state\":{}}}""#, ["eventMissing"]),
  ]) func theRestIsJudged(data: String, rules: [String]) {
    #expect(Self.rules(Self.push(data)) == rules, "\(Self.findings(Self.push(data)))")
  }

  /// The body comes from another command whose output the script tells.
  @Test(arguments: [
    "-d \"$(cat <<E\n{\"aps\":{\"timestamp\":$(date +%s),\"event\":\"updat\",\"content-state\":{}}}\nE\n)\"",
    "-d @- <<E\n{\"aps\":{\"timestamp\":$(date \"+%s\"),\"event\":\"updat\",\"content-state\":{\"a\":\"$(b \"c)\")\"}}}\nE\n: ",
    "--json=\"{\\\"aps\\\":{\\\"timestamp\\\":$t,\\\"event\\\":\\\"updat\\\",\\\"content-state\\\":{}}}\"",
    "-d\"{\\\"aps\\\":{\\\"timestamp\\\":$t,\\\"event\\\":\\\"updat\\\",\\\"content-state\\\":{}}}\"",
  ]) func whatTheScriptTellsIsJudged(data: String) {
    #expect(Self.rules(Self.push(data)) == ["eventUnknown"], "\(Self.findings(Self.push(data)))")
  }

  @Test(arguments: [
    "printf '{\"aps\":{\"timestamp\":%d,\"event\":\"updat\",\"content-state\":{\"p\":\"5%%\"}}}' \"$(date +%s)\" | ",
    "echo \"{\\\"aps\\\":{\\\"timestamp\\\":$t,\\\"event\\\":\\\"updat\\\",\\\"content-state\\\":{}}}\" | ",
  ]) func whatIsPipedIsJudged(source: String) {
    #expect(Self.rules(source + Self.push("-d @-")) == ["eventUnknown"])
  }

  @Test(arguments: [
    "-d \"$body\"", "-d $body", "-d \"$(jq -c . f)\"", "-d \"$(f; g)\"", "-d \"@$f\"", "-d @-", "-X POST -T -", "-d \"$a{}\"",
    "-d '{'\"$b\"",
  ])
  func anUnknownPayloadIsNoted(data: String) {
    let findings = Self.findings(Self.push(data))
    #expect(findings.map(\.rule) == ["payloadNotRead"] && findings.first?.level == .note, "\(findings)")
    let request = LintInput("p.sh", Array(Self.push("\(data) -G").utf8), type: nil).findings { _ in [] }
    #expect(request.isEmpty, "what goes into the URL is no payload")
  }

  /// An expansion in a header leaves the header alone, and nothing else.
  @Test func headersAreJudgedAroundExpansions() {
    let script =
      #"curl -H "apns-topic: $TOPIC" -H 'apns-push-type: background' -H "apns-priority: $P" -H 'apns-id: x' -H "authorization: $A" "#
      + #"-d '{"aps":{"content-available":2}}' https://localhost:2197/3/device/$t"#
    #expect(Self.rules(script) == ["BadMessageId", "contentAvailableMissing"])
  }

  /// The way that a request would go is judged as far as it is written.
  @Test(arguments: [
    ("http://api.push.apple.com/3/device/$t", "", ["plainHTTP"]), ("HTTP://$HOST/3/device/$t", "", ["plainHTTP"]),
    ("http://localhost:2197/3/device/$t", "", ["plainHTTP"]), ("$URL/3/device/$t", "", []), ("$SCHEME://x/3/device/$t", "", []),
    ("https://gateway.push.apple.com/3/device/$t", "", ["retiredHost"]), ("api.push.apple.com:443/3/device/$t", "", ["plainHTTP"]),
    ("localhost:2197/3/device/$t", "", []),
    ("https://user@Gateway.Sandbox.push.apple.com:2195/3/device/$t", "", ["retiredHost"]),
    ("http://feedback.push.apple.com/3/device/$t", "", ["plainHTTP", "retiredHost"]),
    ("https://feedback.sandbox.push.apple.com/3/device/$t", "", ["retiredHost"]),
    ("https://gateway.push.apple.com$X/3/device/$t", "", []), ("https://${A}gateway.push.apple.com/3/device/$t", "", []),
    ("https://gateway.push.apple.com.example.com/3/device/$t", "", []), ("https://[::1]:2197/3/device/$t", "", []),
    ("https://api.push.apple.com/3/device/$t", "", []), ("https://api.development.push.apple.com:2197/3/device/$t", "--http2", []),
    ("https://x/3/device/$t", "--http1.1", ["http1"]), ("https://x/3/device/$t", "-0", ["http1"]),
    ("https://x/3/device/$t", "-sS0", ["http1"]), ("https://x/3/device/$t", "--http1.0", ["http1"]),
    ("https://x/3/device/$t", "--http1.1 --http2", []), ("https://x/3/device/$t", "--http2-prior-knowledge", []),
  ]) func theWayIsJudged(url: String, options: String, rules: [String]) {
    let script = "curl \(Self.headers) \(options) -d '{\"aps\":{\"timestamp\":1796000000,\"event\":\"end\"}}' \"\(url)\""
    let findings = Self.findings(script)
    #expect(findings.map(\.rule) == rules && findings.allSatisfy(\.level.isWrong), "\(findings)")
  }

  /// An expansion that is none is told to be one.
  @Test func whatSingleQuotesLeaveIsTold() {
    let findings = Self.findings(Self.push(#"-d '{"aps":{"timestamp":$(date +%s),"event":"end"}}'"#))
    #expect(findings.map(\.rule) == ["notJSON"] && findings.first?.message.contains("single quotes") == true, "\(findings)")
    let other = Self.findings(Self.push(#"-d '{"aps":{"timestamp":x}}'"#))
    #expect(other.map(\.rule) == ["notJSON"] && other.first?.message.contains("single quotes") == false, "\(other)")
  }

  /// A schema is asked about what is known.
  @Test func aSchemaJudgesWhatIsKnown() throws {
    let schemas = try ActivitySchemas(
      "",
      contentState: try JSONValue.parse(
        #"{"type":"object","required":["stops","mode"],"properties":{"stops":{"type":"integer"},"mode":{"enum":["bus","tram"]},"eta":{"type":"number","format":"date2001"}}}"#
      ),
      at: "schema")
    func rules(_ state: String) -> [String] {
      let script = Self.push(#"-d "{\"aps\":{\"timestamp\":$t,\"event\":\"update\",\"content-state\":"# + state + #"}}""#)
      let input = LintInput("p.sh", Array(script.utf8), type: nil, schemas: [schemas])
      return input.findings { PushLint.findings($0, now: Self.now) }.map(\.finding.rule)
    }
    #expect(rules(#"{\"stops\":$n,\"mode\":\"$m\",\"eta\":$eta}"#) == [])
    #expect(rules(#"{\"stops\":\"$n\",\"mode\":\"$m\"}"#) == ["contentStateNotDecodable"])
    #expect(rules(#"{\"stops\":$n,\"mode\":1}"#) == ["contentStateNotDecodable"])
    #expect(rules(#"{\"stops\":$n}"#) == ["contentStateNotDecodable"])
    #expect(rules(#"{\"stops\":3$more}"#) == [])
  }
}
