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

  /// The allocator to give to a session, which copies it; this object must outlive the session.
  var allocator: nghttp2_mem {
    nghttp2_mem(
      mem_user_data: UnsafeMutableRawPointer(freeList), malloc: c_freelist_malloc, free: c_freelist_free,
      calloc: c_freelist_calloc, realloc: c_freelist_realloc)
  }
}
