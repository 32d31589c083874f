import Primitives

/// Makes numbers that count something into numbers that tell nothing, and back, with a key that only this side has.
///
/// A Feistel network over the number's two halves with SHA-256 as the round function: a permutation of all 64-bit numbers (Luby and
/// Rackoff, 1988: four rounds). Equal numbers become equal ones; their order and their differences are gone.
public struct NumberCipher: Sendable {
  private let key: [UInt8]
  private static let rounds: UInt8 = 4

  /// A cipher with that key, which is at best 32 random bytes.
  public init(key: [UInt8]) { self.key = key }

  /// A cipher with a random key, which goes with it.
  public init() { key = SecureRandom.bytes(32) }

  /// What stands for the number.
  public func seal(_ number: UInt64) -> UInt64 {
    var (left, right) = (UInt32(truncatingIfNeeded: number >> 32), UInt32(truncatingIfNeeded: number))
    for round in 0..<Self.rounds { (left, right) = (right, left ^ mix(right, round)) }
    return UInt64(left) << 32 | UInt64(right)
  }

  /// The number that `sealed` stands for.
  public func open(_ sealed: UInt64) -> UInt64 {
    var (left, right) = (UInt32(truncatingIfNeeded: sealed >> 32), UInt32(truncatingIfNeeded: sealed))
    for round in (0..<Self.rounds).reversed() { (left, right) = (right ^ mix(left, round), left) }
    return UInt64(left) << 32 | UInt64(right)
  }

  /// What stands for the number, in 16 hexadecimal digits.
  public func text(of number: UInt64) -> String {
    let sealed = seal(number)
    return Hexadecimal.encode((0..<8).map { UInt8(truncatingIfNeeded: sealed >> (56 - 8 * $0)) })
  }

  /// The number that such a text stands for; nil where it is none.
  public func number(in text: some StringProtocol) -> UInt64? {
    guard text.utf8.count == 16, let bytes = Hexadecimal.decode(String(text)) else { return nil }
    return open(bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  private func mix(_ half: UInt32, _ round: UInt8) -> UInt32 {
    let bytes = key + [round] + (0..<4).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
    return SHA256.hash(bytes).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
