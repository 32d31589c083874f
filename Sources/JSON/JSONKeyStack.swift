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

  /// FNV-1a over the key's bytes after its escapes are undone, so that `"a"` and `"\u0061"` meet.
  private static func hash(of key: JSONText, in bytes: RawSpan) -> UInt64 {
    var hash: UInt32 = 0x811C_9DC5
    let text = bytes[key.range]
    if key.isEscaped {
      JSONEscapes.forEachByte(of: text) { hash = (hash ^ UInt32($0)) &* 0x0100_0193 }
    } else {
      for index in 0..<text.byteCount { hash = (hash ^ UInt32(text.byte(index))) &* 0x0100_0193 }
    }
    return UInt64(hash)
  }

  /// Whether the key that begins at `start` is the same string as `key`.
  private static func isSame(_ key: JSONText, at start: Int, in bytes: RawSpan) -> Bool {
    var end = start
    while bytes.byte(end) != UInt8(ascii: "\"") { end += bytes.byte(end) == UInt8(ascii: "\\") ? 2 : 1 }
    return decoded(bytes[key.range]) == decoded(bytes.extracting(start..<end))
  }

  private static func decoded(_ text: RawSpan) -> [UInt8] {
    var result: [UInt8] = []
    JSONEscapes.forEachByte(of: text) { result.append($0) }
    return result
  }
}
