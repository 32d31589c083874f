public import HTTP2
public import Primitives
public import Reactor

/// What all connections of one loop share: buffers, HTTP/2 memory, exchanges, and the end of a round.
///
/// A connection at rest owns no buffers. Bytes pass through the four queues here, which one connection after the
/// other uses, warm in the cache; only what a socket would not take is kept with its connection. So ten thousand idle
/// connections cost what TLS and HTTP/2 keep of each, and nothing of ours.
public final class TransportLoop {
  /// The loop that everything here runs on.
  public let loop: EventLoop
  /// Header lists, bodies and nghttp2's allocations of this loop.
  public let memory: SessionMemory
  /// The requests in progress on this loop, of all its servers. Answer one at any time on the loop's thread; it goes out
  /// when the round ends.
  public let exchanges: ExchangePool
  /// How often timeouts are looked for.
  public let sweepInterval: TimeSpan
  /// Work of one turn of a connection, in the unit of `ServerSession.work`; the rest of what it has sent waits for another. A round
  /// has as much for all who have more to do than others.
  let turnWork: Int
  /// The work of a step of a TLS handshake.
  let handshakeWork: Int
  /// The work of a connection that is accepted, TLS's memory for it included.
  var acceptWork: Int { handshakeWork / 16 }

  /// From the socket.
  var received = ByteQueue(capacity: TransportLoop.readBytes)
  /// Decrypted.
  var plaintext = ByteQueue(capacity: TransportLoop.plaintextBytes)
  /// From the driver.
  var outgoing = ByteQueue(capacity: TransportLoop.writeBytes)
  /// Encrypted, with room for a handshake's flight in front.
  var ciphertext = ByteQueue(capacity: TransportLoop.writeBytes + 96 << 10)

  private var connections: Slab<Connection>
  private var touched: ContiguousArray<Connection> = []
  private var sweepTimer: Timer?
  private var spares: [Spare] = []
  private let wayBack = WayBack()
  private var resolutions: Mailbox<Resolution>?
  private var waitingForAddresses: [UInt64: (Result<[SocketAddress], ResolutionError>) -> Void] = [:]
  private var nextQuestion: UInt64 = 0

  /// Bytes read from a socket in one turn, before all others have theirs: two whole TLS records, which hold what a busy client
  /// sends at once.
  static let readBytes = 2 * ((16 << 10) + 256)
  /// Bytes of plaintext that so many bytes, and what TLS held before, may become.
  static let plaintextBytes = readBytes + 48 << 10
  /// Bytes of plaintext gathered for one send.
  static let writeBytes = 64 << 10

  /// The shared things of `loop`, for at most `connections` connections of all its servers and clients, and at most
  /// `exchanges` requests in progress; `turnWork` is the work of one turn of a connection, some 40 ns a unit, and `handshakeWork`
  /// what a step of a TLS handshake counts as.
  public init(
    on loop: EventLoop, connections: Int, exchanges: Int, blockBytesMax: Int, turnWork: Int = 10_000, handshakeWork: Int = 10_000,
    sweepInterval: TimeSpan = .milliseconds(500)
  ) {
    self.loop = loop
    self.turnWork = turnWork
    self.handshakeWork = handshakeWork
    loop.workPerRound = turnWork
    self.sweepInterval = sweepInterval
    memory = SessionMemory(blockBytesMax: blockBytesMax)
    self.exchanges = ExchangePool(capacity: exchanges, memory: memory)
    self.connections = Slab(capacity: connections)
    let way = wayBack
    way.transport = self
    loop.atEveryRoundEnd(.flush) { way.transport?.flush() }
    loop.atClose { way.transport?.close() }
    sweepTimer = loop.makeTimer { way.transport?.sweep() }
  }

  deinit { wayBack.transport = nil }

  /// The way from the loop's hooks back to the transport, until that ends.
  ///
  /// What a weak reference is for; but whatever was once referred to weakly counts its references in a side table from then
  /// on, and each request retains and releases the transport several times.
  private final class WayBack {
    unowned var transport: TransportLoop?
  }

  /// Connections that are open, lingering ones included.
  public var connectionCount: Int { connections.count }

  func add(_ connection: Connection) -> SlabKey? {
    let key = connections.insert(connection)
    if connections.count == 1 { sweepTimer?.arm(after: sweepInterval) }
    return key
  }

  func remove(_ key: SlabKey) { connections.remove(key) }

  /// The connection of that key; nil when it is closed.
  func connection(_ key: SlabKey) -> Connection? { connections[key] }

  /// Closes every connection as it is; the loop does it at its end, since connections and loop hold each other.
  private func close() { for connection in connections(where: { _ in true }) { connection.release() } }

  /// Has `connection` flushed when the round ends; it asks once a round.
  func touch(_ connection: Connection) { touched.append(connection) }

  /// Looks `host` up on another thread; `completion` is called on this loop, in a later round.
  func resolve(_ host: String, port: UInt16, completion: @escaping (Result<[SocketAddress], ResolutionError>) -> Void) {
    // As many wait as there are clients that connect, which the owner of the clients bounds.
    let way = wayBack
    let mailbox =
      resolutions
      ?? loop.makeMailbox(capacity: .max) { (resolution: Resolution) in
        way.transport?.waitingForAddresses.removeValue(forKey: resolution.tag)?(resolution.result)
      }
    resolutions = mailbox
    nextQuestion += 1
    waitingForAddresses[nextQuestion] = completion
    Resolver.resolve(host, port: port, tag: nextQuestion, to: mailbox)
  }

  /// Has memory that somebody on this loop keeps for reuse freed with the transport's own, when a burst is over.
  public func atQuiet(spareBytes: @escaping () -> Int, release: @escaping () -> Void) {
    spares.append(Spare(bytes: spareBytes, release: release))
  }

  private struct Spare {
    let bytes: () -> Int
    let release: () -> Void
  }

  private func flush() {
    while let tag = exchanges.nextToDrain() { connections[SlabKey(packed: tag)]?.flush() }
    guard !touched.isEmpty else { return }
    var taken: ContiguousArray<Connection> = []
    swap(&taken, &touched)
    for connection in taken { connection.flushTouched() }
    if touched.isEmpty {
      taken.removeAll(keepingCapacity: true)
      swap(&taken, &touched)
    }
  }

  private func sweep() {
    let uptime = loop.uptime
    for connection in connections(where: { _ in true }) { connection.sweep(uptime) }
    let spareBytes = spares.reduce(exchanges.spareBytes) { $0 + $1.bytes() }
    let isUnsettled = memory.settle(connections: connections.count, spareBytes: spareBytes) {
      exchanges.releaseSpare()
      for spare in spares { spare.release() }
    }
    if connections.count > 0 || isUnsettled { sweepTimer?.arm(after: sweepInterval) }
  }

  /// The connections of one server or client.
  func connections(of owner: any ConnectionOwner) -> ContiguousArray<Connection> { connections { $0.owner === owner } }

  /// A list of its own, since what is done to a connection may remove it.
  private func connections(where condition: (Connection) -> Bool) -> ContiguousArray<Connection> {
    var found: ContiguousArray<Connection> = []
    found.reserveCapacity(connections.count)
    connections.forEach { _, connection in if condition(connection) { found.append(connection) } }
    return found
  }
}
