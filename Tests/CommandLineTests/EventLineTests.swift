import JSON
import Testing

@testable import widgetpush

@Suite("Events on a terminal") struct EventLineTests {
  private static let stream =
    ": hello\nretry: 1000\n\nid: 1.a1.1\nevent: push\ndata: {\"a\":1}\n\n:\n\nevent: lost\r\ndata:two\r\ndata: lines\r\n\r\nid: 3\n\n"

  /// However the bytes are cut.
  @Test(arguments: 1...40) func theEventsOfAStream(step: Int) {
    var reader = EventStreamReader()
    var events: [EventStreamReader.Event] = []
    let bytes = Array(Self.stream.utf8)
    for start in stride(from: 0, to: bytes.count, by: step) { events += reader.read(Array(bytes[start..<min(start + step, bytes.count)])) }
    #expect(
      events == [
        EventStreamReader.Event(id: "1.a1.1", type: "push", data: "{\"a\":1}"), EventStreamReader.Event(type: "lost", data: "two\nlines"),
      ])
  }

  private let push: JSONValue = [
    "id": "F4121B12-E0BF-3266-F079-D9253E98BF49", "token": "3fa2c19e3fa2c19e", "type": "widgets", "received": "2026-11-30T01:26:50.123Z",
    "disposition": "ignored", "cause": "noSuchWidget", "happened": "No widget is there.",
    "steps": [
      ["at": "2026-11-30T01:26:50.123Z", "disposition": "forwarding"], ["at": "2026-11-30T01:26:51.000Z", "disposition": "ignored"],
    ],
  ]

  @Test func aLine() {
    #expect(
      EventLine.text(of: push, isColored: false)
        == "01:26:51.000  ignored     widgets       3fa2c19e…  F4121B12-E0BF-3266-F079-D9253E98BF49  noSuchWidget: No widget is there.")
    #expect(EventLine.text(of: push, isColored: true).contains("\u{1B}[33mignored   \u{1B}[0m"))
    #expect(
      EventLine.text(of: ["id": "x", "received": "2026-11-30T01:26:50.123Z", "disposition": "merged", "mergedInto": "y"], isColored: false)
        == "01:26:50.123  merged      ?                        x  into y")
    #expect(
      EventLine.text(
        of: [
          "id": "x", "received": "2026-11-30T01:26:50.123Z", "disposition": "refused", "reason": "BadTopic", "detail": "D",
          "cause": "otherApp",
        ], isColored: false
      ).hasSuffix("  x  BadTopic: D"))
  }
}
