import CLinux
import Primitives

/// The exchanges of one thread: slots shared by all its server sessions, so that a connection costs no slots of its own.
///
/// An exchange is open from the first bytes of its request until its stream is closed. When all slots are open, a
/// further stream is refused with REFUSED_STREAM, which tells the client that it may try again.
public final class ExchangePool {
  /// Where the slots' header lists and bodies are.
  public let memory: SessionMemory
  let core: UnsafeMutablePointer<PoolCore>

  /// A pool of `capacity` slots; memory for a slot is touched when it is first used.
  public init(capacity: Int, memory: SessionMemory) {
    precondition(capacity > 0 && capacity <= Int(UInt32.max))
    self.memory = memory
    core = .allocate(capacity: 1)
    core.initialize(to: PoolCore(capacity: capacity, memory: memory))
  }

  deinit {
    // Sessions hold the pool, so none is left; their slots were released with them.
    core.pointee.slots.deallocate()
    core.deinitialize(count: 1)
    core.deallocate()
  }

  /// The most exchanges that may be open.
  public var capacity: Int { core.pointee.capacity }
  /// Exchanges open at present.
  public var openExchanges: Int { core.pointee.open }
  /// Streams refused so far because no slot or no memory was left.
  public var refusedStreams: Int { core.pointee.refused }

  /// Bytes of slots that a burst has used, and that nobody uses; 0 while any exchange is open.
  public var spareBytes: Int { core.pointee.spareBytes }

  /// Gives the memory of those slots back to the system; every key to them stays stale.
  public func releaseSpare() { core.pointee.releaseSpare() }

  /// The exchange of `key`, or nil when its stream was closed: answered and sent, reset by the client, or lost with
  /// its connection.
  public func exchange(for key: ExchangeKey) -> Exchange? {
    guard key.index < core.pointee.used else { return nil }
    let slot = core.pointee.slots + key.index
    guard slot.pointee.generation == key.generation, slot.pointee.state != .free else { return nil }
    return Exchange(slot)
  }

  /// The tag of a session that has got something to send since it was last drained, or nil when there is none.
  ///
  /// Each session is named once; drain it next. A response may be submitted at any time, for many connections in one
  /// go, so this is how a composition writes once to each of them at the end of a round.
  public func nextToDrain() -> UInt64? {
    guard let session = core.pointee.firstToDrain else { return nil }
    core.pointee.unmark(session)
    return session.pointee.tag
  }
}

/// The pool's state at a stable address, where slots and sessions reach it.
struct PoolCore {
  let capacity: Int
  let slots: UnsafeMutablePointer<ExchangeSlot>
  /// Unmanaged, because the callbacks of each request would otherwise retain and release it; the pool keeps it alive.
  let blocks: Unmanaged<BlockPool>
  let stage: UnsafeMutablePointer<HeaderStage>
  /// Slots that were ever used; those above were never touched.
  var used = 0
  var open = 0
  var refused = 0
  /// What the generations of slots begin with that were not used since memory was last given back: no key has it yet.
  private var firstGeneration: UInt32 = 0
  /// The slot that `unfinished` looked at last.
  private var hand = 0
  private var free: UnsafeMutablePointer<ExchangeSlot>?
  private(set) var firstToDrain: UnsafeMutablePointer<ServerCore>?
  private var lastToDrain: UnsafeMutablePointer<ServerCore>?

  init(capacity: Int, memory: SessionMemory) {
    self.capacity = capacity
    blocks = .passUnretained(memory.blocks)
    stage = memory.stage
    slots = .allocate(capacity: capacity)
  }

  /// A request that is still to come, or an answer that nobody reads, of the session with the most among some slots looked at in
  /// turn, if that has more than `count`: what to give up for a session that has `count` when no slot is left. Whoever holds the
  /// pool full of requests that never end, or of answers, keeps out nobody who has fewer.
  mutating func unfinished(ofMoreThan count: Int) -> UnsafeMutablePointer<ExchangeSlot>? {
    var (found, most) = (UnsafeMutablePointer<ExchangeSlot>?.none, count)
    for _ in 0..<min(used, 32) {
      hand = hand + 1 < used ? hand + 1 : 0
      let slot = slots + hand
      guard slot.pointee.state == .receiving || slot.pointee.response.isUnread, let session = slot.pointee.session,
        session.pointee.openStreams > most
      else { continue }
      (found, most) = (slot, session.pointee.openStreams)
    }
    return found
  }

  mutating func take() -> UnsafeMutablePointer<ExchangeSlot>? {
    let slot: UnsafeMutablePointer<ExchangeSlot>
    if let first = free {
      slot = first
      free = first.pointee.next
    } else {
      guard used < capacity else { return nil }
      slot = slots + used
      slot.initialize(to: ExchangeSlot(index: UInt32(used), generation: firstGeneration))
      used += 1
    }
    open += 1
    return slot
  }

  /// Hands back the slot's memory and makes every key to it stale.
  mutating func release(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    blocks._withUnsafeGuaranteedRef { blocks in
      slot.pointee.fields.removeAll(blocks)
      slot.pointee.body.removeAll(blocks)
      slot.pointee.response.removeAll(blocks)
    }
    slot.pointee.rules = MessageRules()
    slot.pointee.state = .free
    slot.pointee.session = nil
    slot.pointee.generation &+= 1
    slot.pointee.next = free
    free = slot
    open -= 1
  }

  var spareBytes: Int { open == 0 ? used * MemoryLayout<ExchangeSlot>.stride : 0 }

  /// Begins anew with slots that were never touched, unless an exchange is open.
  mutating func releaseSpare() {
    guard open == 0, used > 0 else { return }
    // A slot's generation grows when it is released, so the largest is that of no key.
    for index in 0..<used { firstGeneration = max(firstGeneration, slots[index].generation) }
    c_linux_forget(slots, used * MemoryLayout<ExchangeSlot>.stride)
    (used, hand, free) = (0, 0, nil)
  }

  /// Remembers that `session` has something to send.
  mutating func mark(_ session: UnsafeMutablePointer<ServerCore>) {
    guard !session.pointee.isMarked else { return }
    session.pointee.isMarked = true
    session.pointee.previousToDrain = lastToDrain
    session.pointee.nextToDrain = nil
    if let lastToDrain { lastToDrain.pointee.nextToDrain = session } else { firstToDrain = session }
    lastToDrain = session
  }

  /// Forgets that `session` has something to send.
  mutating func unmark(_ session: UnsafeMutablePointer<ServerCore>) {
    guard session.pointee.isMarked else { return }
    session.pointee.isMarked = false
    let (previous, next) = (session.pointee.previousToDrain, session.pointee.nextToDrain)
    if let previous { previous.pointee.nextToDrain = next } else { firstToDrain = next }
    if let next { next.pointee.previousToDrain = previous } else { lastToDrain = previous }
  }
}
