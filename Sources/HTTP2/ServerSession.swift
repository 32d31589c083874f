import CNghttp2
public import Primitives

/// The server's side of one HTTP/2 connection, without a socket: plaintext in, exchanges out, plaintext back.
///
/// Once a round: `receive` what has come, `takeReady` until nil, then `drain` once for all answers together. The
/// SETTINGS frame is there to drain from the start, before the client's preface is read (apns.md section 1.2).
@safe
public struct ServerSession: ~Copyable {
  private let pool: ExchangePool
  private let core: UnsafeMutablePointer<ServerCore>

  /// A session whose exchanges live in `pool`; `tag` is the name by which `ExchangePool.nextToDrain` calls it.
  ///
  /// - Parameter trusts: Asked for each request whose header list is whole, while fewer streams are announced than
  ///   `ServerSettings.concurrentStreamsTrusted`: yes announces those, ahead of whatever is answered. It must not touch the session.
  public init(pool: ExchangePool, settings: ServerSettings, tag: UInt64, trusts: ((Exchange) -> Bool)? = nil) {
    precondition(settings.headerListBytesMax <= Int(UInt16.max))
    self.pool = pool
    core = .allocate(capacity: 1)
    core.initialize(to: ServerCore(pool: pool.core, settings: settings, tag: tag, trusts: trusts))
    var allocator = pool.memory.allocator
    let options = SessionOptions(settings)
    var session: OpaquePointer?
    guard nghttp2_session_server_new3(&session, ServerCallbacks.table, core, options.pointer, &allocator) == 0 else {
      fatalError("out of memory")
    }
    core.pointee.session = session
    core.pointee.submitSettings(isFirst: true)
    pool.core.pointee.mark(core)
  }

  deinit {
    // In this order: closing the exchanges hands back blocks that nghttp2 may still read from while it lives, and it does not
    // read when it is deleted.
    core.pointee.closeAll()
    pool.core.pointee.unmark(core)
    nghttp2_session_del(core.pointee.session)
    core.pointee.outlet.destroy()
    core.deinitialize(count: 1)
    core.deallocate()
  }

  /// Takes what the client sent; `now` becomes the exchanges' time of arrival.
  ///
  /// What a client may do so often a second goes by `steady`, a clock that nobody sets; nil takes `now`.
  ///
  /// Returns why the session has failed, if it has: then a GOAWAY is there to drain, and the connection is to be closed
  /// after it. Some violations are known only when their GOAWAY is drained; `failure` has them then.
  @discardableResult
  public mutating func receive(_ bytes: RawSpan, now: Instant, steady: Instant? = nil) -> SessionFailure? {
    guard failure == nil else { return failure }
    core.pointee.now = now
    core.pointee.steady = steady ?? now
    if !core.pointee.preface.isComplete, let failure = core.pointee.preface.match(bytes) {
      core.pointee.failure = failure
      goAway(lastStream: .none, code: HTTP2ErrorCode.protocolError, debug: failure.prefaceDebugData ?? "")
      return failure
    }
    let tally = core.pointee.meter.measure(bytes)
    core.pointee.work += tally.frames + tally.headerBytes / 4 + bytes.byteCount / 64
    if tally.idle > 0, !core.pointee.allows(tally) { return fail() }
    let consumed = bytes.withUnsafeBytes {
      nghttp2_session_mem_recv(core.pointee.session, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
    }
    if consumed < 0, core.pointee.failure == nil { core.pointee.failure = SessionFailure(library: CInt(consumed)) }
    guard core.pointee.failure == nil else { return fail() }
    core.pointee.answerClosed()
    // Acknowledgements and window updates want to be written too; and after the client's GOAWAY, its last stream may just have ended,
    // which is asked when all is written.
    if nghttp2_session_want_write(core.pointee.session) != 0 || nghttp2_session_want_read(core.pointee.session) == 0 {
      pool.core.pointee.mark(core)
    }
    return nil
  }

  /// Has the client told why the session has failed.
  private mutating func fail() -> SessionFailure? {
    if let code = core.pointee.failure?.code { nghttp2_session_terminate_session(core.pointee.session, code) }
    pool.core.pointee.mark(core)
    return core.pointee.failure
  }

  /// What the client has made us do so far, in units of some 40 ns, which a small frame takes: frames, header blocks, bytes, and
  /// requests taken. By counts alone, so that the same bytes are the same work anywhere.
  public var work: Int { core.pointee.work }
  /// The work of a request beside that of its stream: its rules, its answer.
  private static let requestWork = 35

  /// The next complete request, in the order of completion, or nil when there is none left.
  public mutating func takeReady() -> Exchange? {
    guard let slot = core.pointee.ready.first else { return nil }
    core.pointee.work += Self.requestWork
    core.pointee.ready.remove(slot)
    core.pointee.taken.append(slot)
    slot.pointee.state = .taken
    return Exchange(slot)
  }

  /// The malformed requests since this was last asked; their streams are reset. Mostly none.
  public mutating func takeMalformed() -> [MalformedRequest] {
    guard !core.pointee.rejected.isEmpty else { return [] }
    defer { core.pointee.rejected.removeAll(keepingCapacity: false) }
    return core.pointee.rejected
  }

  /// A request that is still not complete although it began before `deadline`, or nil when there is none left.
  ///
  /// Each is given once; it is to be answered or reset.
  public mutating func takeStalled(before deadline: Instant) -> Exchange? {
    guard let slot = core.pointee.receiving.first, slot.pointee.received < deadline else { return nil }
    core.pointee.receiving.remove(slot)
    core.pointee.taken.append(slot)
    slot.pointee.state = .taken
    return Exchange(slot)
  }

  /// When the oldest request that is not complete began, or nil when all are.
  public var oldestIncomplete: Instant? { core.pointee.receiving.first?.pointee.received }

  /// Whether an answer has waited for the client's window all the time since this was asked `times` times ago, at most 254; ask it
  /// at regular intervals, after a round.
  public mutating func hasAnswerWaiting(sinceTimes times: Int) -> Bool { core.pointee.findsAnswerWaiting(moreThan: times) }

  /// Moves what is to be sent into `queue`; true when nothing is left, false when the queue is full.
  @discardableResult
  public mutating func drain(into queue: inout ByteQueue) -> Bool {
    guard core.pointee.outlet.drain(core.pointee.session, into: &queue) else { return false }
    pool.core.pointee.unmark(core)
    return true
  }
}

// MARK: Streams

extension ServerSession {
  /// SETTINGS_MAX_CONCURRENT_STREAMS as last announced.
  public var concurrentStreams: Int { core.pointee.limit.announced }

  /// Announces another number of streams, unless it is the one that holds; streams that are open over it are served.
  ///
  /// A lower number holds once the client has acknowledged it (RFC 9113 section 6.5.3).
  public mutating func announce(concurrentStreams: Int) {
    guard concurrentStreams != core.pointee.limit.announced else { return }
    core.pointee.announce(concurrentStreams)
    pool.core.pointee.mark(core)
  }
}

extension ServerSession {
  /// Announces another number of streams, which is not raised any more: no client is trusted with more.
  public mutating func limit(concurrentStreams: Int) {
    core.pointee.settings.concurrentStreamsTrusted = concurrentStreams
    announce(concurrentStreams: concurrentStreams)
  }
}

// MARK: The end

extension ServerSession {
  /// What a GOAWAY tells the client about its streams.
  public enum LastStream: Sendable {
    /// The last stream that was received: it and those before are answered, later ones may be tried again elsewhere.
    case exact
    /// Zero: nothing was or will be done.
    case none
  }

  /// Announces the end: streams that are open are still answered, further ones are refused.
  public mutating func goAway(lastStream: LastStream = .exact, code: UInt32 = HTTP2ErrorCode.noError, debug: String) {
    core.pointee.goAway(lastStream: lastStream, code: code, debug: debug)
    pool.core.pointee.mark(core)
  }

  /// Whether there is something to drain.
  public var wantsWrite: Bool { core.pointee.outlet.hasFrames(core.pointee.session) }

  /// Whether the session is over: nothing more is to be received or sent, and the connection is to be closed.
  ///
  /// After our GOAWAY that is when the last open exchange has been answered: a client that only rests on its connection
  /// need not hang up for that, and many never would.
  public var isDone: Bool {
    guard !wantsWrite else { return false }
    if core.pointee.isGoingAway && !hasOpenExchanges { return true }
    return failure != nil || nghttp2_session_want_read(core.pointee.session) == 0
  }

  /// Whether a client that sends no more gets nothing more either: every answer is given, and what is left of them waits for a window
  /// that nobody is there to open.
  public var isOverForEndedClient: Bool { !wantsWrite && !core.pointee.hasAnswersToCome }

  /// Why the session has failed, if it has.
  public var failure: SessionFailure? {
    core.pointee.failure ?? (core.pointee.outlet.error == 0 ? nil : SessionFailure(library: core.pointee.outlet.error))
  }

  /// Whether the client has sent a whole preface and its SETTINGS.
  public var isEstablished: Bool { core.pointee.hasPeerSettings }

  /// Whether any exchange of this session is open.
  public var hasOpenExchanges: Bool {
    !(core.pointee.receiving.isEmpty && core.pointee.ready.isEmpty && core.pointee.taken.isEmpty)
  }
}
