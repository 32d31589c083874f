import Control
import JSON
import Testing

/// Names go into explanations, tables and logs: what would steer a terminal there is not taken.
@Suite("Control API: names") struct NameTests {
  private static let forms: [(field: String, body: @Sendable (JSONValue) -> JSONObject)] = [
    ("user", { ["type": "app", "user": $0] }), ("device", { ["type": "app", "device": $0] }),
    ("widgets[0].id", { ["type": "widgets", "widgets": [["id": $0, "kind": "a", "family": "b"]]] }),
    ("widgets[0].kind", { ["type": "widgets", "widgets": [["kind": $0, "family": "b"]]] }),
    ("widgets[0].family", { ["type": "widgets", "widgets": [["kind": "a", "family": $0]]] }),
    ("control.kind", { ["type": "controls", "control": ["kind": $0]] }),
    ("activity.id", { ["type": "liveactivity", "activity": ["id": $0, "attributesType": "a"]] }),
    ("activity.attributesType", { ["type": "liveactivity", "activity": ["id": "a", "attributesType": $0]] }),
  ]

  @Test(arguments: forms.indices) func registrationsAreRefused(index: Int) async throws {
    let stage = try APIStage()
    let form = Self.forms[index]
    let target = "/v1/registrations/\(APIStage.token(1))"
    for character in ["\u{1B}", "\n", "\u{7}", "\u{0}", "\u{7F}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{200E}", "\u{061C}"] {
      var body = form.body(.string("a\(character)b"))
      (body["bundleID"], body["environment"]) = ("com.example.app", "development")
      let answer = try await stage.call(.put, target, .object(body))
      #expect(answer.status == 400 && answer.field == form.field && answer.message.contains("control characters"), "\(answer.text)")
      #expect(!answer.message.contains(character))
      body["token"] = .string(APIStage.token(1))
      let line = try await stage.call(.post, "/v1/registrations", text: JSONValue.object(body).serialized())
      #expect(line.text.contains(#""refused":1"#) && line.text.contains("control characters"), "\(line.text)")
    }
    var body = form.body("Zoë’s 中 name")
    (body["bundleID"], body["environment"]) = ("com.example.app", "development")
    #expect(try await stage.call(.put, target, .object(body)).status == 201)
  }

  @Test(arguments: ["user", "device", "attributesType"]) func activitiesAreRefused(field: String) async throws {
    let stage = try APIStage()
    var body: JSONObject = [
      "user": "ann", "attributesType": "Ride", "attributes": [:], "contentState": ["n": 1], "alert": ["title": "a", "body": "b"],
    ]
    if field == "device" { body["user"] = nil }
    body[field] = "a\u{1B}b"
    let answer = try await stage.call(.put, "/v1/activities/com.example.app/order-1", .object(body))
    #expect(answer.status == 400 && answer.field == field && answer.message.contains("control characters"), "\(answer.text)")
  }
}
