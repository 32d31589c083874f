import CNghttp2
public import Primitives

/// The client's side of one HTTP/2 connection, without a socket: requests in, answers out, plaintext both ways.
///
/// Once a round: `receive` what has come, `takeAnswer` until nil, `send` while `availableStreams` allows it, then `drain`
/// once for everything together. Every request that was sent gets exactly one answer, be it a failure.
@safe
public struct ClientSession: ~Copyable {
  private let memory: SessionMemory
  private let core: UnsafeMutablePointer<ClientCore>

  /// A session whose header lists and bodies live in `memory`; its preface and SETTINGS are there to drain.
  public init(memory: SessionMemory, settings: ClientSettings = ClientSettings()) {
    precondition(settings.headerListBytesMax <= Int(UInt16.max) && settings.streamsMax > 0)
    self.memory = memory
    core = .allocate(capacity: 1)
    core.initialize(to: ClientCore(settings: settings, memory: memory))
    var allocator = memory.allocator
    let options = SessionOptions()
    var session: OpaquePointer?
    guard nghttp2_session_client_new3(&session, ClientCallbacks.table, core, options.pointer, &allocator) == 0 else {
      fatalError("out of memory")
    }
    core.pointee.session = session
    let entries = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(settings.headerListBytesMax)),
    ]
    nghttp2_submit_settings(session, 0, entries, entries.count)
    nghttp2_session_set_local_window_size(session, 0, 0, Int32(settings.connectionWindowBytes))
  }

  deinit {
    nghttp2_session_del(core.pointee.session)
    core.pointee.destroy()
    core.deinitialize(count: 1)
    core.deallocate()
  }

  // MARK: Requests

  /// How many streams may be opened now: none before the server's SETTINGS have come, nor after a GOAWAY.
  ///
  /// Servers of Apple's allow one stream until they have seen a valid provider token (apns.md section 1.3), so it must be
  /// asked before each request and not once.
  public var availableStreams: Int {
    guard core.pointee.hasPeerSettings, !isClosing, nghttp2_session_check_request_allowed(core.pointee.session) != 0 else { return 0 }
    return max(0, min(peerConcurrentStreams, core.pointee.settings.streamsMax) - core.pointee.openCount)
  }

  /// Whether a stream may be opened now.
  public var canOpen: Bool { availableStreams > 0 }

  /// The server's SETTINGS_MAX_CONCURRENT_STREAMS; 0 before its SETTINGS have come.
  public var peerConcurrentStreams: Int {
    guard core.pointee.hasPeerSettings else { return 0 }
    return Int(nghttp2_session_get_remote_settings(core.pointee.session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// Requests that have no answer yet.
  public var openStreams: Int { core.pointee.openCount }

  /// Sends the fields of `fields`, pseudo-header fields first, and a copy of `body`; it goes out with the next `drain`.
  ///
  /// The answer will carry `tag`; `time`, by any clock of the caller's that never goes back, is for `cancelStalled`. Returns
  /// nil, and sends nothing, when no stream may be opened or no memory is left.
  public mutating func send(
    _ fields: borrowing FieldList, body: RawSpan = RawSpan(), tag: UInt64, at time: Int64 = 0
  ) -> RequestKey? {
    guard canOpen, let slot = core.pointee.take() else { return nil }
    slot.pointee.tag = tag
    slot.pointee.sentAt = time
    slot.pointee.isHEAD = fields.isHEAD
    let session = core.pointee.session
    var stream = Int32(NGHTTP2_ERR_NOMEM.rawValue)
    let isStored = core.pointee.blocks._withUnsafeGuaranteedRef { slot.pointee.request.setRequest(fields.bytes, body: body, $0) }
    if isStored {
      // Without any field: they are in the slot, and get into the frame when it is sent.
      if body.isEmpty {
        stream = nghttp2_submit_request(session, nil, nil, 0, nil, slot)
      } else {
        var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: slot), read_callback: requestBody)
        stream = nghttp2_submit_request(session, nil, nil, 0, &provider, slot)
      }
    }
    guard stream > 0 else {
      core.pointee.release(slot)
      return nil
    }
    core.pointee.begin(slot, stream: stream)
    return RequestKey(index: slot.pointee.index, generation: slot.pointee.generation)
  }

  /// Gives up a request; its answer comes as `cancelled` once the reset is drained. False when it has its answer already.
  @discardableResult
  public mutating func cancel(_ key: RequestKey) -> Bool {
    guard let slot = core.pointee.find(key) else { return false }
    core.pointee.giveUp(slot, .cancelled)
    return true
  }

  /// Gives up every request that was sent before `time` and has no answer; returns how many.
  public mutating func cancelStalled(sentBefore time: Int64) -> Int {
    var count = 0
    var next = core.pointee.open.first
    // In the order of sending, so the first that is young enough ends the search.
    while let slot = next, slot.pointee.sentAt < time {
      next = slot.pointee.next
      if core.pointee.giveUp(slot, .cancelled) { count += 1 }
    }
    return count
  }

  // MARK: Bytes

  /// Takes what the server sent; returns why the session has failed, if it has.
  @discardableResult
  public mutating func receive(_ bytes: RawSpan) -> SessionFailure? {
    guard failure == nil else { return failure }
    core.pointee.releaseLent()
    let consumed = bytes.withUnsafeBytes {
      nghttp2_session_mem_recv(core.pointee.session, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
    }
    if consumed < 0 {
      core.pointee.failure = SessionFailure(library: CInt(consumed))
      nghttp2_session_terminate_session(core.pointee.session, HTTP2ErrorCode.internalError)
    }
    return core.pointee.failure
  }

  /// Moves what is to be sent into `queue`; true when nothing is left, false when the queue is full.
  @discardableResult
  public mutating func drain(into queue: inout ByteQueue) -> Bool {
    core.pointee.outlet.drain(core.pointee.session, into: &queue)
  }

  /// The next answer, in the order of their ends, or nil when there is none left. It gives the one before it back.
  public mutating func takeAnswer() -> Answer? { core.pointee.takeAnswer().map { Answer($0) } }

  // MARK: The connection

  /// Sends a PING (RFC 9113 section 6.7); `lastPong` becomes `data` when the server has answered it.
  public mutating func ping(_ data: UInt64) {
    withUnsafeBytes(of: data) { bytes in
      _ = nghttp2_submit_ping(core.pointee.session, 0, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// The data of the last PING that the server has answered.
  public var lastPong: UInt64? { core.pointee.lastPong }

  /// The server's GOAWAY, when it has sent one.
  public var peerGoAway: PeerGoAway? { core.pointee.peerGoAway }

  /// Whether the server's SETTINGS have come.
  public var isEstablished: Bool { core.pointee.hasPeerSettings }

  /// Whether no further request will be taken, because one side has said GOAWAY or broken the protocol.
  public var isClosing: Bool { core.pointee.isGoingAway || core.pointee.peerGoAway != nil || failure != nil }

  /// Why the session has failed, if it has.
  public var failure: SessionFailure? {
    core.pointee.failure ?? (core.pointee.outlet.error == 0 ? nil : SessionFailure(library: core.pointee.outlet.error))
  }

  /// Announces the end: answers to open requests are still awaited, further requests are not taken.
  public mutating func goAway() {
    guard !core.pointee.isGoingAway else { return }
    core.pointee.isGoingAway = true
    nghttp2_submit_goaway(core.pointee.session, 0, 0, HTTP2ErrorCode.noError, nil, 0)
  }

  /// The connection is gone: every open request fails, as `connectionLost`, or `unprocessed` when it was not sent yet.
  public mutating func disconnect() {
    core.pointee.isGoingAway = true
    core.pointee.finishAll()
  }

  /// Whether there is something to drain.
  public var wantsWrite: Bool { core.pointee.outlet.hasFrames(core.pointee.session) }

  /// Whether the session is over: nothing more is to be received or sent, and the connection is to be closed.
  public var isDone: Bool {
    !wantsWrite && (failure != nil || nghttp2_session_want_read(core.pointee.session) == 0)
  }
}

private let requestBody: nghttp2_data_source_read_callback = { _, _, frame, room, flags, source, _ in
  let slot = source!.pointee.ptr.assumingMemoryBound(to: RequestSlot.self)
  return slot.pointee.request.read(frame!, room, flags!)
}
