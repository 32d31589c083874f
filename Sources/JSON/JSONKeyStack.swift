import Primitives

/// The keys of all objects that are open, to find one that stands twice; the first 64 need no heap.
///
/// One stack serves every level: an object pushes a mark, then its keys, and takes them all away when it ends. An entry is
/// 32 bits of the decoded key's hash above its offset plus one, so a mark is 0 and the bytes are compared only when
/// the hashes agree.
struct JSONKeyStack {
  private var first = InlineArray<64, UInt64>(repeating: 0)
  private var rest: [UInt64] = []
  private var count = 0

  /// Opens an object.
  mutating func beginObject() { push(0) }

  /// Forgets the innermost object and its keys.
  mutating func endObject() {
    while true {
      count -= 1
      let entry = count < 64 ? first[count] : rest.removeLast()
      if entry == 0 { return }
    }
  }

  /// Adds a key of the innermost object; true when that object has it already.
  mutating func insert(_ key: JSONText, in bytes: RawSpan) -> Bool {
    let hash = Self.hash(of: key, in: bytes)
    var index = count - 1
    while true {
      let entry = index < 64 ? first[index] : rest[index - 64]
      if entry == 0 { break }
      if entry >> 32 == hash, Self.isSame(key, at: Int(UInt32(truncatingIfNeeded: entry)) - 1, in: bytes) { return true }
      index -= 1
    }
    push(hash << 32 | UInt64(key.range.offset + 1))
    return false
  }

  private mutating func push(_ entry: UInt64) {
    if count < 64 { first[count] = entry } else { rest.append(entry) }
    count += 1
  }

  /// A hash of the key's bytes after its escapes are undone, so that `"a"` and `"\u0061"` meet.
  private static func hash(of key: JSONText, in bytes: RawSpan) -> UInt64 {
    guard key.isEscaped else { return bytes[key.range].hash(seed: 0) & 0xFFFF_FFFF }
    let text = decoded(bytes[key.range])
    return unsafe text.span.bytes.hash(seed: 0) & 0xFFFF_FFFF
  }

  /// Whether the key that begins at `start` is the same string as `key`.
  private static func isSame(_ key: JSONText, at start: Int, in bytes: RawSpan) -> Bool {
    var end = start
    var isEscaped = key.isEscaped
    while bytes.byte(end) != UInt8(ascii: "\"") {
      let isBackslash = bytes.byte(end) == UInt8(ascii: "\\")
      isEscaped = isEscaped || isBackslash
      end += isBackslash ? 2 : 1
    }
    let other = bytes.extracting(start..<end)
    return isEscaped ? decoded(bytes[key.range]) == decoded(other) : bytes[key.range].equals(other)
  }

  private static func decoded(_ text: RawSpan) -> [UInt8] {
    var result: [UInt8] = []
    JSONEscapes.forEachByte(of: text) { result.append($0) }
    return result
  }
}
