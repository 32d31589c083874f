import Primitives
public import Reactor
public import Security

/// One TCP connection with or without TLS: socket, ciphertext, plaintext, driver, and back.
///
/// The way of bytes: a readable socket is read until it is dry, decrypted and given to the driver; when the round ends,
/// everything the driver has to say is gathered, encrypted and sent with one system call. What the socket does not take
/// is kept, and until it is gone nothing more is gathered, and (on the server's side) nothing more is read: a peer that
/// does not read its answers gets to ask no further questions.
///
/// The way of a life: `connecting` (clients) → `handshaking` (TLS) → `open` → `lingering` → `closed`. Lingering is for the
/// last bytes: they are sent, then the end of the stream, and whatever still comes is thrown away until the peer has
/// closed too. Closing at once would turn into a reset, and the peer would never read why.
public final class Connection: ReadinessHandler {
  enum Phase: UInt8 { case connecting, handshaking, open, lingering, closed }

  /// The other end.
  public let peer: SocketAddress
  /// What all connections of this loop share.
  public let transport: TransportLoop

  let owner: any ConnectionOwner
  let timeouts: ConnectionTimeouts
  /// A client goes on reading while its output is stuck: if both sides stopped, neither would ever start again.
  var readsWhileBlocked: Bool { !isServer }
  private let isServer: Bool
  /// Its name in the transport, and the tag of its HTTP/2 session.
  private(set) var key = SlabKey(index: .max, generation: .max)
  private var watch: SlabKey?
  var phase: Phase
  var driver: (any ConnectionDriver)?
  var socket: Descriptor?
  var tls: TLSSession?
  /// What the socket did not take, and handshake messages until the round ends.
  var pending = ByteQueue(capacity: 256 << 10)
  /// Whether bytes that the socket did not take wait for it.
  var isBlocked = false
  /// When the present phase, or the present standstill, has lasted too long.
  var deadline: Uptime
  /// Whether it is in the transport's list for the end of this round.
  var isTouched = false
  /// Whether the socket has bytes that were left there.
  var hasUnread = false
  /// Plaintext that was left for another turn.
  var held = ByteQueue(capacity: TransportLoop.plaintextBytes)
  /// Whether the peer's end of the stream came behind it.
  var isEndHeld = false
  /// Whether it waits for its turn in the loop.
  var isQueued = false
  /// Work of its present or last turn.
  var turnWork = 0
  /// Bytes thrown away since it lingers.
  var dropped = 0
  /// Whether the kernel has told that the peer sends no more.
  var hasSeenEnd = false
  /// Whether the end of what the peer sends was read.
  var hasReadEnd = false
  /// Whether anything was ever received.
  var hasReceived = false
  /// Whether it has got as far as a driver.
  var wasOpened = false
  /// Whether the end of what this side sends is told by TLS's close_notify, or by TCP alone.
  var saysCloseNotify = true
  /// Sweeps since anything was last received, counted up to 2.
  var idleSweeps = 0
  /// Whether the layers above have seen that the peer is in earnest.
  private var isProven = false
  /// When anything was last received, or since when it is there.
  var lastReceived: Uptime
  /// Why it ends, once that is known.
  var reason: ConnectionEnd?

  /// Takes over `socket` and starts; nil, and the socket is closed, when the kernel or the transport cannot take one more.
  init?(
    _ socket: consuming Descriptor, peer: SocketAddress, tls: consuming TLSSession?, isServer: Bool, on transport: TransportLoop,
    timeouts: ConnectionTimeouts, owner: any ConnectionOwner
  ) {
    self.peer = peer
    self.transport = transport
    self.owner = owner
    self.timeouts = timeouts
    phase = isServer ? .handshaking : .connecting
    self.isServer = isServer
    deadline = transport.loop.uptime + timeouts.handshake
    lastReceived = transport.loop.uptime
    self.tls = consume tls
    self.socket = consume socket
    guard let key = transport.add(self) else { return nil }
    self.key = key
    do throws(SystemError) {
      watch = try transport.loop.watch(self.socket!, self)
    } catch {
      transport.remove(key)
      return nil
    }
  }

  /// Goes on with what has become possible.
  public func ready(_ readiness: Readiness) {
    if !readiness.isDisjoint(with: [.ended, .hangup]) { hasSeenEnd = true }
    if phase == .connecting {
      if readiness.wantsWrite { connected() }
      return
    }
    // Without TLS there is no handshake to wait for, and the first event is not long in coming.
    if phase == .handshaking && !isSecure { becomeOpen() }
    if isBlocked && readiness.wantsWrite { unblock() }
    guard readiness.wantsRead, !isQueued else { return }
    if waitsForTurn {
      hasUnread = true
      resume()
    } else {
      read()
    }
  }

  /// The turn that it asked for.
  public func turn() {
    isQueued = false
    read()
  }

  /// Whether it is one that others go ahead of: a client in its handshake, or one whose last turn was much work. Who asks for
  /// little is served as soon as its bytes are there.
  private var waitsForTurn: Bool {
    phase == .handshaking ? isServer && isSecure : turnWork > transport.turnWork / Self.lightPart
  }

  /// The part of a turn up to which a connection goes ahead of others.
  private static var lightPart: Int { 4 }

  /// Counts work of its driver: of this turn, and of the round.
  func spend(_ work: Int) {
    turnWork &+= work
    transport.loop.spend(work)
  }

  /// The attempt to connect has ended, one way or the other.
  private func connected() {
    if let error = socket?.pendingError() {
      end(.connectFailed(error))
      return
    }
    phase = .handshaking
    if isSecure { decrypt() } else { becomeOpen() }
  }

  /// Asks for a turn, although nothing new may come.
  func resume() {
    guard let watch, !isQueued else { return }
    isQueued = true
    transport.loop.resume(watch, in: phase == .handshaking ? .beginning : .more)
  }

  func stopWatching() {
    if let watch { transport.loop.forget(watch) }
    watch = nil
    transport.remove(key)
  }
}

// MARK: What the layers above see

extension Connection {
  /// Whether the bytes are encrypted on the way.
  public var isSecure: Bool { tls != nil }
  /// What ALPN chose; nil without TLS, or with nothing in common.
  public var applicationProtocol: ApplicationProtocol? {
    guard tls != nil else { return nil }
    return tls?.applicationProtocol
  }
  /// The server name that a client asked for in its handshake (SNI), as it spelled it.
  public var serverName: String? { tls?.serverName ?? nil }
  /// The certificate that a client has shown and that leads to an authority of the context's, as far as the bounds allow; reads it anew.
  public func clientCertificate(_ bounds: ClientCertificate.Bounds) -> ClientCertificate? { tls?.clientCertificate(bounds) ?? nil }

  /// Has the driver drained at the end of this round.
  public func setNeedsFlush() {
    guard !isTouched, phase != .closed else { return }
    isTouched = true
    transport.touch(self)
  }

  /// Goes on reading after the driver wanted no more.
  public func resumeReading() { if hasUnread { resume() } }

  /// The peer is in earnest: its connection gives way to nobody while there are others of whom that is not known.
  public func prove() {
    guard !isProven, phase != .closed else { return }
    isProven = true
    owner.proved(self)
  }

  /// Since when nothing has come, and nothing is to be received, answered or sent; nil while something is.
  var idleSince: Uptime? {
    switch phase {
    case .open: !isBlocked && held.isEmpty && driver?.isIdle != false ? lastReceived : nil
    case .lingering: lastReceived
    case .connecting, .handshaking, .closed: nil
    }
  }

  /// Ends the connection after what is already gathered was sent.
  public func close(_ end: ConnectionEnd = .finished) { self.end(end) }
}
