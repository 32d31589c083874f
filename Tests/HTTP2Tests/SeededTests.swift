import HTTP2
import Primitives
import Seeds
import Testing

extension SplitMix64 {
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

/// Long random runs from a seed; the seed is the test's argument, so that a failure can be run again.
@Suite("Seeded") struct SeededTests {
  /// Recorded connections with random damage, in random pieces: the session may refuse anything, but it keeps its accounts.
  @Test(arguments: seeds(40)) func damagedBytes(seed: UInt64) {
    var numbers = SplitMix64(seed: seed)
    let pool = makePool(8)
    for _ in 0..<25 {
      var bytes = preface + (0..<6).flatMap { request(UInt32(2 * $0 + 1)) }
      bytes += Frame(kind: .ping, payload: Array(0..<8)).bytes + Frame(kind: .reset, stream: 11, payload: big(8)).bytes
      for _ in 0...numbers.below(6) {
        // Mostly beyond the preface, or nothing else would ever be tried.
        let place = numbers.chance(5) ? numbers.below(24) : 24 + numbers.below(bytes.count - 24)
        switch numbers.below(3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: numbers.next())
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8(truncatingIfNeeded: numbers.next()), at: place)
        }
      }
      let server = TestServer(pool: pool)
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(1 + numbers.below(900)))
        rest = rest.dropFirst(piece.count)
        server.receive(piece)
        while let exchange = server.ready() {
          guard numbers.chance(80) else { continue }
          server.respond(exchange, 200 + numbers.below(300), body: numbers.chance(50) ? payload : [])
        }
        if numbers.chance(70) { _ = server.drained() }
      }
    }
    #expect(pool.openExchanges == 0 && pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
    #expect(pool.nextToDrain() == nil)
  }

  /// Both sides at random: sent, cancelled, answered in any order and size, refused, cut into pieces, and at the end shut
  /// down or lost. Every request gets one answer, and a response is the one that was given to it.
  @Test(arguments: seeds(60)) func everyRequestGetsOneAnswer(seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    let pool = makePool(1 + numbers.below(20))
    let memory = SessionMemory(blockBytesMax: 16 << 20)
    do {
      let (client, server) = (TestClient(memory: memory), TestServer(pool: pool) { $0.concurrentStreams = 24 })
      converse(client, server)
      var sent: [UInt64: RequestKey] = [:]
      var answered: [UInt64: AnswerRecord] = [:]
      var given: [String: (status: Int, body: [UInt8])] = [:]
      var waiting: [ExchangeKey] = []
      var tag: UInt64 = 0

      func body(of tag: UInt64) -> [UInt8] { (0..<Int(tag % 700)).map { UInt8(truncatingIfNeeded: UInt64($0) &* (tag | 1)) } }
      func answer(_ key: ExchangeKey) {
        guard let exchange = pool.exchange(for: key), let name = exchange.text(.idempotencyKey) else { return }
        #expect(exchange.bodyBytes == body(of: UInt64(name)!))
        let (status, body) = (
          [200, 400, 410, 429][numbers.below(4)], [UInt8](repeating: 7, count: numbers.chance(50) ? 0 : numbers.below(3000))
        )
        given[name] = (status, body)
        server.respond(exchange, status, [(.apnsID, name)], body: body)
      }
      func collect() {
        for record in client.answers() {
          #expect(answered.updateValue(record, forKey: record.tag) == nil, "one answer for each request")
        }
      }
      for _ in 0..<400 {
        switch numbers.below(6) {
        case 0, 1:
          tag += 1
          let fields = clientPush(Int(tag)) + [(.idempotencyKey, "\(tag)")]
          if let key = client.send(fields, body: body(of: tag), tag: tag) { sent[tag] = key }
        case 2:
          if let victim = sent.keys.sorted().last, numbers.chance(20) { client.cancel(sent[victim]!) }
        case 3:
          while let exchange = server.ready() { waiting.append(exchange.key) }
          if !waiting.isEmpty { answer(waiting.remove(at: numbers.below(waiting.count))) }
        case 4: server.receive(client.drained())
        default:
          client.receive(server.drained())
          collect()
        }
      }
      if numbers.chance(50) { server.goAway(debug: "bye") }
      for _ in 0..<3 {
        converse(client, server)
        while let exchange = server.ready() { waiting.append(exchange.key) }
        while let key = waiting.popLast() { answer(key) }
        collect()
      }
      if numbers.chance(50) { client.disconnect() } else { converse(client, server) }
      collect()
      #expect(Set(answered.keys) == Set(sent.keys))
      for (tag, record) in answered where record.failure == nil {
        let expected = try #require(given["\(tag)"])
        #expect(record.status == expected.status && record.body == Array(expected.body.prefix(4096)))
        #expect(record.fields.contains(["apns-id", "\(tag)"]))
      }
      #expect(client.openStreams == 0)
    }
    #expect(pool.openExchanges == 0 && pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
    #expect(memory.blocks.lentBytes == 0 && memory.liveAllocations == 0)
  }
}
