import Glibc

/// Which bytes the parts of a received field may have.
enum FieldBytes {
  /// Whether the bytes may be a field's value: no control characters but tabs, and no white space at its ends
  /// (RFC 9113 section 8.2.1).
  @inline(__always) static func isValue(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard count > 0 else { return true }
    guard !isSpace(bytes[0]), !isSpace(bytes[count - 1]) else { return false }
    return !hasControl(bytes, count, lowest: 0x20) || hasOnlyTabs(bytes, count)
  }

  /// The bytes without white space at their ends.
  static func trimmed(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> (UnsafePointer<UInt8>, Int) {
    var (first, end) = (0, count)
    while first < end, isSpace(bytes[first]) { first += 1 }
    while end > first, isSpace(bytes[end - 1]) { end -= 1 }
    return (bytes + first, end - first)
  }

  /// Whether the bytes may be a `:path`: no control characters and no white space.
  @inline(__always) static func isPath(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    !hasControl(bytes, count, lowest: 0x21)
  }

  /// Whether the bytes may be the name of a field that is not a pseudo-header field: a token in lower case.
  static func isName(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool { count > 0 && areAll(bytes, count, in: .name) }

  /// Whether the bytes may be a method: a token (RFC 9110 section 9.1).
  static func isMethod(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool { count > 0 && areAll(bytes, count, in: .token) }

  /// Whether the bytes may be a host and port (RFC 3986 section 3.2), user information included.
  static func isAuthority(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool { areAll(bytes, count, in: .authority) }

  /// Whether the bytes may be a scheme (RFC 3986 section 3.1).
  static func isScheme(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard count > 0, bytes[0] | 0x20 >= UInt8(ascii: "a"), bytes[0] | 0x20 <= UInt8(ascii: "z") else { return false }
    return areAll(bytes, count, in: .scheme)
  }

  /// Whether the bytes are those of a constant; the comparison has a constant length too, for which there is no call.
  @inline(__always) static func areEqual(_ bytes: UnsafeRawPointer, _ count: Int, _ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount && memcmp(bytes, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  @inline(__always) private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  // MARK: Sets of ASCII characters

  private struct CharacterSet: OptionSet {
    let rawValue: UInt8
    static let name = CharacterSet(rawValue: 1)
    static let token = CharacterSet(rawValue: 2)
    static let authority = CharacterSet(rawValue: 4)
    static let scheme = CharacterSet(rawValue: 8)
  }

  /// The sets that each byte is in. Written once, before the first use, and never again.
  nonisolated(unsafe) private static let sets: UnsafePointer<UInt8> = {
    let sets = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    sets.initialize(repeating: 0, count: 256)
    func add(_ set: CharacterSet, _ text: StaticString) {
      for index in 0..<text.utf8CodeUnitCount { sets[Int(text.utf8Start[index])] |= set.rawValue }
    }
    for set in [.name, .token, .authority, .scheme] as [CharacterSet] { add(set, "abcdefghijklmnopqrstuvwxyz0123456789-.") }
    for set in [.token, .authority, .scheme] as [CharacterSet] { add(set, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") }
    for set in [.name, .token] as [CharacterSet] { add(set, "!#$%&'*+^_`|~") }
    add(.authority, "!$%&'()*+,:;=@[]_~")
    add(.scheme, "+")
    return UnsafePointer(sets)
  }()

  @inline(__always) private static func areAll(_ bytes: UnsafePointer<UInt8>, _ count: Int, in set: CharacterSet) -> Bool {
    let sets = sets
    var common = set.rawValue
    for index in 0..<count { common &= sets[Int(bytes[index])] }
    return common != 0
  }

  // MARK: Scans of many bytes at once

  /// Whether any byte is below `lowest`, which is at most 128, or is DEL.
  @inline(__always) private static func hasControl(_ bytes: UnsafePointer<UInt8>, _ count: Int, lowest: UInt8) -> Bool {
    let start = UnsafeRawPointer(bytes)
    if count >= 16 {
      var found = SIMD2<UInt64>()
      var offset = 0
      while offset < count &- 16 {
        found |= controls(start.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self), lowest)
        offset &+= 16
      }
      // The last sixteen, some of which may have been looked at already.
      found |= controls(start.loadUnaligned(fromByteOffset: count &- 16, as: SIMD2<UInt64>.self), lowest)
      return (found[0] | found[1]) & 0x8080_8080_8080_8080 != 0
    }
    var words = SIMD2<UInt64>(repeating: 0x4040_4040_4040_4040)
    if count >= 8 {
      words[0] = start.loadUnaligned(as: UInt64.self)
      words[1] = start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    } else if count >= 4 {
      words[0] = UInt64(start.loadUnaligned(as: UInt32.self)) | 0x4040_4040_0000_0000
      words[1] = UInt64(start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)) | 0x4040_4040_0000_0000
    } else {
      for index in 0..<count where bytes[index] < lowest || bytes[index] == 0x7f { return true }
      return false
    }
    let found = controls(words, lowest)
    return (found[0] | found[1]) & 0x8080_8080_8080_8080 != 0
  }

  /// Of each byte the highest bit says whether it is below `lowest` or is DEL; a byte above one that is may say so too.
  @inline(__always) private static func controls(_ words: SIMD2<UInt64>, _ lowest: UInt8) -> SIMD2<UInt64> {
    let ones = SIMD2<UInt64>(repeating: 0x0101_0101_0101_0101)
    let changed = words ^ SIMD2(repeating: 0x7f7f_7f7f_7f7f_7f7f)
    return (words &- SIMD2(repeating: 0x0101_0101_0101_0101 &* UInt64(lowest))) & ~words | (changed &- ones) & ~changed
  }

  /// Whether those of the bytes that are control characters are all tabs; rare enough to go byte by byte.
  private static func hasOnlyTabs(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    for index in 0..<count where bytes[index] < 0x20 && bytes[index] != 0x09 || bytes[index] == 0x7f { return false }
    return true
  }
}
