import Primitives
import Push
import Rules
import Storage
import Testing

/// What the gateway sends for activities by name passes its own rules, strictly, and is what they would take it for.
@Suite("Payloads of activities by name") struct ActivityPayloadTests {
  private static let now = Instant(unixSeconds: 1_800_000_000)
  private static let rules = RequestRules(
    apps: AppDirectory([AppDirectory.App(bundleID: "com.example.app", developmentUpstream: "device")]),
    providers: ProviderDirectory([]))

  private func judged(_ payload: String) -> Verdict {
    var headers: [UInt8] = []
    func append(_ text: String) -> ByteRange {
      defer { headers += text.utf8 }
      return ByteRange(offset: headers.count, count: text.utf8.count)
    }
    var fields = RequestFields()
    fields.method = append("POST")
    fields.path = append("/3/device/00")
    fields.topic = append("com.example.app.push-type.liveactivity")
    fields.pushType = append("liveactivity")
    fields.priority = append("10")
    return Self.rules.judge(fields, headers: headers.span.bytes, body: Array(payload.utf8).span.bytes, time: RequestTime(Self.now))
  }

  /// Every event with and without each part.
  @Test(arguments: [ActivityEvent.start, .update, .end]) func everyForm(event: ActivityEvent) throws {
    for alert in [nil, #"{"title":"Ride","body":"Soon"}"#] {
      for staleDate in [nil, "1800003600"] {
        for dismissalDate in [nil, "1800000060"] {
          for state in ["{}", #"{"stops":3,"note":"\"\\u00fc"}"#] {
            let payload = NamedActivity.payload(
              event, timestamp: Self.now.unixSeconds, content: .init(state: state, alert: alert, staleDate: staleDate),
              attributesType: #"Ride"\"#, attributes: #"{"id":"9"}"#, startAlert: #"{"title":"Ride"}"#, dismissalDate: dismissalDate)
            guard case .push(let push) = judged(payload.text) else {
              Issue.record("refused: \(payload.text) \(judged(payload.text))")
              continue
            }
            #expect(
              push.traits == payload.traits && push.warnings.subtracting(PushWarnings(.alertInUpdate)).isEmpty,
              "\(payload.text): \(push.warnings.all.map(\.name))")
          }
        }
      }
    }
  }
}
