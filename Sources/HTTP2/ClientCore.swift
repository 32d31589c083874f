import CNghttp2
import Primitives

/// The state of one client session at a stable address, where nghttp2's callbacks reach it.
///
/// The callbacks only file what arrived into slots; the caller takes the answers afterwards.
struct ClientCore {
  let settings: ClientSettings
  let blocks: Unmanaged<BlockPool>
  let slots: UnsafeMutablePointer<RequestSlot>
  var session: OpaquePointer?
  var outlet: FrameOutlet
  let stage: UnsafeMutablePointer<HeaderStage>
  var failure: SessionFailure?

  private var used = 0
  private var free: UnsafeMutablePointer<RequestSlot>?
  private(set) var open = SlotList<RequestSlot>()
  private(set) var openCount = 0
  private var answered = SlotList<RequestSlot>()
  /// The slot of the answer that the caller holds.
  private var lent: UnsafeMutablePointer<RequestSlot>?

  /// The slot whose header list is being received; lists are never interleaved (RFC 9113 section 4.3).
  var heading: UnsafeMutablePointer<RequestSlot>?
  /// The slot that was last received for: most often what comes next is for it too, which saves nghttp2's look-up.
  var latest: UnsafeMutablePointer<RequestSlot>?
  /// The last stream whose HEADERS were serialised; streams go out in their order (RFC 9113 section 5.1.1).
  var lastSent: Int32 = 0

  var hasPeerSettings = false
  var peerGoAway: PeerGoAway?
  var isGoingAway = false
  var lastPong: UInt64?

  init(settings: ClientSettings, memory: SessionMemory) {
    self.settings = settings
    blocks = .passUnretained(memory.blocks)
    stage = memory.stage
    outlet = FrameOutlet(stage: stage)
    slots = .allocate(capacity: settings.streamsMax)
  }

  // MARK: Slots

  mutating func take() -> UnsafeMutablePointer<RequestSlot>? {
    let slot: UnsafeMutablePointer<RequestSlot>
    if let first = free {
      slot = first
      free = first.pointee.next
    } else {
      guard used < settings.streamsMax else { return nil }
      slot = slots + used
      slot.initialize(to: RequestSlot(index: UInt32(used)))
      used += 1
    }
    slot.pointee.isComplete = false
    slot.pointee.status = 0
    slot.pointee.rules = MessageRules()
    slot.pointee.failure = nil
    return slot
  }

  mutating func begin(_ slot: UnsafeMutablePointer<RequestSlot>, stream: Int32) {
    slot.pointee.stream = stream
    slot.pointee.state = .open
    open.append(slot)
    openCount += 1
  }

  mutating func release(_ slot: UnsafeMutablePointer<RequestSlot>) {
    blocks._withUnsafeGuaranteedRef { blocks in
      slot.pointee.fields.removeAll(blocks)
      slot.pointee.body.removeAll(blocks)
      slot.pointee.request.removeAll(blocks)
    }
    slot.pointee.state = .free
    slot.pointee.generation &+= 1
    slot.pointee.next = free
    free = slot
  }

  func find(_ key: RequestKey) -> UnsafeMutablePointer<RequestSlot>? {
    guard Int(key.index) < used else { return nil }
    let slot = slots + Int(key.index)
    return slot.pointee.generation == key.generation && slot.pointee.state == .open ? slot : nil
  }

  // MARK: Responses as they arrive

  /// Files a field of the list that is being received; false when its message is malformed, and no more of it is wanted.
  @inline(__always) mutating func header(
    _ slot: UnsafeMutablePointer<RequestSlot>, _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>,
    _ valueCount: Int
  ) -> Bool {
    guard slot.pointee.failure == nil else { return true }
    let known = HeaderName(wire: name, count: nameCount)
    // A list after the final one is trailers; they are checked, and ignored.
    let isTrailers = slot.pointee.status != 0
    let verdict = slot.pointee.rules.judge(
      known, name: name, nameCount, value: value, valueCount, in: isTrailers ? .trailers : .response,
      present: slot.pointee.fields.present)
    guard verdict != .malformed else {
      heading = nil
      malformed(slot)
      return false
    }
    guard verdict == .good, !isTrailers else { return true }
    let appended = blocks._withUnsafeGuaranteedRef {
      slot.pointee.fields.append(
        known, name: name, nameCount, value: value, valueCount, listBytesMax: settings.headerListBytesMax,
        blockBytes: BlockPool.smallestBlock, blocks: $0)
    }
    if appended == .outOfMemory { giveUp(slot, .outOfMemory) }
    return true
  }

  /// The list that was being received is whole; false when it makes the message malformed.
  mutating func endHeaders(_ slot: UnsafeMutablePointer<RequestSlot>, endsStream: Bool) -> Bool {
    heading = nil
    guard slot.pointee.failure == nil else { return true }
    if blocks._withUnsafeGuaranteedRef({ slot.pointee.endHeaders(endsStream: endsStream, $0) }) { return true }
    malformed(slot)
    return false
  }

  mutating func data(_ slot: UnsafeMutablePointer<RequestSlot>, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
    guard slot.pointee.failure == nil else { return }
    guard slot.pointee.status != 0, slot.pointee.rules.allows(slot.pointee.body.total + count) else { return malformed(slot) }
    let stored = blocks._withUnsafeGuaranteedRef {
      slot.pointee.body.append(bytes, count, bytesMax: settings.bodyBytesMax, behind: &slot.pointee.fields, blocks: $0)
    }
    if !stored { giveUp(slot, .outOfMemory) }
  }

  /// The response is whole; a server may answer before it has read the request, the rest of which is then not sent.
  mutating func end(_ slot: UnsafeMutablePointer<RequestSlot>) {
    guard slot.pointee.failure != nil || slot.pointee.status != 0 && slot.pointee.rules.allowsEnd(slot.pointee.body.total)
    else { return malformed(slot) }
    slot.pointee.isComplete = true
    if !slot.pointee.request.isSent, slot.pointee.failure == nil {
      nghttp2_submit_rst_stream(session, 0, slot.pointee.stream, HTTP2ErrorCode.cancel)
    }
  }

  /// The response breaks the rules of RFC 9113 section 8: its stream ends, the connection goes on.
  private mutating func malformed(_ slot: UnsafeMutablePointer<RequestSlot>) {
    giveUp(slot, .reset(code: HTTP2ErrorCode.protocolError), code: HTTP2ErrorCode.protocolError)
  }

  // MARK: Answers

  /// The stream has ended: for a cause that is known already, or with its response if that is whole, or with `failure`.
  mutating func finish(_ slot: UnsafeMutablePointer<RequestSlot>, _ failure: StreamFailure) {
    guard slot.pointee.state == .open else { return }
    if slot.pointee.failure == nil, !slot.pointee.isComplete || slot.pointee.status == 0 {
      slot.pointee.failure = slot.pointee.stream <= lastSent ? failure : .unprocessed
    }
    if heading == slot { heading = nil }
    if latest == slot { latest = nil }
    open.remove(slot)
    openCount -= 1
    slot.pointee.state = .answered
    answered.append(slot)
  }

  /// Gives up an open request, for `failure`; false, and nothing happens, when it was given up before, or its response is whole.
  ///
  /// Once only: nghttp2 takes back a request that has not gone out yet, but a second reset would go out for a stream
  /// that the server has never seen, which ends the whole connection (RFC 9113 section 5.1).
  @discardableResult
  mutating func giveUp(_ slot: UnsafeMutablePointer<RequestSlot>, _ failure: StreamFailure, code: UInt32 = HTTP2ErrorCode.cancel) -> Bool {
    guard slot.pointee.failure == nil, !slot.pointee.isComplete else { return false }
    slot.pointee.failure = failure
    nghttp2_submit_rst_stream(session, 0, slot.pointee.stream, code)
    return true
  }

  /// What the error code of a closed stream means for its request.
  func failure(_ slot: UnsafeMutablePointer<RequestSlot>, _ code: UInt32) -> StreamFailure {
    if let peerGoAway, slot.pointee.stream > peerGoAway.lastStream { return .unprocessed }
    return code == HTTP2ErrorCode.refusedStream ? .refused : .reset(code: code)
  }

  /// The connection is gone: every request that is open has failed.
  mutating func finishAll() {
    while let slot = open.first { finish(slot, .connectionLost) }
  }

  mutating func takeAnswer() -> UnsafeMutablePointer<RequestSlot>? {
    releaseLent()
    guard let slot = answered.first else { return nil }
    answered.remove(slot)
    lent = slot
    return slot
  }

  mutating func releaseLent() {
    guard let slot = lent else { return }
    lent = nil
    release(slot)
  }

  /// Hands all memory back; no session refers to it any more.
  mutating func destroy() {
    finishAll()
    while takeAnswer() != nil {}
    slots.deallocate()
    outlet.destroy()
  }
}
