import Primitives
import Testing

@Suite("Slab") struct SlabTests {
  /// Every sequence of six insertions and removals over three slots leaves what a dictionary leaves.
  @Test func everyShortHistory() {
    for history in 0..<4096 {
      var slab = Slab<Int>(capacity: 3)
      var model: [SlabKey: Int] = [:]
      var given: [SlabKey] = []
      var code = history
      for step in 0..<6 {
        let choice = code % 4
        code /= 4
        if choice == 0 || given.isEmpty {
          let key = slab.insert(step)
          #expect((key == nil) == (model.count == 3), "history \(history), step \(step)")
          guard let key else { continue }
          #expect(model[key] == nil && !given.contains(key), "a key is never given twice: history \(history)")
          model[key] = step
          given.append(key)
        } else {
          let key = given[(choice - 1) % given.count]
          #expect(slab.remove(key) == model.removeValue(forKey: key), "history \(history), step \(step)")
        }
        #expect(slab.count == model.count)
        for key in given { #expect(slab[key] == model[key], "history \(history), step \(step)") }
      }
    }
  }

  @Test func elementsNeedNotBeCopyable() {
    var slab = Slab<ByteQueue>(capacity: 2)
    let key = slab.insert(ByteQueue(capacity: 16))!
    #expect(slab.with(key) { $0.append("abc") } == 3)
    #expect(slab.with(key) { $0.count } == 3)
    slab.remove(key)
    #expect(slab.with(key) { $0.count } == nil)
  }

  @Test func elementsAreReleasedWithTheSlab() {
    final class Witness {}
    weak var witness: Witness?
    do {
      var slab = Slab<Witness>(capacity: 4)
      let fresh = Witness()
      witness = fresh
      _ = slab.insert(fresh)
    }
    #expect(witness == nil)
  }

  @Test func forEachVisitsTheFilledSlots() {
    var slab = Slab<Int>(capacity: 8)
    let keys = (0..<5).map { slab.insert($0)! }
    slab.remove(keys[1])
    var seen: [Int] = []
    slab.forEach { key, element in
      #expect(key == keys[element])
      seen.append(element)
    }
    #expect(seen == [0, 2, 3, 4])
  }

  @Test func keysPackInto64Bits() {
    let key = SlabKey(index: 7, generation: .max)
    #expect(SlabKey(packed: key.packed) == key)
  }
}
