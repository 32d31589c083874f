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
  private struct State {
    let pool = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
    var used = words
  }

  // Behind a pointer, because the properties of a class are checked for exclusive access at each use.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  /// A pool that fills itself at the first draw.
  public init() { state.initialize(to: State()) }

  deinit {
    OPENSSL_cleanse(state.pointee.pool, Self.words * MemoryLayout<UInt64>.size)
    state.pointee.pool.deallocate()
    state.deallocate()
  }

  /// The next random word.
  public func next() -> UInt64 {
    if state.pointee.used == Self.words { fill() }
    let word = state.pointee.pool[state.pointee.used]
    state.pointee.pool[state.pointee.used] = 0
    state.pointee.used += 1
    return word
  }

  private func fill() {
    let bytes = UnsafeMutableRawBufferPointer(start: state.pointee.pool, count: Self.words * MemoryLayout<UInt64>.size)
    let filled = RAND_bytes(bytes.baseAddress, Int32(bytes.count)) == 1
    precondition(filled, "OpenSSL has no entropy")
    state.pointee.used = 0
  }
}
