/// A key into a `Slab`: the slot and the generation it was filled in, so that a stale key finds nothing.
public struct SlabKey: Hashable, Sendable {
  /// Which slot.
  public let index: UInt32
  /// How many times the slot had been emptied when this key was given out.
  public let generation: UInt32

  /// A key of the two halves.
  @inlinable public init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// The key that `packed` was made of.
  @inlinable public init(packed: UInt64) {
    index = UInt32(truncatingIfNeeded: packed)
    generation = UInt32(truncatingIfNeeded: packed >> 32)
  }

  /// Both halves in 64 bits, generation above, as the kernel or a peer may keep them for us.
  @inlinable public var packed: UInt64 { UInt64(generation) << 32 | UInt64(index) }
}

/// A fixed number of slots at stable addresses, filled and emptied in any order in constant time.
///
/// The memory of a slot is touched when it is first needed, so a large capacity costs address space only.
/// A freed slot is the next to be filled (it is still in the cache); its generation has moved on, so a key
/// that someone kept finds nothing.
@safe
public struct Slab<Element: ~Copyable>: ~Copyable {
  @usableFromInline struct Slot: ~Copyable {
    @usableFromInline var element: Element?
    @usableFromInline var generation: UInt32
    @usableFromInline var nextFree: UInt32

    @inlinable init(element: consuming Element) {
      self.element = consume element
      generation = 0
      nextFree = .max
    }
  }

  /// How many elements fit.
  public let capacity: Int
  /// How many elements there are.
  @inlinable public var count: Int { filled }
  @usableFromInline let slots: UnsafeMutablePointer<Slot>
  @usableFromInline var initialized = 0
  @usableFromInline var freeHead: UInt32 = .max
  @usableFromInline var filled = 0

  /// An empty slab for `capacity` elements.
  @inlinable public init(capacity: Int) {
    precondition(capacity > 0 && capacity < UInt32.max)
    self.capacity = capacity
    unsafe slots = .allocate(capacity: capacity)
  }

  @inlinable deinit {
    unsafe slots.deinitialize(count: initialized)
    unsafe slots.deallocate()
  }

  /// Puts `element` into a free slot and returns its key; nil (and the element is gone) when the slab is full.
  @inlinable public mutating func insert(_ element: consuming Element) -> SlabKey? {
    if freeHead != .max {
      let index = freeHead
      let slot = unsafe slots + Int(index)
      unsafe freeHead = slot.pointee.nextFree
      unsafe slot.pointee.element = consume element
      filled &+= 1
      return unsafe SlabKey(index: index, generation: slot.pointee.generation)
    }
    guard initialized < capacity else { return nil }
    let index = initialized
    unsafe (slots + index).initialize(to: Slot(element: consume element))
    initialized &+= 1
    filled &+= 1
    return SlabKey(index: UInt32(index), generation: 0)
  }

  /// Takes the element out; nil when the key is stale.
  @discardableResult
  @inlinable public mutating func remove(_ key: SlabKey) -> Element? {
    guard contains(key) else { return nil }
    let slot = unsafe slots + Int(key.index)
    let element = unsafe slot.pointee.element.take()
    unsafe slot.pointee.generation &+= 1
    unsafe slot.pointee.nextFree = freeHead
    freeHead = key.index
    filled &-= 1
    return element
  }

  /// Whether `key` still names an element.
  @inlinable public func contains(_ key: SlabKey) -> Bool {
    guard Int(key.index) < initialized else { return false }
    return unsafe slots[Int(key.index)].generation == key.generation && slots[Int(key.index)].element != nil
  }

  /// Runs `body` on the element in place; nil when the key is stale.
  @inlinable public mutating func with<R: ~Copyable, E: Error>(
    _ key: SlabKey, _ body: (inout Element) throws(E) -> R
  ) throws(E) -> R? {
    guard contains(key) else { return nil }
    let slot = unsafe slots + Int(key.index)
    return try unsafe body(&slot.pointee.element!)
  }

  /// Runs `body` on every element, in slot order.
  @inlinable public mutating func forEach(_ body: (SlabKey, inout Element) -> Void) {
    for index in 0..<initialized where unsafe slots[index].element != nil {
      let slot = unsafe slots + index
      unsafe body(SlabKey(index: UInt32(index), generation: slot.pointee.generation), &slot.pointee.element!)
    }
  }
}

extension Slab {
  /// The element of `key`, or nil when the key is stale.
  @inlinable public subscript(_ key: SlabKey) -> Element? {
    guard Int(key.index) < initialized, unsafe slots[Int(key.index)].generation == key.generation else { return nil }
    return unsafe slots[Int(key.index)].element
  }
}
