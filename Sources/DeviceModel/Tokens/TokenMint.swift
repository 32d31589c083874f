import Primitives
import Push

/// Push tokens made from names, so that a restarted mock device has the tokens it had before.
///
/// A token is a function of the configured seed, what it names (device, app, kind of token, item) and a generation, which
/// grows by one when the token rotates. Real tokens say nothing about their owner; these are just as opaque but not secret.
struct TokenMint: Sendable {
  /// The configured seed; mock devices that share a gateway need different ones, unless they differ in device names.
  let seed: String

  /// Bytes of a token of this kind, as seen on real devices: 32, and 80 for Live Activities (apns.md section 2.2).
  static func bytes(of kind: TokenKind) -> Int {
    switch kind {
    case .widgets, .controls, .app, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: 32
    case .liveactivity, .pushToStart: 80
    }
  }

  /// The token of `kind` for the item at `path`, in its `generation`.
  func token(_ kind: TokenKind, path: [String], generation: Int) -> DeviceToken {
    var state = Mixer(seed: 0x5747_5055_5348)
    state.absorb(seed)
    state.absorb(kind.name)
    for part in path { state.absorb(part) }
    state.absorb(String(generation))
    let bytes = (0..<Self.bytes(of: kind) / 8).flatMap { _ -> [UInt8] in
      let word = state.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
    guard let token = unsafe DeviceToken(bytes: bytes.span.bytes) else { preconditionFailure("tokens are short") }
    return token
  }
}

/// Mixes names into 128 bits and draws words from them; the output step is SplitMix64's.
private struct Mixer {
  private var low: UInt64
  private var high: UInt64

  init(seed: UInt64) { (low, high) = (seed, ~seed) }

  /// Mixes in `text` and its length, so that neighbouring parts cannot run together.
  mutating func absorb(_ text: String) {
    for byte in text.utf8 { absorb(UInt64(byte)) }
    absorb(UInt64(text.utf8.count) << 8)
  }

  private mutating func absorb(_ word: UInt64) {
    let product = (low ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    low = product.low ^ high
    high = product.high &+ 0x9E37_79B9_7F4A_7C15
  }

  mutating func next() -> UInt64 {
    low &+= 0x9E37_79B9_7F4A_7C15
    var word = low ^ high
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }
}
