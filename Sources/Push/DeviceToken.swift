import Primitives

/// A push token: opaque bytes that name a widget extension, a control, an activity, a push-to-start stream or an app on one device.
///
/// Apple asks servers not to assume a size; 32, 54 and 80 bytes have been seen. The value is trivially copyable and owns no heap memory.
public struct DeviceToken: Sendable {
  /// The most bytes a token may have; Apple once announced up to 100.
  public static let bytesMax = 100

  /// Eight bytes in each word, the first one lowest, zeros after the last; the highest byte of all is the count.
  private var words: InlineArray<13, UInt64>

  /// How many bytes the token has, 1 to `bytesMax`.
  public var count: Int { Int(words[12] >> 56) }

  /// The byte at `index`, which is below `count`.
  public subscript(index: Int) -> UInt8 {
    precondition(index >= 0 && index < count)
    return UInt8(truncatingIfNeeded: words[index >> 3] >> UInt64(8 * (index & 7)))
  }

  /// The token that `hex` spells in either case; nil when empty, odd, too long or not hexadecimal.
  public init?(hex: RawSpan) {
    let digits = hex.byteCount
    guard digits > 0, digits % 2 == 0, digits <= 2 * Self.bytesMax else { return nil }
    words = InlineArray(repeating: 0)
    for index in 0..<digits / 8 {
      guard let four = Hexadecimal.eight(hex.word(8 * index))?.bytes else { return nil }
      words[index >> 1] |= UInt64(four) << UInt64(32 * (index & 1))
    }
    for index in digits / 8 * 4..<digits / 2 {
      guard let high = Hexadecimal.value(of: hex.byte(2 * index)), let low = Hexadecimal.value(of: hex.byte(2 * index + 1))
      else { return nil }
      set(high << 4 | low, at: index)
    }
    words[12] |= UInt64(digits / 2) << 56
  }

  /// The token that `hex` spells in either case; nil when empty, odd, too long or not hexadecimal.
  public init?(hex: String) {
    let digits = Array(hex.utf8)
    unsafe self.init(hex: digits.span.bytes)
  }

  /// The token with exactly these bytes; nil when there are none or too many.
  public init?(bytes: RawSpan) {
    let count = bytes.byteCount
    guard count > 0, count <= Self.bytesMax else { return nil }
    words = InlineArray(repeating: 0)
    for index in 0..<count / 8 { words[index] = bytes.word(8 * index) }
    for index in count & ~7..<count { set(bytes.byte(index), at: index) }
    words[12] |= UInt64(count) << 56
  }

  /// Sets a byte that is still zero.
  private mutating func set(_ byte: UInt8, at index: Int) { words[index >> 3] |= UInt64(byte) << UInt64(8 * (index & 7)) }

  /// Bytes 8 × `index` and after, the first one lowest, zeros after the last.
  public func word(_ index: Int) -> UInt64 { index < 12 ? words[index] : words[12] & 0x00FF_FFFF_FFFF_FFFF }

  /// Writes the token as lower-case hexadecimal text; `output` has room for two digits a byte.
  public func writeHex(to output: inout OutputRawSpan) {
    unsafe output.withUnsafeMutableBytes { room, written in
      precondition(room.count - written >= 2 * count, "no room for a push token")
      for index in 0..<count / 8 {
        let low = Hexadecimal.digits(of: UInt32(truncatingIfNeeded: words[index]))
        let high = Hexadecimal.digits(of: UInt32(truncatingIfNeeded: words[index] >> 32))
        unsafe room.storeBytes(of: low, toByteOffset: written, as: UInt64.self)
        unsafe room.storeBytes(of: high, toByteOffset: written &+ 8, as: UInt64.self)
        written &+= 16
      }
    }
    for index in count & ~7..<count {
      output.append(Hexadecimal.digit(self[index] >> 4))
      output.append(Hexadecimal.digit(self[index] & 15))
    }
  }

  /// The token as lower-case hexadecimal text.
  public var hex: String { Hexadecimal.encode(bytes) }

  /// The token's bytes, copied.
  public var bytes: [UInt8] { (0..<count).map { self[$0] } }

  /// A seeded 64-bit hash; senders choose tokens, so tables must use a secret seed.
  public func hash(seed: UInt64) -> UInt64 {
    var state = seed ^ UInt64(count) &* 0x9E37_79B9_7F4A_7C15
    for index in 0..<(count + 7) / 8 {
      let product = (state ^ word(index)).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
      state = product.high ^ product.low
    }
    let product = (state ^ 0xE703_7ED1_A0B4_28DB).multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
    return product.high ^ product.low
  }
}

extension DeviceToken: Hashable {
  /// Whether both have the same bytes.
  public static func == (a: DeviceToken, b: DeviceToken) -> Bool {
    for index in 0..<13 where a.words[index] != b.words[index] { return false }
    return true
  }

  /// Feeds the bytes to `hasher`.
  public func hash(into hasher: inout Hasher) {
    for index in 0..<13 { hasher.combine(words[index]) }
  }
}

extension DeviceToken: CustomStringConvertible {
  /// The token as lower-case hexadecimal text.
  public var description: String { hex }
}
