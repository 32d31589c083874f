import Primitives
import Testing

@testable import Reactor

/// Who has a turn in which round, where there is more work than a round has room for.
@Suite("Turns") struct TurnTests {
  /// Does `work` in each of so many turns, and notes in which rounds.
  private final class Worker: ReadinessHandler {
    let loop: EventLoop
    let work: Int
    let queue: EventLoop.Queue
    var left: Int
    var key = SlabKey(index: 0, generation: 0)
    var rounds: [Int] = []
    let round: () -> Int

    init(_ loop: EventLoop, work: Int, turns: Int, in queue: EventLoop.Queue = .more, round: @escaping () -> Int) {
      (self.loop, self.work, left, self.queue, self.round) = (loop, work, turns, queue, round)
    }

    func ready(_ readiness: Readiness) {
      rounds.append(round())
      loop.spend(work)
      left -= 1
      if left > 0 { loop.resume(key, in: queue) }
    }
  }

  /// Workers by their work, number of turns and queue, after as many rounds as it takes: the rounds that each had turns in.
  private func run(workPerRound: Int, _ plans: [(work: Int, turns: Int, queue: EventLoop.Queue)]) throws -> [[Int]] {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    loop.workPerRound = workPerRound
    var round = 0
    var sockets: [ListeningSocket] = []
    var workers: [Worker] = []
    for plan in plans {
      let socket = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))[0]
      let worker = Worker(loop, work: plan.work, turns: plan.turns, in: plan.queue) { round }
      worker.key = try loop.watch(raw: try #require(socket.raw), worker)
      sockets.append(socket)
      workers.append(worker)
    }
    // What the kernel has to tell of new sockets comes first, and is nobody's turn.
    loop.turn(waitingAtMost: .zero)
    for worker in workers {
      worker.rounds = []
      worker.left = plans[workers.firstIndex { $0 === worker }!].turns
      loop.resume(worker.key, in: worker.queue)
    }
    while workers.contains(where: { $0.left > 0 }) {
      round += 1
      try #require(round < 1000)
      loop.turn(waitingAtMost: .zero)
    }
    loop.close()
    return workers.map(\.rounds)
  }

  @Test func withoutABoundEverybodyHasATurnEachRound() throws {
    #expect(try run(workPerRound: .max, [(5, 3, .more), (5, 2, .more)]) == [[1, 2, 3], [1, 2]])
  }

  @Test func aRoundEndsWithItsWork() throws {
    // Two of five fit a round of ten; the third begins the next one, and who asked again comes after all others.
    #expect(try run(workPerRound: 10, [(5, 2, .more), (5, 2, .more), (5, 1, .more)]) == [[1, 2], [1, 3], [2]])
  }

  @Test func oneHasATurnInEveryRound() throws {
    #expect(try run(workPerRound: 1, [(100, 2, .more), (100, 2, .more)]) == [[1, 3], [2, 4]])
  }

  @Test func beginningsWaitForOthersAndAreNotForgotten() throws {
    let rounds = try run(workPerRound: 10, [(100, 3, .more), (4, 4, .beginning), (4, 1, .beginning)])
    // Beside the heavy one, one of them a round; then as many as fit.
    #expect(rounds == [[1, 2, 3], [1, 3, 4, 5], [2]])
  }

  @Test(arguments: [1, 1023, 1024, 1025, 5000]) func queuesAreFirstComeFirstServed(count: Int) {
    var queue = TurnQueue()
    var (next, expected) = (UInt32(0), UInt32(0))
    for step in 0..<3 * count {
      queue.append(SlabKey(index: next, generation: 0))
      next += 1
      guard step >= count else { continue }
      #expect(queue.takeFirst() == SlabKey(index: expected, generation: 0))
      expected += 1
      #expect(queue.count == Int(next - expected))
    }
    while let key = queue.takeFirst() {
      #expect(key.index == expected)
      expected += 1
    }
    #expect(expected == next && queue.isEmpty && queue.takeFirst() == nil)
  }
}
