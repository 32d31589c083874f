import Primitives
import Synchronization
import Testing

@testable import Reactor

/// Where one thread leaves its mailbox for another.
private final class Shared: Sendable {
  let mailbox = Mutex<Mailbox<Int>?>(nil)
}

@Suite("Mailbox") struct MailboxTests {
  /// Four threads send while the loop sleeps and wakes; nothing is lost, and each sender's order holds.
  @Test func messagesFromManyThreadsArriveInOrder() throws {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    var received: [[Int]] = [[], [], [], []]
    var total = 0
    let mailbox = loop.makeMailbox(capacity: 100_000, of: (sender: Int, number: Int).self) { message in
      received[message.sender].append(message.number)
      total += 1
      if total == 40_000 { loop.stop() }
    }
    let threads = try (0..<4).map { sender in
      try Thread.start(name: "sender") {
        for number in 0..<10_000 { mailbox.post((sender, number)) }
      }
    }
    loop.run()
    for thread in threads { thread.join() }
    #expect(received == Array(repeating: Array(0..<10_000), count: 4))
  }

  /// Two loops that sleep without a deadline answer each other 2000 times: no wake-up is lost.
  @Test func pingPongBetweenTwoSleepingLoops() throws {
    let here = try EventLoop(clock: { Instant(unixSeconds: 0) })
    let there = Shared()
    var last = 0
    let replies = here.makeMailbox(capacity: 1, of: Int.self) { number in
      last = number
      there.mailbox.withLock { _ = $0?.post(number == 2000 ? -1 : number + 1) }
      if number == 2000 { here.stop() }
    }
    let thread = try Thread.start(name: "there") {
      let loop = try! EventLoop(clock: { Instant(unixSeconds: 0) })
      let handle = loop.handle
      let box = loop.makeMailbox(capacity: 1, of: Int.self) { number in
        if number < 0 { handle.stop() } else { replies.post(number) }
      }
      there.mailbox.withLock { $0 = box }
      replies.post(0)
      loop.run()
    }
    here.run()
    thread.join()
    #expect(last == 2000)
  }

  @Test func aFullMailboxRefusesAndLaterTakesAgain() throws {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    var received: [Int] = []
    let mailbox = loop.makeMailbox(capacity: 2, of: Int.self) { received.append($0) }
    #expect(mailbox.post(1) && mailbox.post(2) && !mailbox.post(3))
    loop.turn()
    #expect(mailbox.post(4))
    loop.turn()
    #expect(received == [1, 2, 4])
  }

  @Test func aMailboxWhoseLoopIsGoneRefuses() throws {
    var loop: EventLoop? = try EventLoop(clock: { Instant(unixSeconds: 0) })
    let mailbox = try #require(loop).makeMailbox(capacity: 2, of: Int.self) { _ in }
    loop = nil
    #expect(!mailbox.post(1))
  }
}
