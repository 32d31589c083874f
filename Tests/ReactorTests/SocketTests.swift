import Foundation
import Primitives
import Testing

@testable import Reactor

/// One end of a connection that reads what comes and remembers it.
private final class Peer: ReadinessHandler {
  let socket: Descriptor
  var queue = ByteQueue(capacity: 1 << 16)
  var ended = false
  var failure: SystemError?
  var connected = false

  init(_ socket: consuming Descriptor) { self.socket = socket }

  func ready(_ readiness: Readiness) {
    if readiness.wantsWrite, let error = socket.pendingError() { failure = error } else { connected = true }
    while true {
      switch socket.receive(into: &queue, atMost: 1000) {
      case .bytes: continue
      case .wouldBlock: return
      case .ended:
        ended = true
        return
      case .failed(let error):
        failure = error
        return
      }
    }
  }

  var text: String { Self.text(of: queue) }
  private static func text(of queue: borrowing ByteQueue) -> String { queue.bytes.string }

  func send(_ text: String) -> Transfer { socket.send(Array(text.utf8).span.bytes) }
}

@Suite("Sockets") struct SocketTests {
  private let loop: EventLoop
  init() throws { loop = try EventLoop(clock: { Instant(unixSeconds: 0) }) }

  /// Runs rounds until `condition` holds; false after two minutes without.
  private func wait(until condition: () -> Bool) -> Bool {
    let end = Uptime.read() + .seconds(120)
    while !condition() {
      guard Uptime.read() < end else { return false }
      loop.turn(waitingAtMost: .seconds(1))
    }
    return true
  }

  @Test func theLastDescriptorsAreKnownByTheirNumber() {
    let descriptor = Descriptor(owning: fcntl(STDERR_FILENO, F_DUPFD, 600))
    let number = Int(descriptor.raw)
    #expect(number >= 600)
    let (first, before) = (descriptor.leavesFewerThan(10, of: number + 10), descriptor.leavesFewerThan(10, of: number + 11))
    #expect(first && !before)
    // Of half as few descriptors as 512, half as many are kept.
    let small = Descriptor(owning: fcntl(STDERR_FILENO, F_DUPFD, 3))
    let half = Int(small.raw)
    guard half < 255 else { return }
    let (kept, given) = (small.leavesFewerThan(256, of: 2 * half), small.leavesFewerThan(256, of: 2 * half + 2))
    #expect(kept && !given)
  }

  @Test(arguments: ["127.0.0.1:0", "[::1]:0"]) func connectSendReceiveAndEnd(address: String) throws {
    let listening = try ListeningSocket.bind(try #require(SocketAddress(address)))[0]
    #expect(listening.address.port != 0)
    var accepted: Peer?
    let listener = try Listener(on: loop, listening) { [loop] socket, address in
      #expect(address.isLoopback)
      let peer = Peer(socket)
      _ = try? loop.watch(peer.socket, peer)
      accepted = peer
    }
    let client = Peer(try Descriptor.connecting(to: listening.address))
    _ = try loop.watch(client.socket, client)
    #expect(wait { accepted != nil && client.connected })
    guard case .bytes(5) = client.send("hello") else { throw Failure("send") }
    #expect(wait { accepted?.queue.count == 5 })
    #expect(accepted?.text == "hello")
    client.socket.shutdownSending()
    #expect(wait { accepted?.ended == true })
    guard case .bytes? = accepted?.send("bye") else { throw Failure("a half-closed connection still takes bytes") }
    #expect(wait { client.queue.count == 3 })
    listener.close()
  }

  @Test func aRefusedConnectionSaysSo() throws {
    let address = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))[0].address
    do {
      let client = Peer(try Descriptor.connecting(to: address))
      _ = try loop.watch(client.socket, client)
      #expect(wait { client.failure != nil })
      #expect(client.failure?.code == ECONNREFUSED)
    } catch {
      #expect(error.code == ECONNREFUSED)
    }
  }

  /// Given up, a port is refused and free, although the object is still held; all of a port's sockets together.
  @Test(arguments: [1, 3]) func aPortThatIsGivenUpIsRefusedAndFree(count: Int) throws {
    let first = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")), count: count)
    for socket in first { socket.close() }
    #expect(first.allSatisfy { $0.raw == nil })
    do {
      let client = Peer(try Descriptor.connecting(to: first[0].address))
      _ = try loop.watch(client.socket, client)
      #expect(wait { client.failure?.code == ECONNREFUSED })
    } catch {
      #expect(error.code == ECONNREFUSED)
    }
    let second = try ListeningSocket.bind(first[0].address, count: count)
    #expect(second.count == count && second[0].address == first[0].address)
  }

  @Test(arguments: [1, 3]) func aTakenPortIsAnError(count: Int) throws {
    let first = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")), count: count)
    #expect(Set(first.map(\.address)).count == 1 && first.count == count)
    let error = #expect(throws: SystemError.self) { try ListeningSocket.bind(first[0].address, count: count) }
    #expect(error?.isAddressInUse == true)
    #expect(error?.description == "bind: Address already in use")
  }

  @Test func sendingToAFullPeerWouldBlockAndResumes() throws {
    let listening = try ListeningSocket.bind(try #require(SocketAddress("127.0.0.1:0")))[0]
    var accepted: Peer?
    let listener = try Listener(on: loop, listening) { socket, _ in accepted = Peer(socket) }
    let client = Peer(try Descriptor.connecting(to: listening.address))
    _ = try loop.watch(client.socket, client)
    #expect(wait { accepted != nil && client.connected })
    let block = String(repeating: "x", count: 1 << 16)
    var sent = 0
    while case .bytes(let count) = client.send(block) { sent += count }
    #expect(sent > 1 << 16)
    guard case .wouldBlock = client.send("x") else { throw Failure("a full socket") }
    let reader = try #require(accepted)
    var read = 0
    while read < sent {
      guard case .bytes(let count) = reader.socket.receive(into: &reader.queue, atMost: 1 << 16) else { continue }
      read += count
      reader.queue.consume(count)
    }
    guard case .bytes = client.send("x") else { throw Failure("a drained socket") }
    listener.close()
  }

  /// Out of descriptors, the listener rests instead of spinning, and accepts once one is free.
  @Test func runningOutOfDescriptorsIsSurvived() async {
    await #expect(processExitsWith: .success) {
      let clock = HandClock()
      let loop = try clock.makeLoop()
      let listening = try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
      var accepted = 0
      let listener = try Listener(on: loop, listening) { _, _ in accepted += 1 }
      let client = try Descriptor.connecting(to: listening.address)
      var limit = rlimit(rlim_cur: rlim_t(client.raw) + 1, rlim_max: rlim_t(client.raw) + 1024)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      // Descriptors that the process was born with may leave gaps below the limit.
      var fillers: [Int32] = []
      while case let filler = dup(client.raw), filler >= 0 { fillers.append(filler) }
      for _ in 0..<10 where loop.timers.isEmpty { loop.turn(waitingAtMost: .seconds(1)) }
      precondition(!loop.timers.isEmpty && accepted == 0)
      loop.turn(waitingAtMost: .zero)
      precondition(accepted == 0)
      limit.rlim_cur += 16
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      clock.advance(.seconds(1))
      loop.turn(waitingAtMost: .zero)
      precondition(accepted == 1)
      listener.close()
      withExtendedLifetime(client) {}
    }
  }
}

@Suite("SocketAddress") struct SocketAddressTests {
  @Test(arguments: ["127.0.0.1:2197", "0.0.0.0:0", "[::1]:8443", "[2001:db8::1]:65535"]) func text(_ text: String) {
    #expect(SocketAddress(text)?.description == text)
  }

  @Test(arguments: ["", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[::1]", ":80", "1.2.3:4"])
  func notAnAddress(_ text: String) {
    #expect(SocketAddress(text) == nil)
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false), ("::", false),
    ("2001:db8::1", false), ("0.0.0.0", false), ("::ffff:10.0.0.1", false),
  ])
  func loopback(ip: String, expected: Bool) {
    #expect(SocketAddress(ip: ip, port: 1)?.isLoopback == expected)
  }

  @Test func namesSplitFromPorts() throws {
    let (host, port) = try #require(SocketAddress.split("gateway:2197"))
    #expect(host == "gateway" && port == 2197)
    #expect(SocketAddress.split("gateway") == nil)
  }

  @Test func localhostResolves() throws {
    let addresses = try Resolver.addresses(of: "localhost", port: 80)
    #expect(addresses.contains { $0.isLoopback && $0.port == 80 })
  }

  @Test func anUnknownNameIsNamed() throws {
    let error = #expect(throws: ResolutionError.self) { try Resolver.addresses(of: "no such host", port: 80) }
    #expect(error?.description.hasPrefix("cannot resolve no such host: ") == true)
  }

  @Test func resolvingDoesNotHoldTheLoop() throws {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 0) })
    var answer: Resolution?
    let mailbox = loop.makeMailbox(capacity: 1, of: Resolution.self) {
      answer = $0
      loop.stop()
    }
    Resolver.resolve("localhost", port: 443, tag: 9, to: mailbox)
    loop.run()
    #expect(answer?.tag == 9)
    #expect(try answer?.result.get().allSatisfy { $0.port == 443 } == true)
  }
}

struct Failure: Error {
  let text: String
  init(_ text: String) { self.text = text }
}
