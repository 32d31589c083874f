import CLinux
import CNghttp2
public import Primitives

/// The memory that all HTTP/2 sessions of one thread share: blocks for headers and bodies, and nghttp2's own allocations.
///
/// Both are kept and lent again, so that a steady load asks the system for nothing: `blocks.growths` and
/// `allocations` stand still, which a test proves.
public final class SessionMemory {
  /// Header lists and bodies, received and to be sent.
  public let blocks: BlockPool
  /// Where header blocks become frames.
  let stage: UnsafeMutablePointer<HeaderStage>
  private let freeList: OpaquePointer
  /// The most connections since memory was last given back.
  private var connectionsPeak = 0
  /// nghttp2's allocations up to the last look.
  private var served: UInt64 = 0

  /// Bytes kept for reuse that are worth giving back.
  private static let keptBytesMin = 2 << 20
  /// Allocations of nghttp2 between two looks that are no load: some hundred requests.
  private static let quietAllocations: UInt64 = 10_000
  /// Connections whose end leaves much behind in the C library; each has some 40 KB of TLS and HTTP/2.
  private static let endedConnectionsMin = 64

  /// Memory for one thread, with at most `blockBytesMax` bytes of header lists and bodies, and at most `keptBytesMax`
  /// freed bytes of nghttp2's kept for reuse (a stream in flight takes about 1 KB of those).
  public init(blockBytesMax: Int, keptBytesMax: Int = 32 << 20) {
    guard let freeList = c_freelist_new(keptBytesMax) else { fatalError("out of memory") }
    self.freeList = freeList
    blocks = BlockPool(bytesMax: blockBytesMax)
    stage = .allocate(capacity: 1)
    stage.initialize(to: HeaderStage())
  }

  deinit {
    stage.pointee.deallocate()
    stage.deallocate()
    c_freelist_delete(freeList)
  }

  /// How often nghttp2's allocations had to be passed on to the C library.
  public var allocations: Int { Int(c_freelist_misses(freeList)) }
  /// nghttp2's allocations in use at present.
  public var liveAllocations: Int { Int(c_freelist_live(freeList)) }

  /// Gives memory that a burst has left behind back to the system, where there was little to do since the last call; call it
  /// twice a second or so with the number of connections. A steady load finds its memory as it left it.
  ///
  /// - Parameters:
  ///   - spareBytes: What others of this thread keep for reuse, and would free.
  ///   - release: Has them free it, before the C library gives back what is free.
  /// - Returns: Whether there is more to give back once all is quiet.
  public func settle(connections: Int, spareBytes: Int = 0, release: () -> Void = {}) -> Bool {
    connectionsPeak = max(connectionsPeak, connections)
    let total = c_freelist_served(freeList)
    let isQuiet = total - served < Self.quietAllocations
    served = total
    let kept = blocks.bytes - blocks.lentBytes + c_freelist_kept_bytes(freeList) + spareBytes
    guard kept >= Self.keptBytesMin || connectionsPeak - connections >= Self.endedConnectionsMin else { return false }
    guard isQuiet else { return true }
    connectionsPeak = connections
    release()
    blocks.releaseKept()
    c_freelist_release_kept(freeList)
    c_linux_give_back()
    return false
  }

  /// The allocator to give to a session, which copies it; this object must outlive the session.
  var allocator: nghttp2_mem {
    nghttp2_mem(
      mem_user_data: UnsafeMutableRawPointer(freeList), malloc: c_freelist_malloc, free: c_freelist_free,
      calloc: c_freelist_calloc, realloc: c_freelist_realloc)
  }
}
