import Primitives
import Security
import Testing

@Suite("Digests and random bytes") struct RandomTests {
  @Test func digestsAreThoseOfTheStandard() {
    #expect(Hexadecimal.encode(SHA256.hash("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(Hexadecimal.encode(SHA256.hash("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hexadecimal.encode(SHA256.hash([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func aPoolNeverRepeatsItself() {
    let pool = RandomPool()
    var seen: Set<UInt64> = []
    for _ in 0..<5000 { seen.insert(pool.next()) }
    #expect(seen.count == 5000)
    let other = RandomPool()
    #expect(!seen.contains(other.next()))
  }

  @Test func everyBitOfThePoolVaries() {
    let pool = RandomPool()
    var ones = [Int](repeating: 0, count: 64)
    for _ in 0..<2000 {
      let word = pool.next()
      for bit in 0..<64 where word >> UInt64(bit) & 1 == 1 { ones[bit] += 1 }
    }
    for bit in 0..<64 { #expect((800...1200).contains(ones[bit]), "bit \(bit): \(ones[bit]) of 2000") }
  }

  @Test func textKeepsToItsAlphabet() {
    let alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    let text = SecureRandom.text(10_000, alphabet: alphabet)
    #expect(text.count == 10_000)
    #expect(Set(text) == Set(alphabet))
    #expect(SecureRandom.bytes(0) == [])
    #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
  }

  @Test func comparisonSeesEveryByte() {
    let secret = SecureRandom.bytes(32)
    #expect(ConstantTime.equal(secret, secret))
    #expect(ConstantTime.equal([], []))
    #expect(!ConstantTime.equal(secret, Array(secret.dropLast())))
    for index in secret.indices {
      var other = secret
      other[index] ^= 1
      #expect(!ConstantTime.equal(secret, other))
    }
  }
}
