import Push

/// The numbers under which enumeration cases are saved.
///
/// A case's raw value moves when a later version adds a case; a saved number never does: the engine keeps the list of words,
/// and a word that it does not know yet gets the next free number.
struct Vocabulary {
  enum Family: Int, CaseIterable {
    case type, cause, reason, disposition, kind, lane, event, warning
  }

  private static let unknown = UInt8.max
  private var saved = ContiguousArray(repeating: unknown, count: Family.allCases.count << 8)
  private var raw = ContiguousArray(repeating: unknown, count: Family.allCases.count << 8)
  private var nextNumbers = ContiguousArray(repeating: UInt8(0), count: Family.allCases.count)
  /// The words that the engine does not know yet.
  private(set) var added: [(word: String, number: UInt8)] = []

  /// A vocabulary that knows `words`, and after that every case of this build.
  init(_ words: [(word: String, number: UInt8)]) {
    for family in Family.allCases {
      let cases = Self.words(of: family)
      for (word, number) in words where word.hasPrefix("\(family).") {
        nextNumbers[family.rawValue] = max(nextNumbers[family.rawValue], number &+ 1)
        if let value = cases.firstIndex(of: word) { learn(family, UInt8(value), number) }
      }
      for (value, word) in cases.enumerated() where saved[family.rawValue << 8 | value] == Self.unknown {
        let number = nextNumbers[family.rawValue]
        nextNumbers[family.rawValue] += 1
        learn(family, UInt8(value), number)
        added.append((word, number))
      }
    }
  }

  /// Notes that the engine knows all words.
  mutating func markSaved() { added.removeAll() }

  /// The number under which a case is saved.
  func number(_ family: Family, _ value: UInt8) -> UInt8 { saved[family.rawValue << 8 | Int(value)] }

  /// The case that is saved under a number; nil when this build has none of it.
  func value(_ family: Family, _ number: UInt8) -> UInt8? {
    let value = raw[family.rawValue << 8 | Int(number)]
    return value == Self.unknown ? nil : value
  }

  /// The bits under which a set of warnings is saved, or the set that is saved under them.
  func map(_ warnings: PushWarnings, saving: Bool) -> PushWarnings {
    var bits = warnings.rawValue
    var mapped: UInt64 = 0
    while bits != 0 {
      let bit = UInt8(bits.trailingZeroBitCount)
      bits &= bits - 1
      if let other = saving ? number(.warning, bit) : value(.warning, bit) { mapped |= 1 << UInt64(other & 63) }
    }
    return PushWarnings(rawValue: mapped)
  }

  private mutating func learn(_ family: Family, _ value: UInt8, _ number: UInt8) {
    saved[family.rawValue << 8 | Int(value)] = number
    raw[family.rawValue << 8 | Int(number)] = value
  }

  /// The words of a family in the order of their raw values, which are 0, 1, 2 and so on.
  private static func words(of family: Family) -> [String] {
    switch family {
    case .type: PushType.allCases.map { "\(family).\($0)" }
    case .cause: Cause.allCases.map { "\(family).\($0)" }
    case .reason: Reason.allCases.map { "\(family).\($0)" }
    case .disposition: Disposition.allCases.map { "\(family).\($0)" }
    case .kind: TokenKind.allCases.map { "\(family).\($0)" }
    case .lane: LaneClass.allCases.map { "\(family).\($0)" }
    case .warning: PushWarning.allCases.map { "\(family).\($0)" }
    case .event: ActivityEvent.allCases.map { "\(family).\($0)" }
    }
  }
}
