import CNghttp2
import Primitives

/// The state of one server session at a stable address, where nghttp2's callbacks and the exchanges reach it.
///
/// The callbacks only file what arrived: requests into slots, slots into lists. Decisions run afterwards.
@usableFromInline struct ServerCore {
  let pool: UnsafeMutablePointer<PoolCore>
  var settings: ServerSettings
  let tag: UInt64
  private let trusts: ((Exchange) -> Bool)?
  var session: OpaquePointer?
  var preface = Preface()
  var failure: SessionFailure?
  var now = Instant(nanoseconds: 0)
  /// The time by which rates are counted.
  var steady = Instant(nanoseconds: 0)

  var receiving = SlotList<ExchangeSlot>()
  var ready = SlotList<ExchangeSlot>()
  var taken = SlotList<ExchangeSlot>()

  /// The slot whose header list is being received; lists are never interleaved (RFC 9113 section 4.3).
  var heading: UnsafeMutablePointer<ExchangeSlot>?
  /// Whether that list comes after the body.
  var headingIsTrailers = false
  /// The slot that was last asked for: most often it is asked for again, which saves nghttp2's look-up.
  var latest: UnsafeMutablePointer<ExchangeSlot>?

  /// The malformed requests that nobody has been told of yet.
  var rejected: [MalformedRequest] = []

  /// Whether our GOAWAY is decided, so that further streams are refused.
  var isGoingAway = false
  /// Whether the client's first SETTINGS have come.
  var hasPeerSettings = false
  /// Open exchanges that were answered before their request was complete.
  private(set) var earlyAnswers = 0
  private(set) var openStreams = 0
  var errorAnswers = 0
  var limit: StreamLimit
  var skipped = SkippedStreams()
  /// Frames that were waiting to be sent when the client's latest SETTINGS came.
  private var framesBeforeSettings = 0

  var outlet: FrameOutlet
  private var resetRate: EventRate
  var meter: FrameMeter
  private var idleRate: EventRate
  /// Work so far (`ServerSession.work`).
  var work = 0

  // Links of the pool's list of sessions that have something to send.
  var isMarked = false
  var previousToDrain: UnsafeMutablePointer<ServerCore>?
  var nextToDrain: UnsafeMutablePointer<ServerCore>?

  init(pool: UnsafeMutablePointer<PoolCore>, settings: ServerSettings, tag: UInt64, trusts: ((Exchange) -> Bool)?) {
    self.pool = pool
    self.settings = settings
    self.tag = tag
    self.trusts = trusts
    limit = StreamLimit(announced: settings.concurrentStreams)
    outlet = FrameOutlet(stage: pool.pointee.stage)
    resetRate = EventRate(burst: settings.streamResetBurst, perSecond: settings.streamResetsPerSecond)
    meter = FrameMeter(headerListBytesMax: settings.headerListBytesMax)
    idleRate = EventRate(burst: settings.idleFrameBurst, perSecond: settings.idleFramesPerSecond)
  }

  // MARK: Requests as they arrive

  /// Opens an exchange for a new stream, or nil when it has to be refused.
  mutating func open(_ stream: Int32, _ me: UnsafeMutablePointer<ServerCore>) -> UnsafeMutablePointer<ExchangeSlot>? {
    guard !isGoingAway, openStreams < limit.allowed, let slot = pool.pointee.take() ?? takeFromAnother() else { return nil }
    openStreams &+= 1
    work &+= Self.workOfStream
    slot.pointee.session = me
    slot.pointee.stream = stream
    slot.pointee.state = .receiving
    slot.pointee.isComplete = false
    slot.pointee.isAnswered = false
    slot.pointee.isReset = false
    slot.pointee.isEarly = false
    slot.pointee.received = now
    receiving.append(slot)
    heading = slot
    headingIsTrailers = false
    latest = slot
    return slot
  }

  /// The slot of a request that another session, which has more of them, does not get finished.
  private mutating func takeFromAnother() -> UnsafeMutablePointer<ExchangeSlot>? {
    // One more than it has, so that two sessions do not take from each other in turn.
    guard let slot = pool.pointee.unfinished(ofMoreThan: openStreams + 1), let owner = slot.pointee.session else { return nil }
    owner.pointee.giveAway(slot)
    pool.pointee.mark(owner)
    return pool.pointee.take()
  }

  /// Gives an exchange up at once, ahead of its stream.
  private mutating func giveAway(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    let stream = slot.pointee.stream
    // What was answered was acted on, and must not be tried again.
    let code = slot.pointee.state == .receiving ? HTTP2ErrorCode.refusedStream : HTTP2ErrorCode.cancel
    nghttp2_session_set_stream_user_data(session, stream, nil)
    close(slot)
    pool.pointee.refused += 1
    nghttp2_submit_rst_stream(session, 0, stream, code)
  }

  /// Files a field of the list that is being received; false when its message is malformed, and no more of it is wanted.
  @inline(__always) mutating func header(
    _ slot: UnsafeMutablePointer<ExchangeSlot>, _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>,
    _ valueCount: Int
  ) -> Bool {
    guard !slot.pointee.isAnswered else { return true }
    let known = HeaderName(wire: name, count: nameCount)
    let isTrimmed = settings.trimsFields && known?.isRequestFieldOfAPNs == true
    let (value, valueCount) = isTrimmed ? FieldBytes.trimmed(value, valueCount) : (value, valueCount)
    let verdict = slot.pointee.rules.judge(
      known, name: name, nameCount, value: value, valueCount, in: headingIsTrailers ? .trailers : .request,
      present: slot.pointee.fields.present)
    guard verdict != .malformed else {
      let fault = slot.pointee.rules.fault(
        of: known, name: name, nameCount, value: value, valueCount, isTrailer: headingIsTrailers, present: slot.pointee.fields.present)
      reject(fault, known, name, nameCount)
      malformed(slot)
      return false
    }
    guard verdict == .good, !headingIsTrailers else { return true }
    let appended = pool.pointee.blocks._withUnsafeGuaranteedRef {
      slot.pointee.fields.append(
        known, name: name, nameCount, value: value, valueCount, listBytesMax: settings.headerListBytesMax,
        blockBytes: ReceivedFields.requestBlockBytes, blocks: $0)
    }
    guard appended != .stored else { return true }
    if appended == .tooLarge { reject(.listTooLarge, known, name, nameCount) }
    giveUp(slot, appended)
    return failure == nil
  }

  /// The fields of a list cannot be kept.
  private mutating func giveUp(_ slot: UnsafeMutablePointer<ExchangeSlot>, _ appended: ReceivedFields.Appended) {
    setAside(slot)
    work += Self.idleOfLargeList
    if appended == .tooLarge { _ = countIdle(Self.idleOfLargeList) }
    if appended == .tooLarge, settings.resetsHeaderOverflow { return reset(slot, HTTP2ErrorCode.protocolError) }
    let stored =
      appended == .tooLarge
      && pool.pointee.blocks._withUnsafeGuaranteedRef {
        slot.pointee.response.setAnswer(StatusField(431), RawSpan(), body: RawSpan(), behind: &slot.pointee.fields, $0)
      }
    guard stored else { return refuse(slot) }
    // As Netty answers, whose codec Apple's servers seem to be (RFC 6585 section 5).
    nghttp2_submit_response(session, slot.pointee.stream, nil, 0, nil)
    answeredEarly(slot)
    countError(431)
  }

  /// The list that was being received is whole; false when it makes the message malformed.
  mutating func endHeaders(_ slot: UnsafeMutablePointer<ExchangeSlot>, endsStream: Bool) -> Bool {
    heading = nil
    guard !slot.pointee.isAnswered else { return true }
    // Trailers end the message (RFC 9113 section 8.1).
    if headingIsTrailers ? endsStream : slot.pointee.rules.isGoodRequest(slot.pointee.fields.present) { return true }
    rejected.append(
      headingIsTrailers ? MalformedRequest(.unendedTrailers, field: "") : slot.pointee.rules.faultOfList(slot.pointee.fields.present))
    malformed(slot)
    return false
  }

  /// Raises the limit of streams for a client whose request is trusted: as soon as its header list is whole, so that of what
  /// comes with it as little as possible is refused.
  @inline(__always) mutating func judge(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    guard limit.announced < settings.concurrentStreamsTrusted else { return }
    judgeRestricted(slot)
  }

  private mutating func judgeRestricted(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    guard !slot.pointee.isAnswered, let trusts, trusts(Exchange(slot)) else { return }
    announce(settings.concurrentStreamsTrusted)
  }

  mutating func data(_ slot: UnsafeMutablePointer<ExchangeSlot>, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
    guard !slot.pointee.isAnswered else { return }
    guard slot.pointee.rules.allows(slot.pointee.body.total + count) else { return malformedBody(slot) }
    let stored = pool.pointee.blocks._withUnsafeGuaranteedRef {
      slot.pointee.body.append(bytes, count, bytesMax: settings.bodyBytesMax, behind: &slot.pointee.fields, blocks: $0)
    }
    guard !stored else { return }
    setAside(slot)
    refuse(slot)
  }

  /// The request breaks the rules of RFC 9113 section 8: its stream ends, the connection goes on.
  private mutating func malformed(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    setAside(slot)
    if heading == slot { heading = nil }
    work += Self.workOfReset
    reset(slot, HTTP2ErrorCode.protocolError)
    _ = countReset()
  }

  private mutating func malformedBody(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    rejected.append(MalformedRequest(.bodyLength, field: "\(HeaderName.contentLength.wireName)"))
    malformed(slot)
  }

  /// The client broke a rule of the connection that nghttp2 does not check: returns what ends nghttp2's part.
  mutating func violated(_ code: UInt32, _ detail: String) -> CInt {
    failure = failure ?? .violation(code: code, detail: detail)
    return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
  }

  /// Answers frames on streams that the client had ended with RST_STREAM, as a stream error of type STREAM_CLOSED (RFC 9113 section 5.1);
  /// nghttp2 passes over them where it knows the stream no more, and ends the connection where it does.
  mutating func answerClosed() {
    guard meter.hasClosed else { return }
    for stream in meter.takeClosed() where nghttp2_session_find_stream(session, stream) == nil {
      work += Self.workOfReset
      nghttp2_submit_rst_stream(session, 0, stream, HTTP2ErrorCode.streamClosed)
    }
  }

  /// The client has ended an open stream, or made us end it; false, and the session has failed, when it does so too often.
  mutating func countReset() -> Bool {
    guard failure == nil else { return false }
    if resetRate.allows(at: steady) { return true }
    failure = .rapidReset(
      "more than \(settings.streamResetBurst) streams reset at once, and then more than \(settings.streamResetsPerSecond) a second")
    return false
  }

  // A stream that is refused, and a list that is too large, bring nothing either, and cost more than a small frame does.
  private static let idleOfRefusedStream = 2
  private static let idleOfLargeList = 100
  // The work of a stream from its beginning to its end, and of resetting one (`ServerSession.work`).
  private static let workOfStream = 20
  private static let workOfReset = 6

  /// Whether the client may send these frames; false, and the session has failed, when they are too many.
  mutating func allows(_ tally: FrameMeter.Tally) -> Bool {
    guard failure == nil else { return false }
    guard tally.continuations > settings.continuationsMax else { return countIdle(tally.idle) }
    failure = .violation(
      code: HTTP2ErrorCode.enhanceYourCalm, detail: "more than \(settings.continuationsMax) CONTINUATION frames in a header list")
    return false
  }

  /// The client has sent what brings nothing; false, and the session has failed, when it does so too much.
  mutating func countIdle(_ count: Int) -> Bool {
    guard failure == nil else { return false }
    if idleRate.allows(count, at: steady) { return true }
    failure = .violation(
      code: HTTP2ErrorCode.enhanceYourCalm, detail: "more than \(settings.idleFrameBurst) frames that bring nothing")
    return false
  }

  /// The request is whole: it waits to be taken, unless it was answered or given up before.
  mutating func complete(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    slot.pointee.isComplete = true
    guard slot.pointee.state == .receiving else { return }
    guard slot.pointee.rules.allowsEnd(slot.pointee.body.total) else { return malformedBody(slot) }
    idleRate.giveBack(settings.idleFramesPerRequest, at: steady)
    receiving.remove(slot)
    slot.pointee.state = .ready
    ready.append(slot)
  }

  /// Nobody is to be given the request any more: it has its answer, or will be reset.
  private mutating func setAside(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    slot.pointee.isAnswered = true
    guard slot.pointee.state == .receiving else { return }
    receiving.remove(slot)
    slot.pointee.state = .taken
    taken.append(slot)
  }

  /// Refuses a stream for which nothing was done: the client may try again (RFC 9113 section 8.7). False, and the session has
  /// failed, when it opens more than it may too often.
  mutating func refuse(_ stream: Int32) -> Bool {
    heading = nil
    pool.pointee.refused += 1
    work += Self.workOfReset
    nghttp2_submit_rst_stream(session, 0, stream, HTTP2ErrorCode.refusedStream)
    // That we have no room is not its fault.
    return openStreams < limit.allowed && !isGoingAway || countIdle(Self.idleOfRefusedStream)
  }

  private mutating func refuse(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    pool.pointee.refused += 1
    reset(slot, HTTP2ErrorCode.refusedStream)
  }

  /// Resets the stream of an exchange, once.
  mutating func reset(_ slot: UnsafeMutablePointer<ExchangeSlot>, _ code: UInt32) {
    guard !slot.pointee.isReset else { return }
    slot.pointee.isReset = true
    nghttp2_submit_rst_stream(session, 0, slot.pointee.stream, code)
  }

  /// The answer was submitted although the request is not complete.
  mutating func answeredEarly(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    slot.pointee.isEarly = true
    earlyAnswers += 1
  }

  /// SETTINGS of the client's are about to be received.
  mutating func beginPeerSettings() { framesBeforeSettings = nghttp2_session_get_outbound_queue_size(session) }

  /// They were received; false when they brought the window of an open stream above the largest there is.
  ///
  /// That is a fault of the connection (RFC 9113 section 6.9.2), where nghttp2 resets the stream: then more than the
  /// acknowledgement has come to wait. To look at the windows themselves would cost a client little and us much.
  mutating func endPeerSettings() -> Bool {
    hasPeerSettings = true
    return nghttp2_session_get_outbound_queue_size(session) - framesBeforeSettings <= 1
  }

  // MARK: Ends

  /// The stream is closed, by whatever cause.
  mutating func close(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    switch slot.pointee.state {
    case .receiving: receiving.remove(slot)
    case .ready: ready.remove(slot)
    case .taken: taken.remove(slot)
    case .free: preconditionFailure("a stream is closed once")
    }
    openStreams &-= 1
    if slot.pointee.isEarly { earlyAnswers -= 1 }
    if heading == slot { heading = nil }
    if latest == slot { latest = nil }
    pool.pointee.release(slot)
  }

  /// The connection is gone: closes every exchange.
  mutating func closeAll() {
    while let slot = ready.first ?? taken.first ?? receiving.first { close(slot) }
  }
}
