import Primitives
import Push
import Rules
import Testing

@Suite("The app that a refused request means") struct MeantAppTests {
  private static let app = "com.example.app"
  private let apps = ["com.example", Self.app, "com.example.app.voip", "com.other"].map { AppDirectory.App(bundleID: $0) }

  private func meant(_ topic: String, _ type: PushType?, anyApp: Bool) -> (bundleID: String, isKnown: Bool) {
    let directory = AppDirectory(apps, anyApp: anyApp ? AppDirectory.App(bundleID: "") : nil)
    let rules = RequestRules(apps: directory, providers: ProviderDirectory([]))
    let bytes = Array(topic.utf8)
    let app = unsafe rules.app(meantBy: bytes.span.bytes, type)
    return (String(decoding: bytes[Int(app.bundleID.offset)...].prefix(Int(app.bundleID.count)), as: UTF8.self), app.isKnown)
  }

  @Test(
    arguments: [
      (app + ".push-type.widgets", .widgets), (app, .widgets), (app, nil), (app + ".push-type.widget", .widgets),
      (app + ".push-type.widget", nil), (app + ".push-type.", .widgets), (app + ".push-type.Widgets.x", .widgets),
      (app + ".push-type.widgets.push-type.widgets", .widgets), (app + ".widgets", .widgets), (app + ".liveactivity", .liveactivity),
      (app + ".push-type.controls", .widgets), (app + ".complication.complication", .complication),
      (app + ".pushkit.fileprovider", .widgets), (app + ".complication", nil),
    ] as [(String, PushType?)], [false, true])
  func aWrongSuffixHidesNoListedApp(request: (topic: String, type: PushType?), anyApp: Bool) {
    // Where every app is taken, a bundle id that ends in a type's name is one.
    guard !anyApp || ![".widgets", ".liveactivity"].contains(where: { request.topic == Self.app + $0 }) else { return }
    #expect(meant(request.topic, request.type, anyApp: anyApp) == (Self.app, true), "\(request)")
  }

  /// What is no more than like a suffix may be an app of its own, which whoever sees the listed one must not see.
  @Test(
    arguments: [
      ("com.example.app.widget", "com.example.app.widget"), ("com.example.apps.push-type.widgets", "com.example.apps"),
      ("com.example.apps.push-type.widget", "com.example.apps"), ("com.example.app.widgets.extension", "com.example.app.widgets.extension"),
      ("com.example.appvoip", "com.example.appvoip"), ("org.widgets", "org.widgets"),
      ("com.example.apppush-type.x", "com.example.apppush-type.x"),
    ])
  func anotherAppIsNotTakenForAListedOne(topic: String, bundleID: String) {
    #expect(meant(topic, .widgets, anyApp: false) == (bundleID, false))
  }

  @Test func whatIsListedDecidesBeforeWhatItLooksLike() {
    #expect(meant("com.example.app.voip", .alert, anyApp: false) == ("com.example.app.voip", true))
    #expect(meant("com.example.app.voip", .voip, anyApp: false) == (Self.app, true))
    #expect(meant("com.example.app.voip.voip", .voip, anyApp: false) == ("com.example.app.voip", true))
  }

  @Test func everyAppMayBeMeantWhereEveryAppIsTaken() {
    #expect(meant("org.new.push-type.widget", .widgets, anyApp: true) == ("org.new", true))
    #expect(meant("org.new.voip", .alert, anyApp: true) == ("org.new", true))
    #expect(meant("org new.push-type.widgets", .widgets, anyApp: true) == ("org new", false))
  }

  @Test(arguments: [false, true]) func noTopicIsTooLongOrTooOdd(anyApp: Bool) {
    let long = String(repeating: "a", count: 5000)
    for topic in ["", ".", ".push-type.", "push-type.widgets", ".voip", "\u{0}\u{0}", long, long + ".voip", long + ".push-type.x"] {
      let app = meant(topic, nil, anyApp: anyApp)
      #expect(topic.hasPrefix(app.bundleID) && app.bundleID.utf8.count <= Limits.topicBytes, "\(topic.prefix(40))")
    }
  }
}
