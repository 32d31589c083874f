/// Names one exchange for as long as it is open; afterwards the key finds nothing, whatever has taken the slot since.
///
/// It is a plain 64-bit value that may cross threads and come back; only the exchange's own thread may look it up.
public struct ExchangeKey: Hashable, Sendable {
  /// The slot's index in the low half, the generation of its use in the high half.
  public let packed: UInt64

  /// The key with these bits, as given out by `packed`.
  @inlinable public init(packed: UInt64) { self.packed = packed }

  @inlinable init(index: UInt32, generation: UInt32) { packed = UInt64(generation) << 32 | UInt64(index) }
  @inlinable var index: Int { Int(packed & 0xffff_ffff) }
  @inlinable var generation: UInt32 { UInt32(packed >> 32) }
}
