import Push
import Testing

@Suite("Fair shares") struct FairShareTests {
  /// Whatever the others have: an app that has none gets one, until there is none left at all.
  @Test(arguments: [1, 2, 3, 4, 8, 64]) func nobodyIsShutOutByOneAnother(all: Int) {
    let share = FairShare(of: all)
    for greedy in 1...3 {
      // So many apps, each with a token of its own, take what they get.
      var has = [Int](repeating: 0, count: greedy)
      var isGoingOn = true
      while isGoingOn {
        isGoingOn = false
        for app in 0..<greedy
        where share.refusal(used: has.reduce(0, +), token: ("\(app)", has[app]), apps: [("com.\(app)", has[app])]) == nil {
          has[app] += 1
          isGoingOn = true
        }
      }
      #expect(has.allSatisfy { $0 <= share.ofApp })
      let used = has.reduce(0, +)
      let refusal = share.refusal(used: used, token: ("new", 0), apps: [("com.new", 0)])
      if all > greedy { #expect(refusal == nil, "\(all) for \(greedy)") } else { #expect(refusal == (used < all ? nil : .all(all))) }
    }
  }

  @Test func theSentencesSayWhoseShareIsUsedUp() {
    #expect(ShareRefusal.token("ci", share: 4).sentence("faults") == #"the access token "ci" has its share of faults, which is 4"#)
    #expect(ShareRefusal.app("com.a", share: 2).sentence("faults") == #"the app "com.a" has its share of faults, which is 2"#)
    #expect(ShareRefusal.kept(of: 8).sentence("faults") == "the last of the 8 faults are kept for those who have none")
    #expect(ShareRefusal.all(8).sentence("faults") == "there are 8 faults already, which is the most")
  }
}
