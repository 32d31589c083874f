import Security
import Testing

@Suite("Numbers that count nothing") struct NumberCipherTests {
  private let cipher = NumberCipher(key: Array(repeating: 7, count: 32))

  @Test func everyNumberComesBack() {
    let numbers = (0..<64).flatMap { [1 << $0, (1 << $0) - 1, ~(1 << $0)] as [UInt64] } + (0..<1000).map { UInt64($0) }
    for number in numbers {
      #expect(cipher.open(cipher.seal(number)) == number && cipher.seal(cipher.open(number)) == number)
      let text = cipher.text(of: number)
      #expect(text.utf8.count == 16 && cipher.number(in: text) == number)
    }
    for text in ["", "00", "000000000000000g", "00000000000000000"] { #expect(cipher.number(in: text) == nil) }
  }

  /// Neither the order nor the distance of two numbers is seen, and another key makes others.
  @Test func nothingIsTold() {
    let sealed = (0..<1000).map { cipher.seal(UInt64($0)) }
    #expect(Set(sealed).count == 1000)
    let rising = zip(sealed, sealed.dropFirst()).count { $0 < $1 }
    #expect((400...600).contains(rising), "as often as by chance")
    #expect(Set(zip(sealed, sealed.dropFirst()).map { $1 &- $0 }).count == 999)
    #expect(Set(zip(sealed, sealed.dropFirst()).map { $1 ^ $0 }).count == 999)
    let (one, other) = (NumberCipher(), NumberCipher())
    #expect(one.seal(1) != other.seal(1) && cipher.seal(1) == NumberCipher(key: Array(repeating: 7, count: 32)).seal(1))
  }
}
