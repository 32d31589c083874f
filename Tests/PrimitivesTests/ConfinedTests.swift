import Primitives
import Testing

/// A value at a fixed address: read and changed in place by its owner, and ended with it.
@Suite struct ConfinedTests {
  private final class Witness {}

  private struct State: ~Copyable {
    var items: [Int] = []
    let witness: Witness

    mutating func add(_ item: Int) -> Int {
      items.append(item)
      return items.count
    }
  }

  private final class Owner {
    let state: Confined<State>
    init(_ witness: Witness) { state = Confined(State(witness: witness)) }
  }

  @Test func aValueIsReadAndChangedInPlace() {
    let owner = Owner(Witness())
    let counts = (1...100).map { owner.state.value.add($0) }
    #expect(counts == Array(1...100))
    #expect(owner.state.value.items == Array(1...100))
    owner.state.value.items = []
    #expect(owner.state.value.add(7) == 1)
  }

  @Test func aValueEndsWithItsOwner() {
    weak var witness: Witness?
    do {
      let held = Witness()
      witness = held
      let owner = Owner(held)
      _ = owner.state.value.add(1)
    }
    #expect(witness == nil)
  }
}
