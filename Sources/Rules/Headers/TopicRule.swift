import Primitives
import Push

/// What a topic says: the app, and the push type that its suffix stands for.
struct Topic {
  var range: ByteRange
  var bundle: ByteRange
  var app: Int
  var type: PushType
  var family: TopicFamily
  /// Where the app's schemas are in the `ContentStateRules`.
  var schemas: Int
  /// Whether the request names none, and `range` is all of the certificate's default topic.
  var isDefault = false
}

extension RequestRules {
  /// Checks `apns-topic`: missing, bad, disallowed, then whether it fits the push type (apns.md sections 2.1, 3 and 5.3).
  func checkTopic(_ range: ByteRange?, _ headers: RawSpan, type: PushType?, from sender: Sender, _ memory: inout TopicMemory)
    throws(Violation) -> Topic
  {
    guard let range, !range.isEmpty else { return try defaultTopic(of: sender, type: type, &memory) }
    return try checkTopic(headers[range], at: range, type: type, from: sender, &memory)
  }

  /// The topic of a request that names none, which a certificate for one topic alone makes up for.
  private func defaultTopic(of sender: Sender, type: PushType?, _ memory: inout TopicMemory) throws(Violation) -> Topic {
    guard case .certificate(let certificate) = sender else {
      throw Violation(.missingTopic, "apns-topic", "apns-topic must be the app's bundle id followed by the push type's suffix")
    }
    guard let text = certificate.defaultTopic else {
      throw Violation(
        .missingTopic, "apns-topic", "apns-topic must be one of the several topics of the client's certificate: \(certificate.list)")
    }
    let range = ByteRange(offset: 0, count: text.count)
    var topic = unsafe try checkTopic(text.span.bytes, at: range, type: type, from: sender, &memory)
    topic.isDefault = true
    return topic
  }

  private func checkTopic(
    _ text: RawSpan, at range: ByteRange, type: PushType?, from sender: Sender, _ memory: inout TopicMemory
  ) throws(Violation) -> Topic {
    if let topic = memory.recall(text, at: range, type: type, provider: sender.provider) {
      // What is remembered is of some certificate.
      if case .certificate(let certificate) = sender { try checkAllowed(text, topic.type, certificate) }
      return topic
    }
    let family = TopicFamily(of: text)
    let (app, bundleBytes, suffixType) = try findApp(text, family, type: type, from: sender)
    let bundle = text.extracting(first: bundleBytes)
    switch sender {
    case .provider(let provider): try checkAllowed(app, text, bundle, provider, type: type)
    case .certificate(let certificate): try checkAllowed(text, suffixType, certificate)
    case .anyone: break
    }
    let matched = try Self.match(type, suffixType, family, bundle: bundle, text)
    let topic = Topic(
      range: range, bundle: ByteRange(offset: Int(range.offset), count: bundleBytes), app: app, type: matched, family: family,
      schemas: contentStates.index(of: bundle, app: app))
    memory.keep(text, topic, type: type, provider: sender.provider)
    return topic
  }

  /// A topic has been seen to be `TopicDisallowed` even with angle brackets in it, so only what no header should hold is `BadTopic`.
  private static func checkSyntax(_ text: RawSpan) throws(Violation) {
    guard text.byteCount <= Limits.topicBytes else {
      throw Violation(.badTopic, "apns-topic", "apns-topic must have at most \(Limits.topicBytes) bytes, not \(text.byteCount)")
    }
    for index in 0..<text.byteCount where text.byte(index) <= UInt8(ascii: " ") || text.byte(index) >= 0x7F {
      throw Violation(
        .badTopic, "apns-topic", "apns-topic must be printable ASCII without spaces, and character \(index + 1) of \(text.quoted) is not")
    }
  }

  /// The app that the topic names, how many bytes of the topic are its bundle id, and the type of the suffix, nil when bare.
  ///
  /// A bundle id may itself end like a suffix (`com.example.voip`), so what is configured decides before what it looks like.
  private func findApp(
    _ text: RawSpan, _ family: TopicFamily, type: PushType?, from sender: Sender
  ) throws(Violation) -> (app: Int, bundleBytes: Int, suffixType: PushType?) {
    if let listed = listedApp(text, family, type: type) { return listed }
    // A topic that names a listed app needs no further look at its characters.
    try Self.checkSyntax(text)
    let suffixType = family == .app ? TopicSuffix.type(of: text) : nil
    let bundleBytes = text.byteCount - (suffixType?.topicSuffix.utf8CodeUnitCount ?? 0)
    let bundle = text.extracting(first: bundleBytes)
    guard TopicSuffix.mayBeBundleID(bundle), let app = apps.index(of: bundle) else {
      // Who may not send to every app is not told which ones there are.
      switch sender {
      case .provider(let provider) where isLimited(provider): throw foreignApp(text, bundle, provider, type: type)
      case .certificate(let certificate): try checkAllowed(text, suffixType, certificate)
      case .provider, .anyone: break
      }
      throw Violation(.topicDisallowed, "apns-topic", complaint(text, bundle, type: type, from: sender))
    }
    return (app, bundleBytes, suffixType)
  }

  /// The same among the apps that are listed; nil when the topic names none of them.
  func listedApp(_ text: RawSpan, _ family: TopicFamily, type: PushType?) -> (app: Int, bundleBytes: Int, suffixType: PushType?)? {
    let mayBeBare = type.map { $0.topicSuffix.utf8CodeUnitCount == 0 } ?? true
    if mayBeBare, let app = apps.listedIndex(of: text) { return (app, text.byteCount, nil) }
    let suffixType = family == .app ? TopicSuffix.type(of: text) : nil
    let bundleBytes = text.byteCount - (suffixType?.topicSuffix.utf8CodeUnitCount ?? 0)
    if let app = apps.listedIndex(of: text.extracting(first: bundleBytes)) { return (app, bundleBytes, suffixType) }
    if !mayBeBare, let app = apps.listedIndex(of: text) { return (app, text.byteCount, nil) }
    return nil
  }

  /// Whether the provider at `provider` may send to that app.
  func isAllowed(_ app: Int, _ bundle: RawSpan, _ provider: Int) -> Bool {
    switch permissions[provider * apps.count + app] {
    case .granted: true
    case .byBundleID: providers.mayServe(provider, bundle)
    case .denied: false
    }
  }

  private func checkAllowed(_ app: Int, _ text: RawSpan, _ bundle: RawSpan, _ provider: Int, type: PushType?) throws(Violation) {
    guard isAllowed(app, bundle, provider) else { throw foreignApp(text, bundle, provider, type: type) }
  }

  /// What is said of an app that the key may not send to, whether it is configured here for others or not at all.
  private func foreignApp(_ text: RawSpan, _ bundle: RawSpan, _ provider: Int, type: PushType?) -> Violation {
    let reason: Reason = answers.foreignTopic == .forbidden ? .forbidden : .topicDisallowed
    return Violation(reason, "apns-topic", complaint(text, bundle, type: type, from: .provider(provider)))
  }

  /// Whether there are apps that the key may not send to.
  func isLimited(_ provider: Int) -> Bool {
    providers[provider].bundleIDs != nil || permissions[provider * apps.count..<(provider + 1) * apps.count].contains(.denied)
  }

  /// The apps that are listed and that the sender may send to: what it may be told of.
  func bundleIDs(for sender: Sender) -> [String] {
    switch sender {
    case .anyone: apps.bundleIDs
    case .provider(let provider):
      // Of a listed app the table says all, so that no name is looked at.
      isLimited(provider)
        ? zip(apps.bundleIDs, permissions[(provider * apps.count)...]).filter { $0.1 == .granted }.map(\.0) : apps.bundleIDs
    case .certificate(let certificate):
      apps.bundleIDs.filter { name in
        let bytes = Array(name.utf8)
        return unsafe certificate.names(bytes.span.bytes)
      }
    }
  }

  /// A certificate may send to the topics that it names; to location extensions and activities only provider tokens may (apns.md
  /// section 3).
  private func checkAllowed(_ topic: RawSpan, _ suffixType: PushType?, _ certificate: SenderCertificate) throws(Violation) {
    if suffixType == .location || suffixType == .liveactivity {
      throw Violation(
        .topicDisallowed, "apns-topic",
        "pushes of the type \(suffixType == .location ? "location" : "liveactivity") need a provider token, on a connection without a certificate"
      )
    }
    guard !certificate.names(topic) else { return }
    throw Violation(
      .topicDisallowed, "apns-topic", "the client's certificate does not name the topic \(topic.quoted), only \(certificate.list)")
  }

  /// The push type when it fits the topic's suffix; without a type, the suffix tells it, and a bare bundle id means an alert.
  private static func match(
    _ type: PushType?, _ suffixType: PushType?, _ family: TopicFamily, bundle: RawSpan, _ text: RawSpan
  ) throws(Violation) -> PushType {
    let told = family == .management ? .mdm : suffixType ?? .alert
    guard let type else { return told }
    if type == told || type == .background && told == .alert { return type }
    throw Violation(
      .invalidPushType, "apns-push-type",
      type == .mdm
        ? "with apns-push-type mdm apns-topic must be the UID of the MDM push certificate, \(TopicFamily.managementPrefix)…, not \(text.quoted)"
        : family == .management
          ? "with the topic of an MDM push certificate apns-push-type must be mdm, not \(type)"
          : "with apns-push-type \(type) apns-topic must be \"\(bundle.string)\(type.topicSuffix)\", not \(text.quoted)")
  }

  /// Why no app was found that the sender may send to.
  private func complaint(_ topic: RawSpan, _ bundle: RawSpan, type: PushType?, from sender: Sender) -> String {
    let names = bundleIDs(for: sender)
    if let mistake = mistake(topic, bundle, type: type, among: names) { return mistake }
    let near = nearestName(to: bundle.string, among: names).map { "did you mean \"\($0)\"?" }
    var whose = ""
    if case .provider(let provider) = sender {
      let key = providers[provider]
      guard key.bundleIDs == nil else {
        let hint = near.map { ", or \($0)" } ?? ""
        return "the provider key \(key.keyID) may not send to \(bundle.quoted); add it to the key's bundle ids\(hint)"
      }
      if isLimited(provider) { whose = " for the team \(key.teamID)" }
    }
    let known = names.prefix(5).joined(separator: ", ")
    let hint = near ?? "configured are \(known.isEmpty ? "none" : known)"
    return "apns-topic names the app \(bundle.quoted), which is not configured here\(whose); \(hint)"
  }

  /// The mistakes that are often made, of which no other app need be known; nil where it is none of them.
  private func mistake(_ topic: RawSpan, _ bundle: RawSpan, type: PushType?, among names: [String]) -> String? {
    let text = bundle.string
    if let inner = TopicSuffix.type(of: bundle) {
      let bare = bundle.extracting(first: bundle.byteCount - inner.topicSuffix.utf8CodeUnitCount)
      return "apns-topic carries a suffix twice; give a library that adds the suffix itself the bare bundle id \(bare.quoted)"
    }
    if let start = text.range(of: "push-type.") {
      let app = text[..<start.lowerBound]
      return suffixComplaint(topic, app: app.last == "." ? app.dropLast() : app, suffix: text[start.upperBound...], type: type)
    }
    // The name of a push type for its suffix, such as com.example.app.widgets.
    let suffixed = PushType.allCases.filter { $0.topicSuffix.utf8CodeUnitCount > 0 }.map(\.description)
    if let app = names.filter({ text.hasPrefix($0) && text.utf8.dropFirst($0.utf8.count).first == UInt8(ascii: ".") }).max(by: {
      $0.count < $1.count
    }),
      case let suffix = text.dropFirst(app.count + 1), suffixed.contains(String(suffix))
    {
      return suffixComplaint(topic, app: app[...], suffix: suffix, type: type)
    }
    return nil
  }

  /// What the topic must be where its suffix is none: that of the push type when it is known, else the one most like it.
  private func suffixComplaint(_ topic: RawSpan, app: Substring, suffix: Substring, type: PushType?) -> String {
    let known = PushType.allCases.map { "\($0.topicSuffix)" }.filter { $0.hasPrefix(".push-type.") }.map { String($0.dropFirst(11)) }
    let named = type ?? PushType(String(suffix))
    let right = named.map { "\($0.topicSuffix)" } ?? nearestName(to: String(suffix), among: known).map { ".push-type.\($0)" }
    let form = right.map { "\"\(app)\($0)\"" } ?? "\"\(app).push-type.\" followed by one of \(known.joined(separator: ", "))"
    return "apns-topic has a suffix that does not exist; set it to \(form), not \(topic.quoted)"
  }
}

extension String {
  /// Where `other` first stands in the text.
  fileprivate func range(of other: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(other) { return start..<index(start, offsetBy: other.count) }
      start = index(after: start)
    }
    return nil
  }
}
