import Foundation
import Testing

/// A gateway behind a gateway: the second plays Apple, with faults on, and a mock device behind it.
///
/// Every push must come to its end at the first, and the second must have seen what the first says.
@Suite("A chain of two gateways", .processes) struct ChainTests {
  /// 100,000 with `scripts/test --long`.
  private static let pushes = ProcessInfo.processInfo.environment["WIDGETPUSH_LONG"] == nil ? 3000 : 100_000

  /// What the second does to pushes, seeded. Of the pushes that come to it some 7 % are struck; their records have to fit into its log of
  /// refused requests.
  private static let faults = [
    // Enough in a row for the first to leave it alone for a while.
    #"{"then":{"status":503},"times":12}"#, #"{"then":{"reason":"InvalidProviderToken"},"times":2,"probability":0.02,"seed":11}"#,
    #"{"then":{"reason":"ExpiredProviderToken"},"times":1,"probability":0.01,"seed":12}"#,
    #"{"then":{"status":503},"probability":0.015,"seed":1}"#, #"{"then":{"status":500},"probability":0.01,"seed":2}"#,
    #"{"then":{"reason":"TooManyRequests"},"probability":0.015,"seed":3}"#,
    #"{"then":{"reason":"Unregistered"},"probability":0.004,"seed":4}"#,
    #"{"then":{"reason":"BadDeviceToken"},"probability":0.003,"seed":5}"#,
    #"{"then":{"reason":"PayloadTooLarge"},"probability":0.003,"seed":6}"#,
    #"{"then":{"goaway":true},"probability":0.001,"seed":7}"#, #"{"then":{"goaway":"after"},"probability":0.001,"seed":8}"#,
    #"{"then":{"reset":true},"probability":0.003,"seed":9}"#, #"{"then":{"reset":"REFUSED_STREAM"},"probability":0.003,"seed":13}"#,
    #"{"then":{"close":true},"probability":0.0005,"seed":10}"#,
    #"{"then":{"delayMilliseconds":{"median":20,"p99":400}},"probability":0.02,"seed":14}"#,
    #"{"then":{"concurrentStreams":1},"times":2,"probability":0.001,"seed":15}"#,
  ]

  /// One push to send.
  private struct Push: Sendable {
    let id: String
    let token: String
    let type: String
  }

  /// What a gateway says of a push.
  private struct Record: Sendable {
    let disposition: String
    let cause: String
    let status: Int
    let upstreamStatus: Int
    let reason: String
  }

  @Test func everyPushIsDeliveredOrExplained() async throws {
    let second = try await Deployment.start(["dev"])
    let set = try await second.control("PUT", "/v1/apps/com.example.app", #"{"answer":"upstream"}"#)
    try #require(set.status == 200 || set.status == 201, "\(set)")
    for fault in Self.faults {
      let answer = try await second.control("POST", "/v1/faults", fault)
      try #require(answer.status == 201, "\(fault): \(answer)")
    }
    let first = try await gateway(before: second)
    let pushes = try await registered(on: [first, second])

    let answers = try await send(pushes, to: first)
    #expect(answers.count == pushes.count)
    try await eventually(within: .seconds(600), "nothing waits at the first gateway, and nothing is on its way") {
      let lines = try await first.control("GET", "/metrics", as: "read").text.split(separator: "\n")
      return lines.contains("widgetpush_pushes_waiting 0") && lines.contains("widgetpush_pushes_in_flight 0")
    }

    let (here, there) = (try await records(of: first), try await records(of: second))
    var ends: [String: Int] = [:]
    for push in pushes {
      guard let record = here[push.id]?.first else {
        Issue.record("\(push.id) is not known at the first gateway")
        continue
      }
      ends["\(record.disposition) \(record.cause)", default: 0] += 1
      if let fault = Self.fault(push, record, answered: answers[push.id], there: there[push.id] ?? []) {
        Issue.record("\(push.id), \(push.type): \(fault): \(record), the second says \(there[push.id] ?? [])")
      }
    }
    let rules = try await second.control("GET", "/v1/faults").json["faults"].array
    for rule in rules where Self.pushes >= 100_000 || rule["times"].int == 12 {
      #expect(rule["applied"].int ?? 0 > 0, "a fault that has struck nothing tests nothing: \(rule)")
    }
    print("\(pushes.count) pushes: \(ends.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))")
    print("struck: \(rules.map { "\($0["applied"].int ?? 0) \($0["then"])" }.joined(separator: ", "))")
    // How many merge depends on how long pushes are on their way.
    let done = ends.filter { $0.key.hasPrefix("accepted") || $0.key.hasPrefix("merged") }.reduce(0) { $0 + $1.value }
    #expect(done > pushes.count * 9 / 10, "\(ends)")
    #expect(try await first.terminate() == 0)
    #expect(try await second.terminate() == 0)
  }

  /// What is wrong with the end of a push; nil where it is delivered or explained, and both gateways agree on it.
  private static func fault(_ push: Push, _ record: Record, answered: Int?, there: [Record]) -> String? {
    if answered != record.status { return "answered \(answered ?? 0)" }
    switch record.disposition {
    case "accepted": return there.contains { $0.disposition != "refused" } ? nil : "the second has not accepted it"
    case "failed" where record.upstreamStatus != 0:
      let isSeen = there.contains { $0.disposition == "refused" && $0.status == record.upstreamStatus && $0.reason == record.reason }
      return isSeen ? nil : "the second has not refused it so"
    // Its token was retired, by the 410 of another push.
    case "failed": return record.cause == "unregistered" ? nil : "no reason"
    case "refused": return record.status == 410 || record.status == 429 ? nil : "refused for no reason"
    case "merged": return record.cause.isEmpty ? "no reason" : nil
    default: return "no end"
    }
  }

  private func gateway(before second: Deployment) async throws -> Deployment {
    let state = try await Deployment.newState()
    let credentials = try second.credentials()
    let keyFile = credentials["keyFile"].string ?? ""
    let file = try state.write(
      "gateway.yaml",
      """
      teams:
        - id: \(credentials["teamID"].string ?? "")
          keys: [{id: \(credentials["keyID"].string ?? ""), file: "\(keyFile.hasPrefix("/") ? keyFile : second.state.path(keyFile))"}]
      upstreams:
        apple: {url: "https://localhost:\(try second.port("provider"))", ca: "\(second.state.path("ca.pem"))", pauseSeconds: 1}
      apps: [{bundleID: com.example.app, upstream: apple, answer: upstream}]
      """)
    return try await Deployment.start(["gateway", "--config", file], in: state)
  }

  /// Eight pushes to a token on average: alerts, reloads, and updates of Live Activities.
  private func registered(on gateways: [Deployment]) async throws -> [Push] {
    let tokens = (0..<Self.pushes / 8).map { number -> (token: String, type: String, body: String) in
      let token = newToken()
      switch number % 10 {
      case 0: return (token, "widgets", RegistrationBody.widgets(minimumInterval: 0))
      case 1: return (token, "liveactivity", RegistrationBody.activity)
      default: return (token, "alert", RegistrationBody.app)
      }
    }
    for start in stride(from: 0, to: tokens.count, by: 2000) {
      let rows = tokens[start..<min(start + 2000, tokens.count)].map { #"{"token":"\#($0.token)","# + $0.body.dropFirst() }
      for gateway in gateways {
        let answer = try await gateway.control("POST", "/v1/registrations", rows.joined(separator: "\n") + "\n")
        try #require(answer.status == 200, "\(answer)")
      }
    }
    // In turns, so that the pushes of a token are far apart, as they are in life.
    return (0..<Self.pushes).map { number in
      let token = tokens[number % tokens.count]
      return Push(id: newID().lowercased(), token: token.token, type: token.type)
    }
  }

  /// Sends all, some hundred at a time, and returns the statuses that they were answered with, by id.
  private func send(_ pushes: [Push], to gateway: Deployment) async throws -> [String: Int] {
    var answers: [String: Int] = [:]
    let (base, jwt) = (try gateway.url("provider"), try await ProviderToken.of(gateway))
    for start in stride(from: 0, to: pushes.count, by: 5000) {
      let sections = pushes[start..<min(start + 5000, pushes.count)].map { push in
        let payload =
          switch push.type {
          case "widgets": #"{"aps":{"content-changed":true}}"#
          case "liveactivity": #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","content-state":{"stops":3}}}"#
          default: #"{"aps":{"alert":"Hello"}}"#
          }
        return """
          url = "\(base)/3/device/\(push.token)"
          http2
          cacert = "\(gateway.state.path("ca.pem"))"
          header = "authorization: bearer \(jwt)"
          header = "apns-topic: com.example.app\(push.type == "alert" ? "" : ".push-type.\(push.type)")"
          header = "apns-push-type: \(push.type)"
          header = "apns-priority: \(push.type == "alert" ? 10 : 5)"
          header = "apns-id: \(push.id)"
          data = "\(payload.replacingOccurrences(of: "\"", with: "\\\""))"
          output = "/dev/null"
          write-out = "%{http_code} \(push.id)\\n"
          """
      }
      let result = try await run(
        ["curl", "-sS", "--parallel", "--parallel-max", "200", "-K", "-"], input: Data(sections.joined(separator: "\nnext\n").utf8),
        within: .seconds(300))
      guard result.status == 0 else { throw HarnessError("curl: \(result.status) \(result.standardError)") }
      for line in result.text.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.count == 2 { answers[String(words[1])] = Int(words[0]) }
      }
    }
    return answers
  }

  /// Every push of a gateway's log, by id, the newest first.
  private func records(of gateway: Deployment) async throws -> [String: [Record]] {
    var records: [String: [Record]] = [:]
    var after = ""
    while true {
      let page = try await gateway.control("GET", "/v1/pushes?limit=1000\(after)", as: "read").json
      for push in page["pushes"].array {
        records[push["id"].string?.lowercased() ?? "", default: []].append(
          Record(
            disposition: push["disposition"].string ?? "", cause: push["cause"].string ?? "", status: push["status"].int ?? 0,
            upstreamStatus: push["upstreamStatus"].int ?? 0, reason: push["reason"].string ?? ""))
      }
      guard let next = page["next"].string else { return records }
      after = "&after=\(next)"
    }
  }
}
