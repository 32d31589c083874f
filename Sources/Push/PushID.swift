import Primitives

/// The value of `apns-id`: a UUID together with the letter case that the sender wrote, since Apple echoes it byte for byte.
///
/// Two ids are equal when their UUIDs are; case decides nothing but the text.
public struct PushID: Sendable {
  /// The first eight bytes, most significant first.
  public let high: UInt64
  /// The last eight bytes, most significant first.
  public let low: UInt64
  /// Bit n is set when hexadecimal digit n (0 to 31) is an upper-case letter.
  public let upperCase: UInt32

  /// The length of the text: 8-4-4-4-12 digits and four hyphens.
  public static let textCount = 36

  /// An id with these 128 bits; Apple writes the ids it makes itself in upper case.
  public init(high: UInt64, low: UInt64, upperCase: UInt32 = .max) {
    self.high = high
    self.low = low
    self.upperCase = upperCase
  }

  /// The id that `text` spells in canonical form (RFC 9562 section 4), in any case; nil for anything else.
  public init?(text: RawSpan) {
    guard text.byteCount == Self.textCount else { return nil }
    let hyphen = UInt8(ascii: "-")
    guard text.byte(8) == hyphen, text.byte(13) == hyphen, text.byte(18) == hyphen, text.byte(23) == hyphen else { return nil }
    // Four words of eight digits each; the middle two are split by a hyphen.
    guard let first = Hexadecimal.eight(text.word(0)), let second = Hexadecimal.eight(Self.joined(text, 9, 14)),
      let third = Hexadecimal.eight(Self.joined(text, 19, 24)), let fourth = Hexadecimal.eight(text.word(28))
    else { return nil }
    let upperCase =
      UInt32(first.upperCase) | UInt32(second.upperCase) << 8 | UInt32(third.upperCase) << 16 | UInt32(fourth.upperCase) << 24
    self.init(
      high: UInt64(first.bytes.byteSwapped) << 32 | UInt64(second.bytes.byteSwapped),
      low: UInt64(third.bytes.byteSwapped) << 32 | UInt64(fourth.bytes.byteSwapped), upperCase: upperCase)
  }

  /// The four digits at `first` and the four at `second`.
  private static func joined(_ text: RawSpan, _ first: Int, _ second: Int) -> UInt64 {
    text.word(first) & 0xFFFF_FFFF | text.word(second) << 32
  }

  /// The id that `text` spells in canonical form, in any case; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    unsafe self.init(text: bytes.span.bytes)
  }

  /// Writes the 36 bytes of the text, in the letter case it came in; `output` has room for them.
  ///
  /// Each push's id is written for its sender and for its upstream, so it goes eight digits at a time.
  public func write(to output: inout OutputRawSpan) {
    let hyphen = UInt8(ascii: "-")
    let (first, second) = (digits(high.byteSwapped, 0), digits(high.byteSwapped >> 32, 8))
    let (third, fourth) = (digits(low.byteSwapped, 16), digits(low.byteSwapped >> 32, 24))
    unsafe output.withUnsafeMutableBytes { room, written in
      precondition(room.count - written >= Self.textCount, "no room for an apns-id")
      let text = unsafe room.baseAddress! + written
      unsafe text.storeBytes(of: first, as: UInt64.self)
      unsafe text.storeBytes(of: hyphen, toByteOffset: 8, as: UInt8.self)
      unsafe text.storeBytes(of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
      unsafe text.storeBytes(of: hyphen, toByteOffset: 13, as: UInt8.self)
      unsafe text.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
      unsafe text.storeBytes(of: hyphen, toByteOffset: 18, as: UInt8.self)
      unsafe text.storeBytes(of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
      unsafe text.storeBytes(of: hyphen, toByteOffset: 23, as: UInt8.self)
      unsafe text.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
      unsafe text.storeBytes(of: fourth, toByteOffset: 28, as: UInt64.self)
      written += Self.textCount
    }
  }

  /// The digits of the lowest four bytes, of which the first is digit `first` of the id.
  @inline(__always) private func digits(_ bytes: UInt64, _ first: UInt32) -> UInt64 {
    Hexadecimal.digits(of: UInt32(truncatingIfNeeded: bytes), upperCase: UInt8(truncatingIfNeeded: upperCase >> first))
  }
}

extension PushID: Hashable {
  /// Whether both are the same UUID, whatever their letter case.
  public static func == (a: PushID, b: PushID) -> Bool { a.high == b.high && a.low == b.low }

  /// Feeds the UUID to `hasher`.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }
}

extension PushID: CustomStringConvertible {
  /// The text in the letter case it came in.
  public var description: String {
    unsafe String(unsafeUninitializedCapacity: Self.textCount) { buffer in
      var output = unsafe OutputRawSpan(buffer: UnsafeMutableRawBufferPointer(buffer), initializedCount: 0)
      write(to: &output)
      return unsafe output.finalize(for: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
