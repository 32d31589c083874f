import JSON
import Primitives
import Testing

@testable import widgetpush

/// Apps, devices and senders choose names and details, and a store may have some from before they were checked.
@Suite("What is printed") struct PrintableTests {
  private static let evil = "\u{1B}[31mX\u{1B}]0;t\u{7}\n  all is well\r\u{9B}2J\u{202E}"

  private static let registration: JSONValue = [
    "type": "widgets", "bundleID": "com.example.app", "environment": "development", "user": .string(evil), "device": .string(evil),
    "widgets": [["id": .string(evil), "kind": .string(evil), "family": .string(evil)]], "control": ["kind": .string(evil)],
    "activity": ["id": .string(evil), "attributesType": .string(evil)],
  ]

  private static let push: JSONValue = [
    "id": "x", "received": "2026-11-30T01:26:50.123Z", "disposition": "waiting", "cause": "waitingForBudget", "happened": .string(evil),
    "detail": .string(evil), "remedy": .string(evil), "activity": .string(evil), "warnings": [["message": .string(evil)]],
    "steps": [["at": "2026-11-30T01:26:50.123Z", "disposition": "waiting", "upstream": .string(evil)]], "payload": .string(evil),
  ]

  private static let failed: JSONValue = [
    "id": "x", "received": "2026-11-30T01:26:50.123Z", "disposition": "failed", "cause": "upstreamRefused", "detail": .string(evil),
  ]

  private static let budgets: JSONValue = [
    "budgets": [
      [
        "binds": true, "budget": "widgets", "widget": ["kind": .string(evil), "family": .string(evil)],
        "payableAt": "2026-11-30T01:31:50.123Z",
      ],
      ["binds": false, "budget": .string(evil)],
    ]
  ]

  private static let pages: [(name: String, text: @Sendable () -> String)] = [
    ("explain TOKEN", { TokenStory.text(of: "ab", registration.printable, [push.printable, push.printable]) }),
    ("explain ID", { PushStory.text(of: push.printable, waiting: Waiting(push.printable, budgets.printable)) }),
    ("budget", { BudgetTable.text(of: budgets.printable, registration.printable) }),
    ("tail", { EventLine.text(of: failed.printable, isColored: false) }),
    ("send", { SendReport.text(.init(status: 400, id: "x", reason: evil, detail: evil), nil) }),
    ("an error", { CommandError(ControlClient.Answer(status: 400, json: ["error": ["message": .string(evil)]])).message }),
  ]

  @Test(arguments: pages.indices) func nothingSteersTheTerminalOrForgesALine(index: Int) {
    let (name, text) = (Self.pages[index].name, Self.pages[index].text())
    #expect(!text.unicodeScalars.contains { $0.isSteering && $0 != "\n" }, "\(name): \(text.debugDescription)")
    #expect(!text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("all is well") }, "\(name): \(text)")
    #expect(text.contains("\\u001b[31mX"), "\(name): \(text)")
  }

  /// What gets past all that still steers nothing, and JSON means the same as before.
  @Test func theConsoleIsTheLastToLook() throws {
    #expect(Console.safe("a\u{1B}[2J\tb\nc\r\u{9B}") == "a\\u001b[2J\tb\nc\\u000d\\u009b")
    let value: JSONValue = ["name": .string(Self.evil + "\u{7F}\u{2066}")]
    for isPretty in [false, true] {
      let text = Console.safe(value.serialized(pretty: isPretty))
      #expect(!text.unicodeScalars.contains { $0.isSteering && $0 != "\n" })
      #expect(try JSONValue.parse(text) == value)
    }
  }

  /// The marks of the direction of writing are told alike by the console, in JSON and as text.
  @Test(arguments: ["\u{61C}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}"])
  func directionalMarksAreEscapedByTheConsole(mark: String) throws {
    let escaped = try "a\\u" + String(#require(mark.unicodeScalars.first).value + 0x10000, radix: 16).dropFirst() + "b"
    #expect(Console.safe("a\(mark)b") == escaped)
    #expect(JSONValue.string("a\(mark)b").serialized() == "\"\(escaped)\"")
  }

  /// A payload is JSON within what is told: its own escapes are enough, and it is shown as it was sent.
  @Test func aPayloadIsShownAsItWasSent() {
    let push: JSONValue = ["id": "x", "payload": ["aps": ["alert": "one\ntwo\u{1B}"]]]
    #expect(PushStory.text(of: push.printable).contains(#""alert": "one\ntwo\u001b""#))
  }
}
