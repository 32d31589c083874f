import Delivery
import Primitives
import Testing

@Suite("Shares of upstreams") struct UpstreamSharesTests {
  /// Takes as much as it gets, `step` at a time.
  private func fill(_ shares: inout UpstreamShares, _ upstream: UInt16, step: Int = 1) -> Int {
    var taken = 0
    while shares.room(for: upstream) >= step {
      shares.add(step, to: upstream)
      taken += step
    }
    return taken
  }

  @Test func oneUpstreamCanHaveAll() {
    var shares = UpstreamShares(of: 1000, upstreams: 1)
    #expect(fill(&shares, 0) == 1000 && shares.room(for: 0) == 0)
    #expect(shares.most(for: 0) == 1000)
  }

  /// However many others have taken all that they get, each finds what is kept for it.
  @Test(arguments: [2, 3, 10, 256]) func noneTakesWhatIsKeptForAnother(upstreams: Int) {
    var shares = UpstreamShares(of: 100_000, upstreams: upstreams)
    let reserve = 100_000 / (2 * upstreams)
    for upstream in 0..<upstreams {
      #expect(shares.room(for: UInt16(upstream)) >= reserve)
      let taken = fill(&shares, UInt16(upstream))
      #expect(taken >= reserve)
      #expect(shares.held[upstream] == taken)
    }
    #expect(shares.heldInAll <= 100_000)
  }

  /// Numbers that no upstream has share one place, for which nothing is kept.
  @Test func whatGoesNowhereTakesTheFreeHalfAlone() {
    var shares = UpstreamShares(of: 1000, upstreams: 2)
    #expect(!shares.isKnown(2) && !shares.isKnown(.max) && shares.isKnown(1))
    #expect(fill(&shares, .max) == 500)
    #expect(shares.room(for: 2) == 0)
    #expect(fill(&shares, 0) == 250 && fill(&shares, 1) == 250)
    shares.clear()
    #expect(shares.heldInAll == 0 && shares.room(for: 0) == 750)
  }

  @Test func withoutUpstreamsAllIsShared() {
    var shares = UpstreamShares(of: 10, upstreams: 0)
    #expect(fill(&shares, 7) == 10)
  }

  /// Takes and gives at random: nobody is refused what is kept for it, the sum never passes the total, and in the end all is as at first.
  @Test(arguments: 0..<20) func atRandom(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let upstreams = Int.random(in: 1...8, using: &generator)
    let empty = UpstreamShares(of: Int.random(in: 100...10_000, using: &generator), upstreams: upstreams)
    var shares = empty
    var lent: [(UInt16, Int)] = []
    for _ in 0..<5000 {
      let upstream = UInt16.random(in: 0...UInt16(upstreams), using: &generator)
      if Int.random(in: 0..<3, using: &generator) > 0 || lent.isEmpty {
        let amount = Int.random(in: 1...64, using: &generator)
        let isKept = shares.isKnown(upstream) && shares.held[Int(upstream)] + amount <= shares.reserve
        let isGiven = amount <= shares.room(for: upstream)
        #expect(isGiven || !isKept, "what is kept is given")
        guard isGiven else { continue }
        shares.add(amount, to: upstream)
        lent.append((upstream, amount))
        #expect(shares.heldInAll <= shares.total)
      } else {
        let (upstream, amount) = lent.remove(at: Int.random(in: 0..<lent.count, using: &generator))
        shares.add(-amount, to: upstream)
      }
    }
    for (upstream, amount) in lent { shares.add(-amount, to: upstream) }
    #expect(shares.held == empty.held && shares.heldInAll == 0)
    for upstream in 0...upstreams { #expect(shares.room(for: UInt16(upstream)) == empty.room(for: UInt16(upstream))) }
  }
}
