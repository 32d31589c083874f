import JSON
import Testing

@testable import widgetpush

@Suite("A token that no push has reached") struct SymptomTests {
  private static let token = String(repeating: "3fa2c19e", count: 8)
  private let registration: JSONValue = ["type": "widgets", "bundleID": "com.example.app", "environment": "development"]

  private static func push(
    _ id: String, to token: String?, _ type: String = "widgets", app: String = "com.example.app", _ disposition: String = "refused",
    _ reason: String? = "BadDeviceToken"
  ) -> JSONValue {
    var object: JSONObject = [
      "id": .string(id), "type": .string(type), "bundleID": .string(app), "disposition": .string(disposition), "status": 400,
      "received": "2026-11-30T08:00:00.123Z", "remedy": .string("R of \(id)."),
    ]
    object["token"] = token.map(JSONValue.string)
    object["reason"] = reason.map(JSONValue.string)
    return .object(object)
  }

  @Test(
    arguments: [
      (String(token.dropLast(4)), "which is this token without its last 4 digits"),
      (String(token.dropFirst(2)), "which is this token without its first 2 digits"),
      (token + "00", "which is this token with 2 digits more"),
      (String(token.prefix(8)) + token.dropFirst(10), "which has 2 digits less"),
      (String(token.prefix(8)) + "0f" + token.dropFirst(8), "which has 2 digits more"),
      ("00" + token, "which has 2 digits more"), (String(token.prefix(8)) + token.dropFirst(14), nil),
      ("4" + token.dropFirst(), "which differs in 1 digit"), ("4444" + token.dropFirst(4), "which differs in 4 digits"),
      ("44444" + token.dropFirst(5), nil), (token, nil), ("3fa2", nil), (String(repeating: "00", count: 32), nil),
    ] as [(String, String?)])
  func likeness(other: String, how: String?) { #expect(Symptom.likeness(other, Self.token) == how) }

  /// The nearest is named, wherever it stands, and whole: it is there to be copied.
  @Test func theNearestRegisteredTokenIsNamed() {
    func row(_ token: String) -> JSONValue { ["token": .string(token), "type": "widgets", "bundleID": "com.example.app"] }
    var search = Kin.Search(Self.token)
    search.look(at: row("444" + Self.token.dropFirst(3)))
    search.look(at: row("4" + Self.token.dropFirst()))
    search.look(at: row("44" + Self.token.dropFirst(2)))
    search.look(at: row(String(repeating: "00", count: 32)))
    #expect(search.nearest?.token == "4" + Self.token.dropFirst())
    #expect(search.nearest?.sentence.contains("a widgets token of com.example.app, which differs in 1 digit") == true)
    #expect(Kin.Search(Self.token).nearest == nil)
  }

  @Test func aMistypedTokenIsNearest() {
    let mistyped = "4" + Self.token.dropFirst()
    let symptom = Symptom(
      Self.token, registration,
      pushes: [Self.push("a", to: String(repeating: "00", count: 32), "controls"), Self.push("b", to: mistyped)], tokens: [])
    #expect(symptom.clues.map(\.differs) == ["token", "type"])
    #expect(
      symptom.text == """
        no push reached us for this token
          nearest: 08:00:00.123  b  widgets refused (400 BadDeviceToken), to 4fa2c19e3fa2c19e…, which differs in 1 digit
            R of b.
          nearest: 08:00:00.123  a  controls refused (400 BadDeviceToken), for the same app and another kind of token
            R of a.
          widgetpush tail shows what comes; widgetpush send TOKEN sends a push of the right kind.
        """)
    #expect(symptom.json[0]?["differs"] == "token" && symptom.json[0]?["push"]?["id"] == "b")
  }

  @Test func otherTopicsOtherAppsAndOtherTokens() {
    let other = String(repeating: "00", count: 32)
    let pushes = [
      Self.push("applied", to: other, "widgets", "applied", nil), Self.push("app", to: other, app: "com.example.app.push-type.widgets"),
      Self.push("none", to: nil, "alert", "refused", "MissingDeviceToken"), Self.push("foreign", to: other, app: "com.other"),
    ]
    let symptom = Symptom(Self.token, registration, pushes: pushes, tokens: [])
    #expect(symptom.clues.map(\.differs) == ["other", "app", "type"])
    #expect(symptom.clues.map { $0.push?["id"]?.stringValue } == ["applied", "app", "none"])
    #expect(symptom.text.contains("to the token 0000000000000000…: is that the newer one?") && !symptom.text.contains("R of applied."))
    #expect(symptom.text.contains("for the app com.example.app.push-type.widgets\n    R of app."))
  }

  @Test func aTokenThatIsRegisteredNearly() {
    let symptom = Symptom(Self.token, nil, pushes: [Self.push("x", to: nil)], tokens: ["5" + Self.token.dropFirst()])
    #expect(symptom.clues.map(\.differs) == ["registration"])
    #expect(symptom.text.contains("nearest: the token 5fa2c19e3fa2c19e… is registered, which differs in 1 digit"))
  }

  @Test func nothingAtAll() {
    let text = Symptom(Self.token, registration, pushes: [], tokens: []).text
    #expect(text.contains("Nothing that came was nearly for it"))
  }
}
