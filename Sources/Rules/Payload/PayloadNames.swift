import JSON
import Primitives
import Push

/// The names that a payload's members have, read again for what is to be said of one that is misspelt or misplaced.
struct PayloadNames {
  /// Of the first members of `aps`, each with the key that it is.
  private var inAPS: [(name: String, key: APSKey?)] = []
  /// Of the first members beside it.
  private var beside: [String] = []

  /// Members that are looked at of `aps`, and of the payload: a payload that is refused shall not cost more than a good one.
  private static let membersMax = 64
  /// Names that are compared with Apple's.
  private static let comparedMax = 16
  /// Bytes of a name that are worth repeating; the longest of Apple's has 18.
  private static let nameBytes = 40

  init(_ body: RawSpan) {
    var scanner = JSONScanner(body, depthMax: Limits.jsonDepth)
    // Whoever asks has read it before.
    try? read(&scanner)
  }

  private mutating func read(_ scanner: inout JSONScanner) throws(JSONError) {
    guard try scanner.kind() == .object else { return }
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      let name = scanner.string(of: key)
      guard name == "aps", try scanner.kind() == .object else {
        if name != "aps", beside.count < Self.membersMax { beside.append(name) }
        try scanner.skipValue()
        continue
      }
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        if inAPS.count < Self.membersMax { inAPS.append((scanner.string(of: key), APSKey(key, in: scanner.bytes))) }
        try scanner.skipValue()
      }
    }
  }

  /// Where a key that is missing may be hidden, as an addition to the sentence that says so; empty where it is not to be seen.
  func hint(for key: APSKey) -> String {
    let unknown = inAPS.lazy.filter { $0.key == nil }.prefix(Self.comparedMax)
    if let name = unknown.first(where: { Self.meant(by: $0.name) == key })?.name {
      return "; aps has \(name), did you mean \(key.name)?"
    }
    guard let name = beside.first(where: { $0.utf8.count <= Self.nameBytes && Self.plain($0) == "\(key.name)" }) else { return "" }
    return "; \(name) stands beside aps, put it into aps\(name == "\(key.name)" ? "" : " as \(key.name)")"
  }

  /// The same for `aps` itself.
  var hintForAPS: String { beside.first { $0.lowercased() == "aps" }.map { "; there is \($0), did you mean aps?" } ?? "" }

  /// The names in `aps` that a push type has no use for, each with the one that may be meant.
  func unused(_ useless: APSKeys) -> [(name: String, hint: String)] {
    inAPS.compactMap { name, key in
      if let key, !useless.contains(key) { return nil }
      guard name.utf8.count <= Self.nameBytes else { return (name.prefix(Self.nameBytes) + "…", "") }
      // A name that another push type has is hardly misspelt, but this one is Apple's nowhere.
      guard key == nil || key == .events, let key = Self.meant(by: name, useless: useless) else { return (name, "") }
      return (name, " (did you mean \(key.name)?)")
    }
  }

  /// The key that a name may be a misspelling of.
  private static func meant(by name: String, useless: APSKeys = APSKeys(.events)) -> APSKey? {
    guard name.utf8.count <= nameBytes, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    let known = (0..<UInt8(APSKey.count)).compactMap(APSKey.init).filter { !useless.contains($0) }
    let plain = plain(name)
    if let key = known.first(where: { "\($0.name)" == plain }) { return key }
    return nearestName(to: plain, among: known.map { "\($0.name)" }).flatMap(APSKey.init(named:))
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
