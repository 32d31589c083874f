import JSON
import Primitives
import Push

/// The names that a payload's members have, read again for what is to be said of one that is misspelt or misplaced.
struct PayloadNames {
  /// A member as it is written.
  struct Member {
    var name: String
    /// A string, a number or a word as it is written, as far as it is short; empty for the rest.
    var value: String
    /// Of a member of `aps`, the key that it is.
    var key: APSKey?
  }

  /// A member that is of no use where it stands.
  struct Unused {
    var name: String
    var value = ""
    /// Where it would be of use, or what may be meant, in brackets behind a space.
    var hint = ""
  }

  /// Of the first members of `aps`.
  private var inAPS: [Member] = []
  /// Of the first members beside it.
  private var beside: [Member] = []
  /// Of the first members of `aps.alert`.
  private var inAlert: [Member] = []

  /// Members that are looked at of each object: a payload that is refused shall not cost more than a good one.
  private static let membersMax = 64
  /// Names that are told; of the others it is told how many they are.
  static let toldMax = 5
  /// Names that are compared with Apple's.
  private static let comparedMax = 16
  /// Bytes of a name, or of a value, that are worth repeating; the longest of Apple's names has 18.
  private static let nameBytes = 40

  init(_ body: RawSpan) {
    var scanner = JSONScanner(body, depthMax: Limits.jsonDepth, refusesDuplicates: false)
    // Whoever asks has read it before.
    try? read(&scanner)
  }

  private mutating func read(_ scanner: inout JSONScanner) throws(JSONError) {
    guard try scanner.kind() == .object else { return }
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      let name = scanner.string(of: key)
      if name == "aps", try scanner.kind() == .object { try readAPS(&scanner) } else { try Self.take(name, nil, &scanner, &beside) }
    }
  }

  private mutating func readAPS(_ scanner: inout JSONScanner) throws(JSONError) {
    try scanner.beginObject()
    while let text = try scanner.nextKey() {
      let (name, key) = (scanner.string(of: text), APSKey(text, in: scanner.bytes))
      guard key == .alert, try scanner.kind() == .object else {
        try Self.take(name, key, &scanner, &inAPS)
        continue
      }
      if inAPS.count < Self.membersMax { inAPS.append(Member(name: name, value: "", key: key)) }
      try scanner.beginObject()
      while let text = try scanner.nextKey() { try Self.take(scanner.string(of: text), nil, &scanner, &inAlert) }
    }
  }

  private static func take(
    _ name: String, _ key: APSKey?, _ scanner: inout JSONScanner, _ members: inout [Member]
  ) throws(JSONError) {
    let kind = try scanner.kind()
    var start = scanner.offset
    try scanner.skipValue()
    guard members.count < membersMax else { return }
    switch kind {
    case .string, .number, .true, .false, .null:
      while start < scanner.offset, scanner.bytes.byte(start) <= UInt8(ascii: " ") { start += 1 }
      let isShort = scanner.offset - start <= nameBytes + 2
      members.append(Member(name: name, value: isShort ? scanner.bytes.extracting(start..<scanner.offset).string : "", key: key))
    case .object, .array: members.append(Member(name: name, value: "", key: key))
    }
  }

  // MARK: What is missing

  /// Where a key that is missing may be hidden, as an addition to the sentence that says so; empty where it is not to be seen.
  func hint(for key: APSKey) -> String {
    let unknown = inAPS.lazy.filter { $0.key == nil }.prefix(Self.comparedMax)
    if let name = unknown.first(where: { Self.meant(by: $0.name) == key })?.name {
      return "; aps has \(name), did you mean \(key.name)?"
    }
    if key == .event, inAPS.contains(where: { $0.key == .events }) { return "; aps has events, did you mean event?" }
    guard let name = beside.first(where: { $0.name.utf8.count <= Self.nameBytes && Self.plain($0.name) == "\(key.name)" })?.name
    else { return "" }
    return "; \(name) stands beside aps, put it into aps\(name == "\(key.name)" ? "" : " as \(key.name)")"
  }

  /// The same for `aps` itself.
  var hintForAPS: String {
    beside.first { $0.name.lowercased() == "aps" && $0.name != "aps" }.map { "; there is \($0.name), did you mean aps?" } ?? ""
  }

  /// The same for `mdm`, which stands beside `aps`.
  var hintForMDM: String {
    if let other = beside.first(where: { $0.name.lowercased() == "mdm" })?.name {
      return other == "mdm" ? "; the mdm that is there is no string" : "; there is \(other), did you mean mdm?"
    }
    return inAPS.contains { $0.name.lowercased() == "mdm" } ? "; mdm stands in aps, put it beside aps" : ""
  }

  // MARK: What is of no use

  /// The keys of `aps` among those.
  func those(_ keys: APSKeys) -> [Unused] {
    inAPS.filter { $0.key.map(keys.contains) ?? false }.map { Unused(name: $0.name, value: $0.value) }
  }

  /// The names in `aps` that a push type has no use for, each with its place or the name that may be meant.
  ///
  /// - Parameter places: The push type whose alert may be where a value belongs; nil where it has none.
  func unused(_ useless: APSKeys, places: PushType?) -> [Unused] {
    told(inAPS.filter { $0.key.map(useless.contains) ?? true }) { member in
      if let place = places.flatMap({ Self.placeInAlert(member.name, $0) }) {
        return inAlert.contains { $0.name == place } ? " (aps.alert.\(place) is what counts)" : " (put it at aps.alert.\(place))"
      }
      // A name that another push type has is hardly misspelt, but this one is Apple's nowhere.
      guard member.key == nil || member.key == .events, let key = Self.meant(by: member.name, useless: useless) else { return "" }
      return inAPS.contains { $0.key == key } ? " (\(key.name), which is there too, is what counts)" : " (did you mean \(key.name)?)"
    }
  }

  /// The names beside `aps`.
  ///
  /// - Parameter hints: Whether those that a Live Activity push has in `aps` are told so.
  func besideAPS(hints: Bool) -> [Unused] {
    told(beside.filter { $0.name != "aps" && $0.name != "mdm" }) { member in
      guard hints else { return "" }
      if let place = Self.placeInAlert(member.name, .liveactivity) { return " (put it at aps.alert.\(place))" }
      guard let key = APSKey(named: Self.plain(member.name)), APSKeys.activity.contains(key) else { return "" }
      return inAPS.contains { $0.key == key } ? " (aps.\(key.name) is what counts)" : " (put it at aps.\(key.name))"
    }
  }

  /// The names in `aps.alert` that no device looks for there, each with the one that may be meant, or with its place.
  func unusedInAlert(inActivity: Bool) -> [Unused] {
    let known = AlertKey.all(inActivity: inActivity)
    return told(inAlert.filter { !known.contains($0.name) }) { member in
      let plain = Self.plain(member.name)
      if let key = APSKey(named: plain), inActivity ? APSKeys.activity.contains(key) : !APSKeys.activityOnly.contains(key) {
        return " (put it at aps.\(key.name))"
      }
      guard let name = known.contains(plain) ? plain : Self.nearest(to: plain, among: known) else { return "" }
      return inAlert.contains { $0.name == name } ? " (\(name), which is there too, is what counts)" : " (did you mean \(name)?)"
    }
  }

  /// The members as they are told: only the first are looked at, since comparing names with Apple's takes its time, and any sender's payload
  /// may have many.
  private func told(_ members: [Member], hint: (Member) -> String) -> [Unused] {
    members.enumerated().map { index, member in
      guard index < Self.toldMax else { return Unused(name: "") }
      guard member.name.utf8.count <= Self.nameBytes else { return Unused(name: member.name.prefix(Self.nameBytes) + "…") }
      return Unused(name: member.name, value: member.value, hint: hint(member))
    }
  }

  /// The key of an alert object that a key beside it is, by the name that it has or had.
  private static func placeInAlert(_ name: String, _ type: PushType) -> String? {
    let plain = plain(name)
    // An alert push has its sound beside the alert.
    return plain == "sound" && type != .liveactivity ? nil : AlertKey.all(inActivity: true).first { $0 == plain }
  }

  /// The key that a name may be a misspelling of.
  private static func meant(by name: String, useless: APSKeys = APSKeys(.events)) -> APSKey? {
    guard isPlain(name) else { return nil }
    let known = (0..<UInt8(APSKey.count)).compactMap(APSKey.init).filter { !useless.contains($0) }
    let plain = plain(name)
    if let key = known.first(where: { "\($0.name)" == plain }) { return key }
    return nearestName(to: plain, among: known.map { "\($0.name)" }).flatMap(APSKey.init(named:))
  }

  private static func nearest(to name: String, among known: [String]) -> String? {
    isPlain(name) ? nearestName(to: name, among: known) : nil
  }

  /// Whether a name is worth comparing.
  private static func isPlain(_ name: String) -> Bool {
    name.utf8.count <= nameBytes && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// A name in Apple's form: `contentState` and `content_state` become `content-state`.
  private static func plain(_ name: String) -> String {
    let isCapital = !name.contains { $0.isLowercase }
    var plain = ""
    for character in name {
      if character == "_" || character == " " {
        plain.append("-")
      } else if character.isUppercase, let last = plain.last, last != "-", !isCapital {
        plain += "-" + character.lowercased()
      } else {
        plain += character.lowercased()
      }
    }
    return plain
  }
}

extension APSKey {
  /// The key of exactly that name, or nil.
  init?(named name: String) {
    guard let key = (0..<UInt8(Self.count)).lazy.compactMap(APSKey.init).first(where: { "\($0.name)" == name }) else { return nil }
    self = key
  }
}
