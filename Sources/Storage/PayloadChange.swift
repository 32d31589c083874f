/// What a commit changes about the payloads that are kept with the log.
public struct PayloadChange {
  /// Bytes that a payload counts beside its own.
  public static let overheadBytes = 64

  /// The payloads of pushes that were taken in, by the pushes' numbers.
  public internal(set) var kept: [(number: UInt64, bytes: UnsafeRawBufferPointer)]
  /// Pushes that are forgotten before their time, and their payloads with them.
  public internal(set) var forgotten: [UInt64]
  /// The number below which the log knows no push any more.
  public internal(set) var oldest: UInt64
  /// Bytes of all payloads together, `overheadBytes` each included; beyond it the oldest go.
  public internal(set) var bytesMax: Int
}
