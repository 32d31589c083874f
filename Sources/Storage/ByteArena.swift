import Glibc
import Primitives

/// Bytes that are appended, read by range and forgotten together; the memory stays for the next round.
final class ByteArena {
  private struct State {
    var base: UnsafeMutableRawPointer
    var capacity: Int
    var count = 0
  }

  // Behind a pointer, because the properties of a class are checked for exclusive access at each use.
  private let state: UnsafeMutablePointer<State>

  /// An empty arena with room for `capacity` bytes; it grows by doubling.
  init(capacity: Int) {
    let capacity = max(64, capacity)
    state = .allocate(capacity: 1)
    state.initialize(to: State(base: .allocate(byteCount: capacity, alignment: 16), capacity: capacity))
  }

  deinit {
    state.pointee.base.deallocate()
    state.deallocate()
  }

  /// How many bytes there are.
  var count: Int { state.pointee.count }

  /// All bytes, valid until the next change.
  var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: state.pointee.base, count: state.pointee.count) }

  /// Copies `source` to the end.
  @discardableResult
  func append(_ source: UnsafeRawBufferPointer) -> ByteRange {
    let range = ByteRange(offset: count, count: source.count)
    guard let start = source.baseAddress, source.count > 0 else { return range }
    makeRoom(source.count).copyMemory(from: start, byteCount: source.count)
    state.pointee.count += source.count
    return range
  }

  /// Appends the bytes of a trivial value as they lie in memory; the machine is little-endian, and so is every file.
  func append<T: BitwiseCopyable>(_ value: T) {
    makeRoom(MemoryLayout<T>.size).storeBytes(of: value, as: T.self)
    state.pointee.count += MemoryLayout<T>.size
  }

  /// Forgets every byte, and gives memory back when there is more of it than `keeping` bytes.
  func removeAll(keeping: Int = .max) {
    state.pointee.count = 0
    guard state.pointee.capacity > max(64, keeping) else { return }
    state.pointee.base.deallocate()
    state.pointee.capacity = max(64, keeping)
    state.pointee.base = .allocate(byteCount: state.pointee.capacity, alignment: 16)
  }

  /// The address after the last byte, with room for `length` more.
  private func makeRoom(_ length: Int) -> UnsafeMutableRawPointer {
    if state.pointee.capacity - state.pointee.count < length { grow(for: length) }
    return state.pointee.base + state.pointee.count
  }

  private func grow(for length: Int) {
    var capacity = state.pointee.capacity
    while capacity - state.pointee.count < length { capacity *= 2 }
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: state.pointee.base, byteCount: state.pointee.count)
    state.pointee.base.deallocate()
    state.pointee.base = larger
    state.pointee.capacity = capacity
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let own = baseAddress, let others = other.baseAddress, count > 0 else { return true }
    return memcmp(own, others, count) == 0
  }
}
