import Foundation
import HTTP2
import Primitives
import Push
import Reactor
import Security
import Synchronization
import Transport

/// An upstream that remembers of each token what came for it, and nothing else: fit for a million.
///
/// Its tokens are numbered: their last eight digits are the number, those before look like any token's.
final class CountingUpstream: Sendable {
  /// What came for one token.
  struct Seen {
    /// Requests.
    var requests: UInt16 = 0
    /// Requests with another apns-id than the first: pushes beyond one.
    var others: UInt16 = 0
    fileprivate var first: UInt64 = 0
  }

  private struct State {
    var seen: [Seen]
    var total = 0
    /// How many it answers before it falls silent.
    var answersLeft = Int.max
    /// Requests that were none of a numbered token.
    var strange = 0
  }

  let port: Int
  private let state: Mutex<State>
  private let handle: LoopHandle

  /// The token of that number.
  static func token(_ number: Int) -> String {
    var generator = SplitMix64(seed: UInt64(number))
    let words = (0..<3).map { _ in String(format: "%016lx", generator.next()) }
    return words.joined() + String(format: "%08lx", generator.next() >> 32) + String(format: "%08lx", number)
  }

  /// Starts one for tokens 0 to `count` - 1, with the server certificate of a state folder.
  init(count: Int, state folder: Folder) throws {
    let identity = try TLSIdentity(
      certificatePEM: String(decoding: folder.read("server.pem"), as: UTF8.self),
      keyPEM: String(decoding: folder.read("server.key"), as: UTF8.self))
    let tls = try TLSContext.server(identity, protocols: [.http2])
    let socket = try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
    port = Int(socket.address.port)
    state = Mutex(State(seen: Array(repeating: Seen(), count: count)))
    let started = Handoff<Result<LoopHandle, any Error>>()
    let desk = Weak()
    _ = try Reactor.Thread.start(name: "upstream") {
      do {
        let loop = try EventLoop(clock: { Instant(unixSeconds: 1_700_000_000) })
        let transport = TransportLoop(on: loop, connections: 100, exchanges: 16_384, blockBytesMax: 256 << 20)
        var settings = ServerSettings(bodyBytesMax: 5121)
        settings.concurrentStreams = 1000
        let handler = Desk(desk)
        let server = try HTTP2Server(
          on: transport, socket, tls: tls, .init(settings: settings, places: ConnectionPlaces(capacity: 100)), handler: handler)
        started.give(.success(loop.handle))
        loop.run()
        withExtendedLifetime(server) { loop.close() }
      } catch {
        started.give(.failure(error))
      }
    }
    handle = try started.take().get()
    desk.upstream.withLock { $0 = .init(self) }
  }

  deinit { handle.stop() }

  /// Requests so far.
  var total: Int { state.withLock { $0.total } }
  /// What came for each token.
  var seen: [Seen] { state.withLock { $0.seen } }
  /// Requests for tokens that it has not given out.
  var strange: Int { state.withLock { $0.strange } }

  /// Answers so many more requests, and then none.
  func answer(_ count: Int) { state.withLock { $0.answersLeft = count } }

  /// Takes note of a request; whether it is to be answered.
  fileprivate func note(_ path: RawSpan, _ id: RawSpan) -> Bool {
    let number = Hexadecimal.eight(path.word(path.byteCount - 8)).map { Int(UInt32($0.bytes).byteSwapped) }
    let low = PushID(text: id)?.low
    return state.withLock { state in
      guard let number, let low, state.seen.indices.contains(number) else {
        state.strange += 1
        return true
      }
      state.total += 1
      if state.seen[number].requests == 0 {
        state.seen[number].first = low
      } else if state.seen[number].first != low {
        state.seen[number].others += 1
      }
      state.seen[number].requests += 1
      guard state.answersLeft > 0 else { return false }
      state.answersLeft -= 1
      return true
    }
  }

  /// Lets the loop's thread, which may outlive the test's value by a moment, find it.
  private final class Weak: Sendable {
    struct Reference {
      weak var value: CountingUpstream?
      init(_ value: CountingUpstream? = nil) { self.value = value }
    }
    let upstream = Mutex(Reference())
  }

  private final class Desk: HTTP2ServerHandler {
    private let weak: Weak
    private var fields = FieldList()
    init(_ weak: Weak) { self.weak = weak }

    func handle(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
      guard let upstream = weak.upstream.withLock({ $0.value }), let path = exchange.value(of: .path), path.byteCount > 8,
        let id = exchange.value(of: .apnsID)
      else { return exchange.reset(HTTP2ErrorCode.cancel) }
      guard upstream.note(path, id) else { return }
      fields.removeAll()
      exchange.respond(status: 200, fields, body: RawSpan())
    }

    func handleStalled(_ exchange: Exchange, on connection: HTTP2ServerConnection) { exchange.reset(HTTP2ErrorCode.cancel) }
    func connectionFailed(_ failure: ConnectionFailure) {}
  }
}
