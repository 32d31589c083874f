import JSON
import Primitives
import Push

/// What one pass over a payload finds, as plain values; what it means is for the rules of each push type.
struct PayloadFacts {
  /// One value of `aps`.
  struct Value {
    /// Nil when the key is absent.
    var kind: JSONKind?
    /// A string between its quotes, or a number, as written.
    var text = ByteRange.empty
    /// A number's value.
    var number = 0.0

    /// Whether the key is there with anything but `null`.
    var isPresent: Bool { kind != nil && kind != .null }
  }

  /// The kind of the whole body.
  var root: JSONKind
  /// The kind of `aps`; nil when it is absent.
  var aps: JSONKind?
  /// Whether there is a string `mdm`, which a device that is managed answers to.
  var hasMDM = false
  /// Whether a key stands twice in its object, of which the last counts here.
  private(set) var hasDuplicateKeys = false
  /// Whether there are keys beside `aps`.
  var hasCustomKeys = false
  /// Whether `aps` has keys that no push type knows.
  var hasUnknownKeys = false
  /// The event that `event` names exactly, else `none`.
  var event = ActivityEvent.none

  /// The known keys of `aps` that have a value other than `null`.
  var keys: APSKeys = []

  // The values that rules look into. They are fields, not an array, so that reading one copies one.
  private(set) var contentChanged = Value()
  private(set) var timestamp = Value()
  private(set) var eventName = Value()
  private(set) var contentState = Value()
  private(set) var alert = Value()
  private(set) var staleDate = Value()
  private(set) var dismissalDate = Value()
  private(set) var relevanceScore = Value()
  private(set) var attributesType = Value()
  /// Whether `attributes-type` has a module or an outer type in it.
  private(set) var isAttributesTypeQualified = false
  private(set) var attributes = Value()
  private(set) var inputPushToken = Value()
  private(set) var inputPushChannel = Value()
  private(set) var contentAvailable = Value()
  private(set) var badge = Value()
  private(set) var sound = Value()
  /// Whether `alert` is an object without a key.
  private(set) var isAlertEmpty = false
  /// Whether `alert` has keys that no device knows, `sound` apart.
  private(set) var hasUnknownAlertKeys = false
  /// The `sound` of an `alert` object.
  private(set) var alertSound = Value()
  /// Whether the sound of `aps`, or of `alert`, is a word for none.
  private(set) var soundSaysNone = false
  private(set) var alertSoundSaysNone = false
  /// The channel that `input-push-channel` names; nil where that is no channel's id.
  private(set) var channel: ChannelID?

  /// Facts of a payload that says nothing.
  init() { root = .null }

  /// Reads `body`; throws when it is not one strict JSON value.
  init(_ body: RawSpan) throws(JSONError) {
    var scanner = JSONScanner(body, depthMax: Limits.jsonDepth, notesDuplicates: true)
    root = try scanner.kind()
    if root == .object { try readRoot(&scanner, body) } else { try scanner.skipValue() }
    try scanner.finish()
    hasDuplicateKeys = scanner.hasDuplicates
  }

  private mutating func readRoot(_ scanner: inout JSONScanner, _ body: RawSpan) throws(JSONError) {
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      guard key.matches("aps", in: body) else {
        hasCustomKeys = true
        if key.matches("mdm", in: body) { hasMDM = try scanner.kind() == .string }
        try scanner.skipValue()
        continue
      }
      if aps != nil { forgetAPS() }
      aps = try scanner.kind()
      if aps == .object { try readAPS(&scanner, body) } else { try scanner.skipValue() }
    }
  }

  /// For an `aps` after another, which counts alone.
  private mutating func forgetAPS() {
    var fresh = PayloadFacts()
    (fresh.root, fresh.hasMDM, fresh.hasCustomKeys) = (root, hasMDM, hasCustomKeys)
    self = fresh
  }

  /// For a key after another of its name.
  private mutating func forget(_ key: APSKey) {
    keys.subtract(APSKeys(key))
    switch key {
    case .event: event = .none
    case .sound: soundSaysNone = false
    case .inputPushChannel: channel = nil
    case .attributesType: isAttributesTypeQualified = false
    case .alert: (isAlertEmpty, hasUnknownAlertKeys, alertSound, alertSoundSaysNone) = (false, false, Value(), false)
    default: break
    }
  }

  private mutating func readAPS(_ scanner: inout JSONScanner, _ body: RawSpan) throws(JSONError) {
    try scanner.beginObject()
    while let text = try scanner.nextKey() {
      guard let key = APSKey(text, in: body) else {
        hasUnknownKeys = true
        try scanner.skipValue()
        continue
      }
      if scanner.hasDuplicates { forget(key) }
      var value = Value(kind: try scanner.kind())
      switch value.kind {
      case .string:
        let string = try scanner.readString()
        value.text = string.range
        if key == .event { event = Self.event(string, body) }
        if key == .attributesType { isAttributesTypeQualified = Self.hasPoint(body[string.range]) }
        if key == .sound { soundSaysNone = SoundName.saysNone(body[string.range]) }
        if key == .inputPushChannel { channel = ChannelID(scanner.string(of: string)) }
      case .number:
        let number = try scanner.readNumber()
        value.text = number.range
        value.number = scanner.double(of: number)
      case .object where key == .alert: try readAlert(&scanner, body)
      default: try scanner.skipValue()
      }
      if value.isPresent { keys.insert(APSKeys(key)) }
      set(key, value)
    }
  }

  private mutating func set(_ key: APSKey, _ value: Value) {
    switch key {
    case .contentChanged: contentChanged = value
    case .timestamp: timestamp = value
    case .event: eventName = value
    case .contentState: contentState = value
    case .alert: alert = value
    case .staleDate: staleDate = value
    case .dismissalDate: dismissalDate = value
    case .relevanceScore: relevanceScore = value
    case .attributesType: attributesType = value
    case .attributes: attributes = value
    case .inputPushToken: inputPushToken = value
    case .inputPushChannel: inputPushChannel = value
    case .contentAvailable: contentAvailable = value
    case .badge: badge = value
    case .sound: sound = value
    case .mutableContent, .threadID, .category, .targetContentID, .interruptionLevel,
      .filterCriteria, .urlArgs, .events:
      break
    }
  }

  private mutating func readAlert(_ scanner: inout JSONScanner, _ body: RawSpan) throws(JSONError) {
    (isAlertEmpty, hasUnknownAlertKeys, alertSound, alertSoundSaysNone) = (true, false, Value(), false)
    try scanner.beginObject()
    while let text = try scanner.nextKey() {
      isAlertEmpty = false
      guard text.matches("sound", in: body) else {
        if !AlertKey.isKnown(text, in: body) { hasUnknownAlertKeys = true }
        try scanner.skipValue()
        continue
      }
      (alertSound, alertSoundSaysNone) = (Value(kind: try scanner.kind()), false)
      if alertSound.kind == .string {
        alertSound.text = try scanner.readString().range
        alertSoundSaysNone = SoundName.saysNone(body[alertSound.text])
      } else {
        try scanner.skipValue()
      }
    }
  }

  private static func hasPoint(_ text: RawSpan) -> Bool { (0..<text.byteCount).contains { text.byte($0) == UInt8(ascii: ".") } }

  private static func event(_ text: JSONText, _ body: RawSpan) -> ActivityEvent {
    if text.matches(ActivityEvent.update.text, in: body) { return .update }
    if text.matches(ActivityEvent.start.text, in: body) { return .start }
    return text.matches(ActivityEvent.end.text, in: body) ? .end : .none
  }
}
