import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// Random lives of a few tokens, with folds and crashes at random, on good engines and on broken ones.
@Suite("Simulation") struct SimulationTests {
  @Test(arguments: seeds(10)) func nothingIsLost(seed: UInt64) throws {
    var run = try Run(seed: seed, MemoryEngine())
    let fault = try run.play(steps: 600) ?? run.drain()
    #expect(fault == nil)
  }

  @Test(arguments: seeds(4)) func nothingIsLostInAFile(seed: UInt64) throws {
    let folder = Folder()
    defer { folder.remove() }
    var run = try Run(seed: seed, try SQLiteEngine(path: folder.store))
    let fault = try run.play(steps: 150) ?? run.drain()
    #expect(fault == nil)
  }

  /// A test that a broken store passes would prove nothing.
  @Test func earlyTrimmingIsSeen() throws {
    let found = try (UInt64(1)...10).filter { seed in
      var run = try Run(seed: seed, EarlyTrimmingEngine(MemoryEngine()))
      return try run.play(steps: 600) != nil
    }
    #expect(found.count >= 5)
  }

  @Test func aMissingJournalIsSeen() throws {
    var run = try Run(seed: 1, UnjournaledEngine(MemoryEngine()))
    #expect(try run.play(steps: 600) != nil)
  }

  /// One run; its methods answer what went wrong, or nil.
  struct Run {
    private static let tokens = 12
    private static let kinds: [TokenKind] = [.widgets, .controls, .liveactivity, .app]
    let bench: Bench
    var generator: SplitMix64
    private var nextID = 1
    private var accepted: Set<PushID> = []
    private var inFlight: [PushID: PushTicket] = [:]
    private var seen = 0

    init(seed: UInt64, _ engine: any Engine) throws {
      var policy = AppPolicy()
      policy.controls = BudgetParameters(allowance: 6, burst: 3, window: .seconds(600), minimumInterval: .seconds(7))
      policy.widgets = BudgetParameters(allowance: 5, burst: 1, window: .seconds(900), minimumInterval: .seconds(20))
      bench = try Bench(policy: policy, engine: engine) {
        $0.foldSliceBytes = 100
        $0.seed = seed
      }
      generator = SplitMix64(seed: seed)
      // Others between them, so that their states lie in several pages.
      for number in 0..<Self.tokens {
        try register(number)
        for filler in 0..<20 { try bench.register(Bench.registration(1000 + 20 * number + filler, .app)) }
      }
    }

    mutating func play(steps: Int) throws -> String? {
      for number in 0..<steps {
        do {
          try step()
        } catch let error as StoreError {
          return "\(error)"
        }
        if number % 10 == 0, let fault = check() { return fault }
      }
      return nil
    }

    /// Lets everything come to its end.
    mutating func drain() throws -> String? {
      for _ in 0..<2000 where bench.state.counters.waiting + bench.state.counters.inFlight > 0 {
        for id in inFlight.keys.sorted(by: { $0.low < $1.low }) { try complete(id, .accepted) }
        try bench.advance(to: bench.now + .seconds(60))
        collect()
        if let fault = check() { return fault }
      }
      let open = bench.state.endings().filter { $0.value == nil }
      if !open.isEmpty { return "\(open.count) pushes never ended" }
      if bench.state.pool.lentBytes != 0 { return "\(bench.state.pool.lentBytes) bytes were never given back" }
      return nil
    }

    /// Reads what the engine has saved beside the state that works on, and tells where they differ.
    mutating func compareWithSaved() throws -> String? {
      try bench.commit()
      let saved = try StoreState.load(bench.engine, settings: bench.settings, resolver: Bench.resolver(bench.apps), at: bench.now)
      let (ours, theirs) = (bench.state.durable(exact: false), saved.durable(exact: false))
      if ours != theirs {
        let lines = Set(ours.split(separator: "\n")).symmetricDifference(theirs.split(separator: "\n"))
        return "tokens differ from what is saved: \(lines.sorted().joined(separator: "\n"))"
      }
      return bench.state.endings() == saved.endings() ? nil : "pushes differ from what is saved"
    }

    private mutating func step() throws {
      let token = Int.random(in: 0..<Self.tokens, using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<8: try register(token)
      case 8..<10: _ = try bench.unregister(token)
      case 10..<55: try push(token)
      case 55..<75:
        if let id = inFlight.keys.sorted(by: { $0.low < $1.low }).randomElement(using: &generator) { try complete(id, outcome()) }
      case 75..<85:
        try bench.advance(to: bench.now + .milliseconds(Int64.random(in: 0...60_000, using: &generator)))
        collect()
      case 85..<88: bench.startFolding()
      case 88..<96: try bench.commit()
      case 96..<98: _ = bench.setBudget(token, index: nil, credits: Int64.random(in: -2...3, using: &generator))
      default: try crash()
      }
    }

    private mutating func register(_ number: Int) throws {
      var registration = Bench.registration(number, Self.kinds[number % Self.kinds.count])
      if registration.kind == .widgets {
        registration.widgets = (0..<Int.random(in: 0...3, using: &generator)).map {
          Registration.Widget(id: nil, kind: "k\($0 % 2)", family: "f")
        }
      }
      registration.developerMode = Int.random(in: 0..<8, using: &generator) == 0
      registration.frequentUpdates = Bool.random(using: &generator)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        registration.budget = .init(allowance: Int64.random(in: 1...9, using: &generator), window: .seconds(700))
        registration.quietHours = QuietHours(
          from: UInt16.random(in: 0..<1440, using: &generator), to: UInt16.random(in: 0..<1440, using: &generator))
      }
      let rotated = Int.random(in: 0..<4, using: &generator) == 0 ? Int.random(in: 0..<Self.tokens, using: &generator) : nil
      try bench.register(registration, replacing: rotated.map { Bench.token($0) })
    }

    private mutating func push(_ number: Int) throws {
      let kind = Self.kinds[number % Self.kinds.count]
      let type: PushType = [.widgets, .controls, .liveactivity, .alert][number % Self.kinds.count]
      var traits: PushTraits?
      if kind == .liveactivity {
        let lane = [LaneClass.activityUpdate, .activityUpdate, .activityEndWithState, .keep].randomElement(using: &generator)!
        traits = PushTraits(lane: lane, activity: .update, hasContentState: true, timestamp: Int64.random(in: 0...2, using: &generator))
      }
      let date = bench.now + .seconds(Int64.random(in: -1...3000, using: &generator))
      let expiration = [Expiration.absent, .absent, .zero, .at(date)].randomElement(using: &generator)!
      let id = nextID
      nextID += 1
      let result = try bench.push(id, to: number, type, traits: traits, expiration: expiration, payload: "payload \(id)")
      if result.disposition != .refused { accepted.insert(Bench.id(id)) }
      collect()
    }

    private mutating func complete(_ id: PushID, _ outcome: UpstreamOutcome) throws {
      guard let ticket = inFlight.removeValue(forKey: id) else { return }
      let batch = Batch()
      batch.completions.append(CompleteOperation(ticket: ticket, outcome: outcome))
      try bench.settle(batch)
      collect()
    }

    private mutating func outcome() -> UpstreamOutcome {
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<8: .accepted
      case 8..<11: .finished(.applied, .reloaded)
      case 11..<14: .retry(.upstreamUnavailable)
      case 14..<17: .notAttempted(.upstreamBusy)
      case 17: Bool.random(using: &generator) ? .unregistered(bench.now) : .expired(bench.now)
      case 18: .suspect
      default: .refused(status: 400, .badTopic)
      }
    }

    private mutating func crash() throws {
      try bench.commit()
      let before = bench.state.durable(exact: false)
      let endings = bench.state.endings()
      try bench.crash()
      inFlight.removeAll()
      seen = bench.forwarded.count
      let after = bench.state.durable(exact: false)
      if after != before {
        let lines = Set(before.split(separator: "\n")).symmetricDifference(after.split(separator: "\n"))
        throw StoreError.engine("tokens differ after a crash: \(lines.sorted().joined(separator: "\n"))")
      }
      if bench.state.endings() != endings { throw StoreError.engine("pushes differ after a crash") }
    }

    /// Takes note of what was sent out.
    private mutating func collect() {
      for sent in bench.forwarded[seen...] {
        inFlight[sent.push.id] = sent.push.ticket
        guard sent.payload == "payload \(sent.push.id.low)" else { preconditionFailure("a payload changed") }
      }
      seen = bench.forwarded.count
    }

    private func check() -> String? {
      let state = bench.state.counters
      if state.inFlight != inFlight.count { return "\(state.inFlight) in flight, \(inFlight.count) known" }
      let endings = bench.state.endings()
      for id in accepted where endings[id] == nil { return "\(id) was accepted and is not known" }
      var live = 0
      for number in 0..<bench.state.tokens.end where bench.state.tokens[number].pointee.flags.contains(.used) {
        let token = bench.state.tokens[number].pointee
        if token.laneCount > 16 { return "a lane of \(token.laneCount)" }
        var count = 0
        var slot = token.laneHead
        while slot != none {
          count += 1
          if endings[bench.state.pushes[slot].pointee.id] != .some(nil) { return "a push waits that has ended" }
          slot = bench.state.pushes[slot].pointee.next
        }
        if count != Int(token.laneCount) { return "a lane of \(count) counts \(token.laneCount)" }
        live += count + (token.inFlight == none ? 0 : 1)
      }
      if live != endings.values.filter({ $0 == nil }).count { return "\(live) live pushes, but others have not ended" }
      if live != state.waiting + state.inFlight { return "\(live) live pushes counted as \(state.waiting) and \(state.inFlight)" }
      return nil
    }
  }
}
