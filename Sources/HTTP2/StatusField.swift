/// A `:status` field as it stands in a header block.
struct StatusField {
  /// The bytes on the wire, the first in the lowest bits.
  private let bits: UInt64
  /// How many they are.
  let count: Int

  private init(bits: UInt64, count: Int) {
    self.bits = bits
    self.count = count
  }

  /// The field for `status`, which must have three digits and not be informational (RFC 9110 section 15).
  init(_ status: Int) {
    precondition(status >= 200 && status <= 599)
    // The statuses of the static table (RFC 7541 appendix A); any other is a literal with the name of entry 8.
    let index: UInt64? =
      switch status {
      case 200: 8
      case 204: 9
      case 206: 10
      case 304: 11
      case 400: 12
      case 404: 13
      case 500: 14
      default: nil
      }
    if let index {
      self.init(bits: 0x80 | index, count: 1)
    } else {
      let digits = [status / 100, status / 10 % 10, status % 10].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(0x30 + $1) }
      self.init(bits: digits << 16 | 0x0308, count: 5)
    }
  }

  /// Bytes that are written to, however short the field is.
  static let bytesWritten = 8

  /// Writes the field to memory with room for `bytesWritten` bytes.
  @inline(__always) func write(to memory: UnsafeMutableRawPointer) {
    memory.storeBytes(of: bits.littleEndian, as: UInt64.self)
  }
}
