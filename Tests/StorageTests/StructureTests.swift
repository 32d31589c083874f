import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

@Suite("Structures") struct StructureTests {
  /// Random insertions, replacements and removals against a dictionary, with hashes that collide often.
  @Test(arguments: seeds(12)) func theIndexIsADictionary(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var index = HashIndex()
    var model: [UInt32: UInt64] = [:]
    let spread = UInt64(seed % 3 == 0 ? 8 : 3000)
    for step in 0..<20_000 {
      let value = UInt32.random(in: 0..<(seed % 2 == 0 ? 200 : 4000), using: &generator)
      if let hash = model[value] {
        if Bool.random(using: &generator) {
          index.remove(hash, value)
          model[value] = nil
        } else if step % 5 == 0 {
          index.replace(hash, value, with: value + 10_000)
          index.replace(hash, value + 10_000, with: value)
        }
      } else {
        let hash = UInt64.random(in: 0..<spread, using: &generator) << 32 | 0xABCD
        index.insert(hash, value)
        model[value] = hash
      }
      #expect(index.count == model.count)
      if step % 500 == 0 {
        for (value, hash) in model { #expect(index.find(hash) { $0 == value } == value) }
        for value in UInt32(0)..<200 where model[value] == nil { #expect(index.find(3 << 32) { $0 == value } == nil) }
      }
    }
  }

  @Test(arguments: seeds(5)) func theTableKnowsItsTokens(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    var table = TokenTable(capacity: 5000, seed: seed)
    var model: [DeviceToken: UInt32] = [:]
    for _ in 0..<20_000 {
      let number = Int.random(in: 0..<1000, using: &generator)
      let token = Bench.token(number, count: [8, 32, 33, 100][number % 4])
      let found = table.find(token)
      #expect(found == model[token])
      if let found, Bool.random(using: &generator) {
        table.remove(found, isLoading: false)
        model[token] = nil
      } else if found == nil {
        model[token] = table.insert(token, kind: .app, route: 0, registered: .distantPast)
        #expect(model[token] != nil)
      }
    }
    #expect(table.activeCount == model.count)
    #expect(Set(model.values).count == model.count)
    #expect(table.end <= 1000, "numbers are given out again")
    for (token, number) in model {
      let known = table.token(number)
      #expect(known == token)
    }
  }

  @Test func aFullTableSaysSo() {
    var table = TokenTable(capacity: 100, seed: 1)
    var count = 0
    while table.insert(Bench.token(count), kind: .app, route: 0, registered: .distantPast) != nil { count += 1 }
    #expect(count >= 100 && count <= 4096)
  }

  /// What a decision touches must stay in two cache lines; a million of them is a third of a gateway's memory.
  @Test func sizes() {
    #expect(MemoryLayout<Token>.stride <= 128)
    #expect(MemoryLayout<LogEntry>.stride <= 192)
    #expect(MemoryLayout<LogStep>.stride == 24)
    #expect(PushLog.stepsMax == Limits.stepsPerPush)
  }

  @Test(arguments: seeds(5)) func dirtyPagesComeOutInOrder(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var pages = DirtyPages(capacity: 100)
    var model: Set<Int> = []
    for _ in 0..<300 {
      let page = Int.random(in: 0..<1000, using: &generator)
      pages.insert(page)
      model.insert(page)
    }
    #expect(pages.count == model.count)
    var from = 300
    while let page = pages.pop(from: from) {
      #expect(page == model.filter { $0 >= from }.min())
      model.remove(page)
      from = page + 1
    }
    #expect(model.allSatisfy { $0 < 300 })
    #expect(pages.count == model.count)
  }

  @Test func journalSizes() {
    var sizes = JournalSizes()
    for number in UInt64(1)...5000 { sizes.append(number, 36) }
    #expect(sizes.bytes == 5000 * 100)
    var slice = sizes.slice(through: 10, bytesMax: 250)
    #expect(slice.count == 3 && slice.last == 3)
    slice = sizes.slice(through: 2, bytesMax: 1_000_000)
    #expect(slice.count == 2 && slice.last == 2)
    #expect(sizes.slice(through: 0, bytesMax: 1000).last == nil)
    sizes.removeFirst(4000)
    #expect(sizes.first == 4001 && sizes.bytes == 1000 * 100)
    sizes.removeFirst(1000)
    #expect(sizes.first == nil && sizes.bytes == 0)
  }

  /// A later build has more cases in other places; what an earlier one saved still means the same.
  @Test func savedNumbersDoNotMove() {
    let fresh = Vocabulary([])
    #expect(fresh.added.count > 100)
    var earlier: [(word: String, number: UInt8)] = []
    for (index, cause) in Cause.allCases.enumerated().reversed() where cause != .inFlight {
      earlier.append(("cause.\(cause)", UInt8(index + 3)))
    }
    earlier.append(("cause.goneInThisBuild", 200))
    let vocabulary = Vocabulary(earlier)
    for (index, cause) in Cause.allCases.enumerated() where cause != .inFlight {
      #expect(vocabulary.number(.cause, cause.rawValue) == UInt8(index + 3))
      #expect(vocabulary.value(.cause, UInt8(index + 3)) == cause.rawValue)
    }
    #expect(vocabulary.number(.cause, Cause.inFlight.rawValue) == 201)
    #expect(vocabulary.value(.cause, 200) == nil)
    #expect(vocabulary.added.contains { $0.word == "cause.inFlight" && $0.number == 201 })
    let warnings: PushWarnings = [PushWarnings(.notJSON), PushWarnings(.priorityMissing), PushWarnings(.customKeys)]
    #expect(vocabulary.map(vocabulary.map(warnings, saving: true), saving: false) == warnings)
  }

  @Test func malformedBytesAreRefused() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    for id in 0..<5 { try bench.push(id, .alert) }
    let arena = ByteArena(capacity: 64)
    bench.state.writeTokenPage(0, to: arena)
    let bytes = Array(arena.buffer)
    for length in 1..<bytes.count {
      var state = StoreState(settings: bench.settings, resolver: Bench.resolver(bench.apps))
      var loader = StateLoader(logCapacity: 256)
      _ = state.routes.number(of: RouteName(bundleID: Bench.bundle, environment: .development, upstream: nil))
      let outcome = bytes.prefix(length).withUnsafeBytes { part in
        Result { try loader.take(.tokenPage(number: 0, part), &state, at: .distantPast) }
      }
      // Cut between two records is a shorter page; cut within one is an error. Neither reads past the end.
      if case .success = outcome { #expect(state.tokens.activeCount == 0) }
    }
  }
}
