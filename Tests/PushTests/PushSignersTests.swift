import Push
import Testing

@Suite("Signers of pushes") struct PushSignersTests {
  @Test func everyTypeHasItsOwn() {
    let signers = PushSigners { Int($0.rawValue) * 3 - 1 }
    for type in PushType.allCases { #expect(signers[type] == Int(type.rawValue) * 3 - 1) }
    #expect(PushType.allCases.allSatisfy { PushSigners()[$0] == 0 && PushSigners(PushSigners.none)[$0] == PushSigners.none })
  }
}
