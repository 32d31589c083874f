/// Puts values into the gaps of a JSON text, as far as what stands around them tells what they stand for.
struct GapFiller {
  /// The text so far.
  private(set) var filled: [UInt8] = []
  /// Where in it something has been filled in, rising.
  private(set) var offsets: [Int] = []
  /// Whether each gap stands for one value, or in a string, so that the rest is as it is written.
  private(set) var isCertain = true

  private let literal: [UInt8]
  /// The objects and arrays that are open, by their first byte.
  private var open: [UInt8] = []
  private var isInString = false
  private var isEscaped = false
  /// Whether the string is a member's name, or the next one would be.
  private var isKey = false
  /// The last byte outside strings that is no white space, the quote at a string's end among them.
  private var last: UInt8?
  /// How many names of members have been filled in; no two are equal.
  private var keys = 0

  init(_ literal: [UInt8]) { self.literal = literal }

  /// Fills the gaps at these offsets; false where a gap may stand for anything.
  mutating func fill(_ gaps: [Int]) -> Bool {
    var index = 0
    for gap in gaps {
      while index < gap {
        take(literal[index])
        index += 1
      }
      guard fill(before: index) else { return false }
    }
    while index < literal.count {
      take(literal[index])
      index += 1
    }
    return true
  }

  private mutating func take(_ byte: UInt8) {
    filled.append(byte)
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
        last = byte
      }
      return
    }
    switch byte {
    case UInt8(ascii: "\""):
      isInString = true
      return
    case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
    case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): return
    default: break
    }
    last = byte
    isKey = open.last == UInt8(ascii: "{") && (byte == UInt8(ascii: "{") || byte == UInt8(ascii: ","))
  }

  private mutating func fill(before index: Int) -> Bool {
    if isInString {
      insert(String(repeating: "…", count: isKey ? nextKey() : 1))
      return true
    }
    guard let container = open.last, let last else { return false }
    let next = index < literal.count ? literal[index] : nil
    let following = literal[index...].first { !Self.isSpace($0) }
    switch last {
    case UInt8(ascii: ":"), UInt8(ascii: "["),
      UInt8(ascii: ",") where container == UInt8(ascii: "["):
      insert("1")
      // What stands beside it without a space must go on with the number.
      if let next, !Self.isSpace(next), !Self.ends(next) { isCertain = false }
      self.last = UInt8(ascii: "1")
    case UInt8(ascii: "{"), UInt8(ascii: ","):
      isCertain = false
      insert("\"", String(repeating: "…", count: nextKey()), "\"")
      if following == UInt8(ascii: ":") {
        self.last = UInt8(ascii: "\"")
      } else {
        filled += following.map(Self.ends) == false ? ":0,".utf8 : ":0".utf8
        self.last = following.map(Self.ends) == false ? UInt8(ascii: ",") : UInt8(ascii: "0")
      }
    case _ where filled.last == last && Self.isNumeric(last):
      isCertain = false
      insert("1")
      // More of the number, or the end of it and more members.
      if let next, !Self.isSpace(next), !Self.ends(next) { return true }
      insertMore(container)
    case UInt8(ascii: "\"") where isKey: return false
    default:
      isCertain = false
      insertMore(container)
    }
    return true
  }

  /// Adds a member, or an element, after another.
  private mutating func insertMore(_ container: UInt8) {
    if container == UInt8(ascii: "{") {
      insert(",\"", String(repeating: "…", count: nextKey()), "\":0")
    } else {
      insert(",", "1")
    }
    last = UInt8(ascii: "0")
  }

  /// Adds something, of which `text` is in a value or a name.
  private mutating func insert(_ before: String, _ text: String, _ after: String) {
    filled += before.utf8
    offsets.append(filled.count)
    filled += text.utf8
    filled += after.utf8
  }

  private mutating func insert(_ text: String) { insert("", text, "") }

  private mutating func insert(_ before: String, _ text: String) { insert(before, text, "") }

  private mutating func nextKey() -> Int {
    keys += 1
    return keys
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  /// Whether a value, or a member, ends before that byte.
  private static func ends(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") }

  private static func isNumeric(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }
}
