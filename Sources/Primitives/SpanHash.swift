extension RawSpan {
  /// A 64-bit hash of the bytes, eight at a time, each word multiplied into the rest (as wyhash does).
  ///
  /// Where senders choose the bytes, `seed` must be secret; it guards a table against crowding and is no message digest.
  @inlinable public func hash(seed: UInt64) -> UInt64 {
    var state = seed ^ UInt64(byteCount)
    var index = 0
    while index + 8 <= byteCount {
      state = Self.mixed(state ^ word(index), 0xA076_1D64_78BD_642F)
      index += 8
    }
    var tail: UInt64 = 0
    while index < byteCount {
      tail = tail << 8 | UInt64(byte(index))
      index += 1
    }
    return Self.mixed(state ^ tail, 0xE703_7ED1_A0B4_28DB)
  }

  @inlinable static func mixed(_ value: UInt64, _ factor: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }
}
