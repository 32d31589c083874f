import Glibc
public import Primitives

/// The header fields of one received message, as plain values over one block of memory.
///
///     block:  value value name value value …      free      … record 2, record 1, record 0
///             ^ bytes grow upward                              ^ records grow downward
///
/// When the list is whole, what is free is lent to other parts of the message.
/// Of a known name only the value is stored. Offsets are 16 bits wide, since a header list is bounded below 64 KB.
@usableFromInline struct ReceivedFields {
  /// The most fields a header list may have; RFC 9110 section 5.4 lets a server set such a bound.
  static let fieldsMax = 64

  @usableFromInline struct Record {
    @usableFromInline var offset: UInt16
    @usableFromInline var nameCount: UInt16
    @usableFromInline var valueCount: UInt16
    @usableFromInline var token: UInt8
    @usableFromInline static let unknown: UInt8 = .max
  }

  /// A push has some 700 bytes of values, mostly its provider token: one block does, with room for what goes behind them.
  static let requestBlockBytes = 1024

  enum Appended { case stored, tooLarge, outOfMemory }

  @usableFromInline var block: Block?
  @usableFromInline var byteCount: UInt32 = 0
  /// The size of the list by RFC 9113 section 6.5.2: names, values, and 32 bytes for each field.
  var listBytes: UInt32 = 0
  private var lentBytes: UInt32 = 0
  @usableFromInline var fieldCount: UInt8 = 0
  @usableFromInline var present: UInt32 = 0
  @usableFromInline var duplicates: UInt32 = 0
  /// For each name that is present, which record has its first value.
  @usableFromInline var firstRecord: InlineArray<32, UInt8> = .init(repeating: 0)

  @usableFromInline init() {}

  mutating func append(
    _ known: HeaderName?, name: UnsafePointer<UInt8>, _ nameCount: Int, value: UnsafePointer<UInt8>, _ valueCount: Int, listBytesMax: Int,
    blockBytes: Int, blocks: BlockPool
  ) -> Appended {
    let listBytes = Int(self.listBytes) &+ nameCount &+ valueCount &+ 32
    guard listBytes <= listBytesMax, Int(fieldCount) < Self.fieldsMax else { return .tooLarge }
    let storedName = known == nil ? nameCount : 0
    let start = Int(byteCount)
    let end = start &+ storedName &+ valueCount
    let records = (Int(fieldCount) &+ 1) &* MemoryLayout<Record>.stride
    if end &+ records > capacity, !grow(to: end, blockBytes, blocks) { return .outOfMemory }
    guard let block else { preconditionFailure("there is room, so there is a block") }
    if storedName > 0 { memcpy(block.base + start, name, storedName) }
    if valueCount > 0 { memcpy(block.base + start + storedName, value, valueCount) }
    self.listBytes = UInt32(truncatingIfNeeded: listBytes)
    byteCount = UInt32(truncatingIfNeeded: end)
    fieldCount &+= 1
    Self.address(Int(fieldCount) &- 1, in: block).pointee = Record(
      offset: UInt16(truncatingIfNeeded: start), nameCount: UInt16(truncatingIfNeeded: storedName),
      valueCount: UInt16(truncatingIfNeeded: valueCount),
      token: known?.rawValue ?? Record.unknown)
    guard let known else { return .stored }
    let bit = UInt32(1) << UInt32(known.rawValue)
    if present & bit == 0 {
      present |= bit
      firstRecord[Int(known.rawValue)] = fieldCount &- 1
    } else {
      duplicates |= bit
    }
    return .stored
  }

  /// Lends `count` bytes of the block, until the fields are removed; nil when it has not as many. No field may follow.
  @inline(__always) mutating func lend(_ count: Int) -> UnsafeMutableRawPointer? {
    guard let block else { return nil }
    let start = Int(byteCount) + Int(lentBytes)
    guard count <= block.capacity - start - Int(fieldCount) * MemoryLayout<Record>.stride else { return nil }
    lentBytes += UInt32(count)
    return block.base + start
  }

  /// Hands the block back and forgets every field.
  mutating func removeAll(_ blocks: BlockPool) {
    if let block { blocks.release(block) }
    block = nil
    byteCount = 0
    listBytes = 0
    lentBytes = 0
    fieldCount = 0
    present = 0
    duplicates = 0
  }

  /// Moves to a block with room for `bytes` bytes and one more record.
  private mutating func grow(to bytes: Int, _ blockBytes: Int, _ blocks: BlockPool) -> Bool {
    let kept = Int(fieldCount) * MemoryLayout<Record>.stride
    guard let larger = blocks.allocate(max(blockBytes, bytes + kept + MemoryLayout<Record>.stride)) else { return false }
    if let block {
      memcpy(larger.base, block.base, Int(byteCount))
      memcpy(larger.base + larger.capacity - kept, block.base + block.capacity - kept, kept)
      blocks.release(block)
    }
    block = larger
    return true
  }

  private var capacity: Int { block?.capacity ?? 0 }

  @inlinable @inline(__always) static func address(_ index: Int, in block: Block) -> UnsafeMutablePointer<Record> {
    (block.base + block.capacity).assumingMemoryBound(to: Record.self) - (index + 1)
  }
}

extension ReceivedFields {
  @inlinable @inline(__always) func record(_ index: Int) -> Record {
    precondition(index >= 0 && index < Int(fieldCount))
    return Self.address(index, in: block!).pointee
  }

  @inlinable @inline(__always) func range(of name: HeaderName) -> ByteRange? {
    guard present & (1 << UInt32(name.rawValue)) != 0 else { return nil }
    let record = record(Int(firstRecord[Int(name.rawValue)]))
    return ByteRange(offset: Int(record.offset), count: Int(record.valueCount))
  }
}

// MARK: Views, valid until the fields are removed

extension ReceivedFields {
  @inlinable var bytes: RawSpan {
    @_lifetime(borrow self) get {
      guard let block else { return _overrideLifetime(RawSpan(), borrowing: self) }
      return _overrideLifetime(RawSpan(_unsafeStart: block.base, byteCount: Int(byteCount)), borrowing: self)
    }
  }

  @inlinable @_lifetime(borrow self) func value(of name: HeaderName) -> RawSpan? {
    guard let range = range(of: name) else { return nil }
    return bytes[range]
  }

  @usableFromInline @_lifetime(borrow self) func name(at index: Int) -> RawSpan {
    let record = record(index)
    guard let known = HeaderName(rawValue: record.token) else {
      return bytes[ByteRange(offset: Int(record.offset), count: Int(record.nameCount))]
    }
    let name = known.wireName
    return _overrideLifetime(RawSpan(_unsafeStart: name.utf8Start, byteCount: name.utf8CodeUnitCount), borrowing: self)
  }

  @usableFromInline @_lifetime(borrow self) func value(at index: Int) -> RawSpan {
    let record = record(index)
    return bytes[ByteRange(offset: Int(record.offset) + Int(record.nameCount), count: Int(record.valueCount))]
  }
}
