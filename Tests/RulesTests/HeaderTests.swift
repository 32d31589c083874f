import Primitives
import Push
import Rules
import Testing

@Suite("Headers") struct HeaderTests {
  private static let hex = String(repeating: "a1", count: 32)

  @Test(arguments: [
    "/3/device/\(hex)", "/3/device/\(hex.uppercased())", "/3/device/\(hex)?x=1", "/3/device/\(hex)#x", "/3/device/\(hex)?a/b",
    "/3/device/" + String(repeating: "%611", count: 32), "/3/device/" + String(repeating: "%41%31", count: 32),
  ]) func readsTheTokenTolerantly(path: String) throws {
    #expect(try #require(judge(TestRequest().with { $0.path = path }).push).token.hex == Self.hex)
  }

  @Test(arguments: [1, 32, 54, 80, 100]) func takesTokensOfEveryLength(count: Int) throws {
    let hex = String(repeating: "0f", count: count)
    #expect(try #require(judge(TestRequest().with { $0.path = "/3/device/" + hex }).push).token.count == count)
  }

  @Test(arguments: ["/3/device/%6", "/3/device/a1%", "/3/device/%zz", "/3/device/%C3%A9"]) func refusesBrokenPercentEncoding(path: String) {
    #expect(judge(TestRequest().with { $0.path = path }).refusal?.reason == .badDeviceToken)
  }

  @Test func keepsTheIDAsItWasWritten() throws {
    let id = "eabeAE54-14a8-11e5-b60b-1697f925ec7b"
    #expect(try #require(judge(TestRequest().with { $0.id = id }).push).id?.description == id)
  }

  static let expirations: [(String?, Expiration, PushWarning?)] = [
    (nil, .absent, nil), ("0", .zero, nil), ("1", .at(Instant(unixSeconds: 1)), .expirationRelative),
    ("2592000", .at(Instant(unixSeconds: 2_592_000)), .expirationRelative),
    ("2592001", .at(Instant(unixSeconds: 2_592_001)), .expirationPassed),
    ("1796000300", .at(Instant(unixSeconds: 1_796_000_300)), nil), ("1796000300000", .at(.distantFuture), .expirationInMilliseconds),
  ]

  @Test(arguments: expirations.indices) func readsTheExpiration(index: Int) throws {
    let (text, expiration, warning) = Self.expirations[index]
    let push = try #require(judge(TestRequest().with { $0.expiration = text }).push)
    #expect(push.expiration == expiration)
    #expect(push.warnings == (warning.map { PushWarnings($0) } ?? []))
  }

  @Test(arguments: ["10", "5", "1", nil]) func readsThePriority(text: String?) throws {
    let push = try #require(judge(TestRequest().with { $0.priority = text }).push)
    #expect(push.priority.rawValue == text.flatMap(UInt8.init) ?? 10)
    #expect(push.prioritySent == (text != nil))
  }

  @Test func measuresTheCollapseIDInBytes() throws {
    for text in [String(repeating: "x", count: 64), String(repeating: "é", count: 32), "x"] {
      #expect(try #require(judge(TestRequest().with { $0.collapseID = text }).push).collapseID.count == text.utf8.count)
    }
    #expect(try #require(judge(TestRequest().with { $0.collapseID = nil }).push).collapseID.isEmpty)
  }

  static let topics: [(topic: String, type: String?, any: Bool, bundle: String, app: Int, is: PushType)] = [
    ("com.example.app.push-type.widgets", "widgets", false, "com.example.app", 0, .widgets),
    ("com.example.app.push-type.widgets", nil, false, "com.example.app", 0, .widgets),
    ("com.example.app.push-type.controls", nil, false, "com.example.app", 0, .controls),
    ("com.example.other.push-type.liveactivity", nil, false, "com.example.other", 1, .liveactivity),
    ("com.example.app", nil, false, "com.example.app", 0, .alert),
    ("com.example.app", "alert", false, "com.example.app", 0, .alert),
    // An app whose bundle id ends like a suffix.
    ("com.example.voip", "alert", false, "com.example.voip", 2, .alert),
    ("com.example.voip", nil, false, "com.example.voip", 2, .alert),
    ("com.example.voip.push-type.widgets", "widgets", false, "com.example.voip", 2, .widgets),
    // Apps that are not listed.
    ("org.any.app-1_x.push-type.widgets", "widgets", true, "org.any.app-1_x", 4, .widgets),
    ("org.any.app", "alert", true, "org.any.app", 4, .alert),
    ("com.example.app.push-type.widgets", "widgets", true, "com.example.app", 0, .widgets),
  ]

  @Test(arguments: topics.indices) func findsTheAppInTheTopic(index: Int) throws {
    let (topic, type, any, bundle, app, expected) = Self.topics[index]
    let request = TestRequest().with {
      $0.topic = topic
      $0.pushType = type
    }
    let push = try #require(judge(request, TestRules.apps(.apple, any: any)).push)
    #expect(push.app == app)
    #expect(push.type == expected)
    #expect(Int(push.topic.count) == topic.utf8.count)
    #expect(Int(push.bundle.count) == bundle.utf8.count)
    #expect(push.bundle.offset == push.topic.offset)
  }

  @Test func aRefusalCarriesWhatCouldBeRead() throws {
    let request = TestRequest().with {
      $0.authorization = nil
      $0.id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    }
    let refusal = try #require(judge(request).refusal)
    #expect(refusal.reason == .missingProviderToken)
    #expect(refusal.id?.description == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    #expect(refusal.token?.hex == Self.hex)
    #expect(refusal.type == .widgets)
    #expect(refusal.topic?.count == 33)
    let empty = try #require(
      judge(
        request.with {
          $0.id = "4711"
          $0.path = "/"
          $0.pushType = "?"
          $0.topic = nil
        }
      ).refusal)
    #expect(empty.id == nil && empty.token == nil && empty.type == nil && empty.topic == nil)
  }

  @Test func foreignTextInADetailIsCutAndCleaned() throws {
    let detail = try #require(judge(TestRequest().with { $0.id = "\u{1}\n" + String(repeating: "x", count: 500) }).refusal?.detail)
    #expect(detail.utf8.count < 200)
    #expect(!detail.unicodeScalars.contains { $0.value < 0x20 })
  }
}
