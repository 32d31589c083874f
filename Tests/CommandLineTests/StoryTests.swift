import JSON
import Testing

@testable import widgetpush

@Suite("Stories") struct StoryTests {
  private let push: JSONValue = [
    "id": "F4121B12-E0BF-3266-F079-D9253E98BF49", "token": "3fa2c19e3fa2c19e3fa2c19e3fa2c19e", "bundleID": "com.example.app",
    "type": "widgets",
    "priority": 10, "received": "2026-11-30T01:26:50.123Z", "status": 200, "disposition": "applied", "cause": "reloaded",
    "certainty": "known",
    "happened": "The device asked the widget for a new timeline.", "remedy": "Nothing is left to do.", "detail": "steps-1",
    "warnings": [["code": "customKeys", "message": "Keys beside aps reach no widget."]],
    "steps": [
      ["at": "2026-11-30T01:26:50.123Z", "disposition": "waiting", "cause": "minimumInterval", "budgetBefore": 40, "budgetAfter": 40],
      ["at": "2026-11-30T01:31:50.123Z", "disposition": "forwarding", "budgetBefore": 40, "budgetAfter": 39, "attempt": 1],
      ["at": "2026-11-30T01:31:50.125Z", "disposition": "applied", "cause": "reloaded"],
    ],
  ]

  @Test func whatASenderShouldKnowIsTold() throws {
    var object = try #require(push.objectValue)
    object["collapseID"] = "order-42"
    object["atLeastOnce"] = true
    object["lowered"] = [
      "priority": 5, "sentence": "the 5 of priority 10 that may go at once are spent, of 15 an hour, the next is back at 14:05 UTC",
    ]
    let text = PushStory.text(of: .object(object))
    #expect(text.contains("\n  apns-collapse-id order-42\n"), "\(text)")
    #expect(
      text.contains(
        "\napplied (reloaded) at priority 5: the 5 of priority 10 that may go at once are spent, of 15 an hour, the next is back at 14:05 UTC\n"
      ), "\(text)"
    )
    #expect(text.contains("\n  It was delivered at least once: "), "\(text)")
  }

  /// What could not be sent is no attempt, and is not counted as one.
  @Test func whatWasNotSentIsNoAttempt() throws {
    func step(_ disposition: String, _ attempt: Int? = nil) -> JSONValue {
      var step: JSONObject = ["at": "2026-11-30T01:26:50.123Z", "disposition": .string(disposition)]
      if disposition == "waiting" { step["cause"] = "upstreamUnavailable" }
      step["attempt"] = attempt.map { .integer(Int64($0)) }
      return .object(step)
    }
    var object = try #require(push.objectValue)
    object["steps"] = [
      step("forwarding", 1), step("waiting"), step("forwarding", 1), step("waiting", 1), step("forwarding", 2), step("waiting", 1),
      step("forwarding", 2),
    ]
    let lines = PushStory.text(of: .object(object)).split(separator: "\n").filter { $0.contains("01:26:50.123  ") }
    let notes = lines.map { $0.split(separator: "  ").last.map { $0.trimmingPrefix(" ") } ?? "" }
    #expect(
      notes == [
        "nothing was sent", "upstreamUnavailable", "attempt 1", "upstreamUnavailable, attempt 1", "nothing was sent",
        "upstreamUnavailable, attempt 1", "attempt 2",
      ])
  }

  @Test func aPushIsToldWhole() {
    #expect(
      PushStory.text(of: push) == """
        push F4121B12-E0BF-3266-F079-D9253E98BF49
          a widgets push for com.example.app to token 3fa2c19e3fa2c19e…
          received 2026-11-30T01:26:50.123Z, priority 10, answered 200

        applied (reloaded)
          The device asked the widget for a new timeline.
          steps-1

        steps
          01:26:50.123  waiting     minimumInterval, budget 40
          01:31:50.123  forwarding  attempt 1, budget 40 → 39
          01:31:50.125  applied     reloaded

        what to do
          Nothing is left to do.

        warnings
          Keys beside aps reach no widget.
        """)
  }

  /// What the very push has against it is told in place of what the warning says of every push.
  @Test func aWarningIsToldByItsDetail() {
    let warning: JSONValue = [
      "code": "unusedAPSKeys", "message": "aps has keys.", "field": "aps.sound", "detail": "sound (put it at aps.alert.sound)",
    ]
    let told: JSONValue = ["id": "x", "disposition": "forwarding", "warnings": [warning]]
    #expect(PushStory.text(of: told).hasSuffix("warnings\n  sound (put it at aps.alert.sound)."), "\(PushStory.text(of: told))")
    let answer = ProviderClient.Answer(status: 200, id: "x", reason: nil, detail: nil)
    #expect(SendReport.text(answer, told).hasSuffix("  warning: sound (put it at aps.alert.sound)."))
    #expect(
      WhatIfReport.text(["status": 200, "disposition": "forwarding", "warnings": [warning]])
        .hasSuffix("warning: sound (put it at aps.alert.sound)."))
  }

  /// A push may wait until the next day, and the clock be moved for days.
  @Test func stepsOfSeveralDaysHaveTheirDates() {
    let steps: JSONValue = [
      ["at": "2026-11-30T23:59:50.123Z", "disposition": "waiting"], ["at": "2026-12-02T01:31:50.123Z", "disposition": "expired"],
    ]
    let text = PushStory.text(of: ["id": "x", "received": "2026-11-30T23:59:50.123Z", "disposition": "expired", "steps": steps])
    #expect(text.contains("  2026-11-30 23:59:50.123  waiting\n  2026-12-02 01:31:50.123  expired"), "\(text)")
  }

  @Test func aBroadcastTellsHowManyActivitiesItReached() {
    let broadcast: JSONValue = [
      "id": "x", "channelID": "aMs2y8fFEe8AAPIAM4gHog==", "bundleID": "com.example.app", "type": "liveactivity",
      "received": "2026-11-30T01:26:50.123Z", "status": 200, "disposition": "applied", "cause": "updated", "certainty": "known",
      "happened": "H.", "remedy": "R.", "activities": ["reached": 3, "applied": 2],
      "upstreams": [["upstream": "device", "disposition": "applied", "detail": "one had ended"]],
      "steps": [["at": "2026-11-30T01:26:50.125Z", "disposition": "applied", "cause": "updated", "upstream": "device", "attempt": 1]],
    ]
    #expect(
      PushStory.text(of: broadcast) == """
        broadcast x
          a liveactivity push for com.example.app to channel aMs2y8fFEe8AAPIAM4gHog==
          received 2026-11-30T01:26:50.123Z, answered 200

        applied (updated)
          H.
          It reached 3 running activities, and 2 did what it asks.
          device: one had ended

        steps
          01:26:50.125  applied  updated, upstream device, attempt 1

        what to do
          R.
        """)
  }

  @Test func aRefusalNamesItsReason() {
    let refused: JSONValue = [
      "id": "x", "received": "2026-11-30T01:26:50.123Z", "status": 400, "reason": "BadPriority", "disposition": "refused",
      "certainty": "known",
      "happened": "H.", "remedy": "R.", "detail": "apns-priority must be 10, 5 or 1", "steps": [],
    ]
    #expect(
      PushStory.text(of: refused) == """
        push x
          a push of unknown type
          received 2026-11-30T01:26:50.123Z, answered 400 BadPriority

        refused
          H.
          apns-priority must be 10, 5 or 1

        what to do
          R.
        """)
  }

  @Test func anUpstreamsRefusalAndAMergeSayWhose() {
    let failed: JSONValue = [
      "id": "x", "status": 200, "disposition": "failed", "cause": "upstreamRefused", "reason": "BadDeviceToken", "upstreamStatus": 400,
    ]
    #expect(PushStory.text(of: failed).contains("failed (upstreamRefused), the upstream said 400 BadDeviceToken"))
    #expect(!PushStory.text(of: failed).contains("answered 200 BadDeviceToken"))
    let merged: JSONValue = ["id": "x", "disposition": "merged", "mergedInto": "y", "certainty": "likely", "remedy": "R."]
    #expect(PushStory.text(of: merged).contains("Merged into push y.\n  Follow that push: widgetpush explain y"))
    #expect(PushStory.text(of: merged).contains("what to do (likely)\n  R."))
    #expect(PushStory.text(of: ["id": "x", "type": "alert"]).contains("an alert push"))
  }

  @Test(arguments: [
    ("2026-11-30T01:31:50.123Z", "2026-11-30T01:27:38.900Z", "4 min 12 s", "It goes at 01:31:51 UTC."),
    ("2026-12-01T01:31:50.123Z", "2026-11-30T01:31:50.123Z", "1 d", "It goes at 2026-12-01 01:31:51 UTC."),
    ("2026-11-30T01:31:50.123Z", "2026-11-30T01:31:51.000Z", "0 s", "It goes at 01:31:51 UTC."),
    ("2026-11-30T04:31:50.123Z", "2026-11-30T01:31:52.123Z", "3 h", "It goes at 04:31:51 UTC."),
    ("2026-11-30T04:31:50.000Z", "2026-11-30T01:33:01.000Z", "2 h 59 min", "It goes at 04:31:50 UTC."),
    ("2026-12-01T23:59:59.001Z", "2026-11-30T00:00:30.000Z", "2 d", "It goes at 2026-12-02 00:00:00 UTC."),
  ]) func aPushThatWaitsSaysForWhatAndHowLong(due: String, now: String, left: String, sentence: String) throws {
    var object: JSONObject = [
      "id": "x", "received": "2026-11-30T01:26:50.123Z", "disposition": "waiting", "cause": "waitingForBudget", "happened": "H.",
    ]
    let report: JSONValue = [
      "now": .string(now),
      "budgets": [
        ["budget": "widgets", "binds": false, "payableAt": "2020-01-01T00:00:00.000Z"],
        ["budget": "widgets", "widget": ["kind": "StreakWidget"], "binds": true, "payableAt": .string(due)],
      ],
    ]
    for (cause, subject) in [
      ("waitingForBudget", "StreakWidget's budget"), ("minimumInterval", "StreakWidget's minimum interval"),
      ("quietHours", "the end of the quiet hours"),
    ] {
      object["cause"] = .string(cause)
      let waiting = try #require(Waiting(.object(object), report))
      let text = "waiting \(left) for \(subject) (\(cause))\n  H.\n  \(sentence)"
      #expect(
        PushStory.text(of: .object(object), waiting: waiting).contains(text), "\(PushStory.text(of: .object(object), waiting: waiting))")
      #expect(TokenStory.text(of: "3fa2", nil, [.object(object)], waiting: waiting).contains(text))
    }
    #expect(!PushStory.text(of: .object(object)).contains("It goes at"))
    object["cause"] = "inFlight"
    #expect(Waiting(.object(object), report) == nil)
    object["cause"] = "waitingForBudget"
    let control: JSONValue = ["budgets": [["budget": "controls", "binds": true, "payableAt": .string(due)]]]
    #expect(Waiting(.object(object), control)?.sentence == "waiting for the token's controls budget")
  }

  @Test func aTokenIsToldWithItsPushes() {
    let registration: JSONValue = [
      "type": "widgets", "bundleID": "com.example.app", "environment": "development", "device": "phone",
      "widgets": [["kind": "Steps", "family": "systemSmall", "id": "steps-1"]], "waiting": 1, "suspect": true,
    ]
    let text = TokenStory.text(of: "3fa2", registration, [push, push])
    #expect(
      text.hasPrefix(
        "token 3fa2\n  widgets of com.example.app, environment development\n  device phone\n  widget Steps systemSmall (steps-1)\n  suspect: "
      ))
    #expect(text.contains("\n  1 waiting\n\npush F4121B12"))
    #expect(text.hasSuffix("before it\n  01:26:50.123  F4121B12-E0BF-3266-F079-D9253E98BF49  widgets  applied  reloaded"))
    #expect(TokenStory.text(of: "3fa2", nil, []).contains("is not registered"))
    #expect(TokenStory.text(of: "3fa2", registration, []).contains("no push reached us for this token"))
  }

  @Test func aTokenThatWasRegisteredIsNotToBeRegisteredAgain() {
    let refused: JSONValue = ["id": "x", "disposition": "refused", "reason": "BadDeviceToken"]
    #expect(
      TokenStory.text(of: "3fa2", nil, [refused, push]).hasPrefix("token 3fa2\n  is registered no more: its registration was removed"))
    #expect(TokenStory.text(of: "3fa2", nil, [refused]).contains("is not registered; register it"))
  }

  @Test func theExpirationIsADate() throws {
    guard case .object(var object) = push else { return }
    object["expiration"] = "1970-01-01T01:00:00.000Z"
    #expect(PushStory.text(of: .object(object)).contains("answered 200\n  apns-expiration 1970-01-01T01:00:00.000Z\n\napplied"))
    object["expiration"] = 0
    #expect(PushStory.text(of: .object(object)).contains("answered 200\n  apns-expiration 0, so it is not to be stored\n\napplied"))
  }

  @Test func budgetsAreATable() {
    let report: JSONValue = [
      "token": "3fa2",
      "budgets": [
        [
          "index": 0, "widget": ["kind": "Steps", "family": "systemSmall"], "allowance": 40, "burst": 12, "minimumIntervalSeconds": 300,
          "remaining": 11,
          "binds": true, "payableAt": "2026-11-30T01:31:50.123Z", "nextCredit": "2026-11-30T02:31:50.123Z",
        ],
        ["index": 1, "allowance": 40, "burst": 12, "minimumIntervalSeconds": 0.5, "remaining": -3, "binds": false],
      ],
    ]
    #expect(
      BudgetTable.text(of: report, [:]) == """
                             remaining  allowance  burst  min. interval  next push                 next credit
        Steps systemSmall *  11         40         12     300 s          2026-11-30T01:31:50.123Z  2026-11-30T02:31:50.123Z
        budget 1             -3         40         12     0.5 s          –                         full
        * the one that binds: a push goes when all can pay
        """)
    let none: JSONValue = ["token": "3fa2", "budgets": []]
    #expect(BudgetTable.text(of: none, [:]).contains("has no budget"))
    #expect(BudgetTable.text(of: report, ["developerMode": true]) == "no budgets: developer mode")
  }

  @Test func oneBudgetNeedsNoNote() {
    let report: JSONValue = ["budgets": [["index": 0, "allowance": 40, "burst": 12, "remaining": 11, "binds": true]]]
    let text = BudgetTable.text(of: report, ["control": ["kind": "Lamp"]])
    #expect(!text.contains("*") && text.contains("\ncontrol Lamp  11 "), "\(text)")
  }

  @Test(
    arguments: [
      ("applied", "reloaded", true, false), ("waiting", "minimumInterval", true, false), ("waiting", "inFlight", false, false),
      ("waiting", "upstreamUnavailable", true, false), ("waiting", "upstreamPaused", true, false),
      ("forwarding", nil, false, false), ("merged", "mergedIntoWaiting", true, false), ("accepted", nil, true, false),
      ("ignored", "noSuchWidget", true, true), ("failed", "upstreamRefused", true, true), ("expired", "expirationPassed", true, true),
    ] as [(String, String?, Bool, Bool)])
  func sendKnowsWhenToStopAndWhatWasInVain(disposition: String, cause: String?, isSettled: Bool, isInVain: Bool) {
    var object: JSONObject = ["id": "x", "disposition": .string(disposition)]
    object["cause"] = cause.map(JSONValue.string)
    let answer = ProviderClient.Answer(status: 200, id: "x", reason: nil, detail: nil)
    #expect(SendReport.isSettled(.object(object)) == isSettled)
    #expect(SendReport.isInVain(answer, .object(object)) == isInVain)
    #expect(SendReport.isInVain(ProviderClient.Answer(status: 400, id: "x", reason: "BadTopic", detail: nil), .object(object)))
  }

  @Test func aReportSaysWhatToDoEvenWithoutARecord() {
    let refused = ProviderClient.Answer(status: 400, id: "x", reason: "BadPriority", detail: nil)
    let text = SendReport.text(refused, nil)
    #expect(text.hasPrefix("400 BadPriority  apns-id x\n"))
    #expect(text.contains("10"), "the remedy of the reason is known without the gateway")
    let accepted = ProviderClient.Answer(status: 200, id: "x", reason: nil, detail: nil)
    #expect(
      SendReport.text(accepted, push) == """
        200  apns-id x
        applied (reloaded)
          The device asked the widget for a new timeline.
          steps-1
          warning: Keys beside aps reach no widget.
        """)
    #expect(SendReport.json(accepted, push)["apnsID"] == "x")
    #expect(SendReport.json(accepted, push)["push"] == push)
  }

  @Test func whatARegistrationLosesIsTold() {
    let before: JSONValue = [
      "token": "aa", "type": "controls", "user": "alice", "control": ["kind": "Lamp"], "waiting": 0, "inFlight": false,
    ]
    #expect(RegistrationLoss.text(before, ["type": "controls", "user": "bob", "control": ["kind": "Lamp"]]) == nil)
    let text = RegistrationLoss.text(before, ["type": "widgets", "user": "alice", "widgets": []])
    #expect(text?.contains("it was a token of type controls before; control no longer stands there") == true, "\(text ?? "")")
  }
}
