import COpenSSL

/// Bytes from OpenSSL's cryptographic generator, which the kernel seeds.
public enum SecureRandom {
  /// `count` random bytes.
  public static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let filled = RAND_bytes(&bytes, Int32(count)) == 1
    precondition(filled, "OpenSSL has no entropy")
    return bytes
  }

  /// Random text of `count` characters, each one of `alphabet`'s at most 256 with equal chance.
  public static func text(_ count: Int, alphabet: String) -> String {
    let characters = Array(alphabet)
    precondition(!characters.isEmpty && characters.count <= 256)
    // A byte past the last whole multiple would favour the first characters: draw again.
    let fair = 256 - 256 % characters.count
    var text = ""
    var missing = count
    while missing > 0 {
      for byte in bytes(missing) where Int(byte) < fair {
        text.append(characters[Int(byte) % characters.count])
        missing -= 1
      }
    }
    return text
  }
}

/// Random 64-bit words, drawn from the generator a block at a time: an apns-id costs no call into OpenSSL or the kernel.
///
/// Belongs to one thread. A used word is overwritten, so memory never tells an id twice.
public final class RandomPool: RandomNumberGenerator {
  private static let words = 512
  private var pool = [UInt64](repeating: 0, count: words)
  private var used = words

  /// A pool that fills itself at the first draw.
  public init() {}

  /// The next random word.
  public func next() -> UInt64 {
    if used == Self.words {
      let filled = pool.withUnsafeMutableBytes { RAND_bytes($0.baseAddress, Int32($0.count)) } == 1
      precondition(filled, "OpenSSL has no entropy")
      used = 0
    }
    defer {
      pool[used] = 0
      used += 1
    }
    return pool[used]
  }
}
