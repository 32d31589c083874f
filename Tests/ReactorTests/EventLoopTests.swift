import Foundation
import Primitives
import Testing

@testable import Reactor

@Suite("EventLoop") struct EventLoopTests {
  @Test func aRoundHandlesThenDecidesThenFlushes() throws {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    var log: [String] = []
    let mailbox = loop.makeMailbox(capacity: 4, of: Int.self) { log.append("message \($0)") }
    loop.atEveryRoundEnd(.flush) { log.append("flush") }
    loop.atEveryRoundEnd { log.append("decide 1") }
    loop.atEveryRoundEnd { log.append("decide 2") }
    mailbox.post(1)
    mailbox.post(2)
    loop.turn()
    #expect(log == ["message 1", "message 2", "decide 1", "decide 2", "flush"])
  }

  @Test func resumedHandlersRunInTheNextRoundWithoutWaiting() throws {
    final class Counting: ReadinessHandler {
      var key = SlabKey(index: 0, generation: 0)
      var runs = 0
      let loop: EventLoop
      init(_ loop: EventLoop) { self.loop = loop }
      func ready(_ readiness: Readiness) {
        runs += 1
        if runs < 4 { loop.resume(key) }
      }
    }
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    let sockets = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))
    let handler = Counting(loop)
    handler.key = try loop.watch(raw: try #require(sockets[0].raw), handler)
    loop.resume(handler.key)
    for _ in 0..<4 { loop.turn(waitingAtMost: .seconds(5)) }
    #expect(handler.runs == 4)
    loop.resume(handler.key)
    loop.forget(handler.key)
    loop.turn(waitingAtMost: .zero)
    #expect(handler.runs == 4, "a key that was forgotten finds nothing")
  }

  @Test func watchingMoreThanTheLoopHoldsIsAnError() throws {
    final class Deaf: ReadinessHandler { func ready(_ readiness: Readiness) {} }
    let loop = try EventLoop(descriptors: 1, clock: { Instant(unixSeconds: 0) })
    let a = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))[0]
    let b = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))[0]
    let (rawA, rawB) = (try #require(a.raw), try #require(b.raw))
    let key = try loop.watch(raw: rawA, Deaf())
    #expect(throws: SystemError.self) { _ = try loop.watch(raw: rawB, Deaf()) }
    loop.forget(key)
    _ = try loop.watch(raw: rawB, Deaf())
  }

  @Test func stopFromAnotherThreadEndsASleepingLoop() throws {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    let handle = loop.handle
    let thread = try Thread.start(name: "stopper") { handle.stop() }
    loop.run()
    thread.join()
  }

  @Test func aSignalIsAnEvent() async {
    await #expect(processExitsWith: .exitCode(7)) {
      SignalSource.block([.terminate])
      let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
      let source = try SignalSource(on: loop, [.terminate]) { signal in
        exit(signal == .terminate ? 7 : 8)
      }
      // To this thread: the test process has others, which do not block the signal.
      pthread_kill(pthread_self(), SIGTERM)
      loop.run()
      source.close()
    }
  }
}
