import Delivery
import Primitives
import Seeds
import Testing

@Suite("Retry and due heap") struct TimingTests {
  @Test func delaysDoubleUpToTheLongest() {
    let retry = Retry(first: .milliseconds(250), longest: .seconds(60))
    var generator = SplitMix64(seed: 3)
    for failures in 1...100 {
      let full = min(250 * pow2(failures - 1), 60_000)
      var seen: Set<Int64> = []
      for _ in 0..<50 {
        let delay = retry.delay(afterFailures: failures, using: &generator)
        #expect(delay >= .milliseconds(full / 2) && delay <= .milliseconds(full))
        seen.insert(delay.nanoseconds)
      }
      #expect(seen.count > 40, "the delays are drawn at random")
    }
  }

  private func pow2(_ n: Int) -> Int64 { n > 20 ? 1 << 20 : 1 << Int64(n) }

  @Test func theSameSeedGivesTheSameDelays() {
    let retry = Retry(first: .milliseconds(1), longest: .seconds(1))
    var (a, b) = (SplitMix64(seed: 9), SplitMix64(seed: 9))
    for failures in 1...20 {
      #expect(retry.delay(afterFailures: failures, using: &a) == retry.delay(afterFailures: failures, using: &b))
    }
  }

  /// Random insertions and removals against a sorted list.
  @Test(arguments: seeds(20)) func theHeapKeepsOrder(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var heap = DueHeap()
    var model: [(due: Instant, key: UInt32)] = []
    for step in 0..<2000 {
      if Int.random(in: 0..<3, using: &generator) > 0 {
        let due = Instant(nanoseconds: Int64.random(in: 0...300, using: &generator))
        heap.insert(UInt32(step), due: due)
        model.append((due, UInt32(step)))
      } else {
        let now = Instant(nanoseconds: Int64.random(in: 0...300, using: &generator))
        let earliest = model.map(\.due).min()
        let entry = heap.popDue(at: now)
        #expect(entry?.due == (earliest.map { $0 <= now } ?? false ? earliest : nil))
        if let entry {
          let index = model.firstIndex { $0.key == entry.key }!
          #expect(model[index].due == entry.due)
          model.remove(at: index)
        }
      }
      if step == 1000 {
        heap.compact { $0.key % 2 == 0 }
        model.removeAll { $0.key % 2 != 0 }
      }
      #expect(heap.count == model.count)
      #expect(heap.first?.due == model.map(\.due).min())
    }
  }
}
