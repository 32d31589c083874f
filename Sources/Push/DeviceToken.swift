import Primitives

/// A push token: opaque bytes that name a widget extension, a control, an activity, a push-to-start stream or an app on one device.
///
/// Apple asks servers not to assume a size; 32, 54 and 80 bytes have been seen. The value is trivially copyable and owns no heap memory.
public struct DeviceToken: Sendable {
  /// The most bytes a token may have; Apple once announced up to 100.
  public static let bytesMax = 100

  private var storage: InlineArray<104, UInt8>

  /// How many bytes the token has, 1 to `bytesMax`.
  public var count: Int { Int(storage[103]) }

  /// The byte at `index`, which is below `count`.
  public subscript(index: Int) -> UInt8 {
    precondition(index < count)
    return storage[index]
  }

  /// The token that `hex` spells in either case; nil when empty, odd, too long or not hexadecimal.
  public init?(hex: RawSpan) {
    let digits = hex.byteCount
    guard digits > 0, digits % 2 == 0, digits <= 2 * Self.bytesMax else { return nil }
    storage = InlineArray(repeating: 0)
    for index in 0..<digits / 2 {
      guard let high = Hexadecimal.value(of: hex.byte(2 * index)), let low = Hexadecimal.value(of: hex.byte(2 * index + 1))
      else { return nil }
      storage[index] = high << 4 | low
    }
    storage[103] = UInt8(digits / 2)
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
    storage = InlineArray(repeating: 0)
    for index in 0..<count { storage[index] = bytes.byte(index) }
    storage[103] = UInt8(count)
  }

  /// The token as lower-case hexadecimal text.
  public var hex: String { Hexadecimal.encode(bytes) }

  /// The token's bytes, copied.
  public var bytes: [UInt8] { (0..<count).map { storage[$0] } }

  /// A seeded 64-bit hash; senders choose tokens, so tables must use a secret seed.
  public func hash(seed: UInt64) -> UInt64 {
    var state = seed ^ UInt64(count) &* 0x9E37_79B9_7F4A_7C15
    var index = 0
    while index < count {
      var word: UInt64 = 0
      for shift in 0..<8 { word |= UInt64(storage[index + shift]) << UInt64(8 * shift) }
      let product = (state ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
      state = product.high ^ product.low
      index += 8
    }
    let product = (state ^ 0xE703_7ED1_A0B4_28DB).multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
    return product.high ^ product.low
  }
}

extension DeviceToken: Hashable {
  /// Whether both have the same bytes.
  public static func == (a: DeviceToken, b: DeviceToken) -> Bool {
    guard a.count == b.count else { return false }
    for index in 0..<a.count where a.storage[index] != b.storage[index] { return false }
    return true
  }

  /// Feeds the bytes to `hasher`.
  public func hash(into hasher: inout Hasher) {
    for index in 0..<count { hasher.combine(storage[index]) }
  }
}

extension DeviceToken: CustomStringConvertible {
  /// The token as lower-case hexadecimal text.
  public var description: String { hex }
}
