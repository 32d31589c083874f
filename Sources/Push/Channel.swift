public import Primitives

/// The id of a broadcast channel: 16 bytes that look like a time-based UUID, on the wire in standard base 64.
///
/// Apple calls the size opaque; every id seen has these 16 bytes, which this server's have too.
public struct ChannelID: Hashable, Sendable {
  /// The length of the text: 22 digits and two signs of padding.
  public static let textCount = 24

  /// The first eight bytes, most significant first.
  public let high: UInt64
  /// The last eight bytes, most significant first.
  public let low: UInt64

  /// An id with these 128 bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new id: the bits of `now` and of two random numbers, laid out as version 1 (RFC 9562 section 5.1).
  ///
  /// The clock and 76 random bits make it unlike any other ever made, deleted ones included.
  public init(now: Instant, random: (UInt64, UInt64)) {
    // Ticks of 100 ns since 1582-10-15, of which the lowest 14 bits are random, since many are made within a tick.
    let ticks = UInt64(bitPattern: now.unixSeconds &* 10_000_000) &+ 0x01B2_1DD2_1381_4000 &+ random.0 >> 50
    let timeLow = ticks & 0xFFFF_FFFF
    let timeMiddle = ticks >> 32 & 0xFFFF
    let timeHigh = ticks >> 48 & 0x0FFF
    high = timeLow << 32 | timeMiddle << 16 | 0x1000 | timeHigh
    low = random.1 & 0x3FFF_FFFF_FFFF_FFFF
  }

  /// The id that `text` spells in standard base 64; nil for anything else.
  public init?(text: RawSpan) {
    guard text.byteCount == Self.textCount, let bytes = Base64.decode(text), bytes.count == 16 else { return nil }
    self.init(bytes: bytes)
    // The decoder takes the other alphabet and stray bits too; an id has one spelling.
    guard unsafe Array(description.utf8).span.bytes.equals(text) else { return nil }
  }

  /// The id that `text` spells in standard base 64; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    unsafe self.init(text: bytes.span.bytes)
  }

  /// What an id is, as it stands behind "must be".
  public static let form = "a channel's id, which is 16 bytes in standard base 64 such as aMs2y8fFEe8AAPIAM4gHog=="

  /// What keeps `text` from being an id, as it stands behind "which"; nil when it is one.
  public static func fault(of text: String) -> String? {
    guard ChannelID(text) == nil else { return nil }
    guard let bytes = Base64.decode(text) else { return "is no base 64" }
    if bytes.count != 16 { return "is base 64 of \(bytes.count) bytes" }
    if text.contains("-") || text.contains("_") { return "has - or _ where standard base 64 has + and /" }
    if !text.hasSuffix("==") { return "lacks the == at its end" }
    return "ends in a digit with bits that no byte needs"
  }

  private init(bytes: [UInt8]) {
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: word(bytes[..<8]), low: word(bytes[8...]))
  }

  /// The 16 bytes.
  public var bytes: [UInt8] {
    [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
  }
}

extension ChannelID: CustomStringConvertible {
  /// The text in standard base 64, with padding.
  public var description: String { Base64.encode(bytes, .standard) }
}

/// What a channel does with the messages that are broadcast to it; it never changes.
///
/// Source: Apple, "Sending channel management requests to APNs".
public enum MessageStoragePolicy: UInt8, CaseIterable, Sendable {
  /// Who is not connected misses the message.
  case none = 0
  /// The most recent message is kept for those who come late, for `Limits.channelMessageSeconds` at most.
  case mostRecent = 1
}
