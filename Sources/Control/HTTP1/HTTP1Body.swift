import Primitives

/// The body of a request as its head frames it (RFC 9112 sections 6 and 7.1), read to the letter: who and where the next request begins
/// must be beyond doubt, also for a proxy that is stricter or more lenient.
struct HTTP1Body {
  private enum Place {
    /// So many bytes of the body are to come; all of them, where they are no chunk's.
    case plain(Int)
    /// A chunk's size, of which so many digits have come.
    case size(Int, digits: Int)
    /// White space behind the size, or an extension, which nobody here knows.
    case space(Int), extensions(Int)
    /// The LF behind a chunk's size.
    case sizeEnd(Int)
    case data(Int)
    /// The CR, and the LF, behind a chunk's data.
    case dataCR, dataLF
    /// A trailer, or the empty line that ends the body.
    case trailer, trailerEnd
    case end
  }

  private var place: Place
  /// The trailer that is being read.
  private var line: [UInt8] = []
  /// Bytes of extensions and trailers so far.
  private var overhead = 0

  /// A body of `length` bytes.
  init(length: Int) { place = length == 0 ? .end : .plain(length) }

  private init(_ place: Place) { self.place = place }

  /// A body in chunks.
  static var chunked: HTTP1Body { HTTP1Body(.size(0, digits: 0)) }

  /// Whether it is whole.
  var isWhole: Bool { if case .end = place { true } else { false } }

  /// Appends what belongs to it to `body`, up to its end; returns how many bytes that took, and what is wrong with the next.
  mutating func read(_ bytes: RawSpan, into body: inout [UInt8], _ limits: HTTP1Limits) -> (consumed: Int, fault: ControlError?) {
    var index = 0
    while index < bytes.byteCount {
      switch place {
      case .end: return (index, nil)
      case .plain(let left), .data(let left):
        let count = min(left, bytes.byteCount - index)
        guard body.count + count <= limits.bodyBytes else { return (index, .tooLarge(bytesMax: limits.bodyBytes)) }
        body += bytes.extracting(index..<(index + count)).array
        index += count
        if case .plain = place {
          place = left == count ? .end : .plain(left - count)
        } else {
          place = left == count ? .dataCR : .data(left - count)
        }
      default:
        if let fault = take(bytes.byte(index), body.count, limits) { return (index, fault) }
        index += 1
      }
    }
    return (index, nil)
  }

  /// Takes a byte that is no part of the body itself.
  private mutating func take(_ byte: UInt8, _ length: Int, _ limits: HTTP1Limits) -> ControlError? {
    switch place {
    case .size(let size, let digits): return takeSize(byte, size, digits, length, limits)
    case .space(let size):
      guard byte == UInt8(ascii: ";") || Self.isSpace(byte) else { return HTTP1Fault.chunkSize }
      if byte == UInt8(ascii: ";") { place = .extensions(size) }
      return count(limits)
    case .extensions(let size):
      if byte == Self.cr {
        place = .sizeEnd(size)
        return nil
      }
      // A bare LF here ends the line for some, and not for others.
      return byte == Self.lf ? HTTP1Fault.lineEnd : Self.isControl(byte) ? HTTP1Fault.chunkSize : count(limits)
    case .sizeEnd(let size):
      guard byte == Self.lf else { return HTTP1Fault.lineEnd }
      place = size == 0 ? .trailer : .data(size)
    case .dataCR:
      guard byte == Self.cr else { return HTTP1Fault.chunkEnd }
      place = .dataLF
    case .dataLF:
      guard byte == Self.lf else { return HTTP1Fault.chunkEnd }
      place = .size(0, digits: 0)
    case .trailer:
      if byte == Self.cr {
        place = .trailerEnd
        return nil
      }
      guard byte != Self.lf else { return HTTP1Fault.lineEnd }
      line.append(byte)
      return count(limits)
    case .trailerEnd: return endTrailer(byte)
    case .plain, .data, .end: preconditionFailure("these are read many bytes at a time")
    }
    return nil
  }

  private mutating func takeSize(_ byte: UInt8, _ size: Int, _ digits: Int, _ length: Int, _ limits: HTTP1Limits) -> ControlError? {
    if let digit = Hexadecimal.value(of: byte) {
      guard digits < 16 else { return HTTP1Fault.chunkSize }
      let (larger, overflow) = size.multipliedReportingOverflow(by: 16)
      guard !overflow, larger <= limits.bodyBytes else { return .tooLarge(bytesMax: limits.bodyBytes) }
      place = .size(larger + Int(digit), digits: digits + 1)
      return nil
    }
    guard digits > 0 else { return HTTP1Fault.chunkSize }
    guard length + size <= limits.bodyBytes else { return .tooLarge(bytesMax: limits.bodyBytes) }
    switch byte {
    case Self.cr: place = .sizeEnd(size)
    case Self.lf: return HTTP1Fault.lineEnd
    case UInt8(ascii: ";"): place = .extensions(size)
    case _ where Self.isSpace(byte): place = .space(size)
    default: return HTTP1Fault.chunkSize
    }
    return nil
  }

  /// A trailer is checked, and then forgotten: what it says comes too late to be believed.
  private mutating func endTrailer(_ byte: UInt8) -> ControlError? {
    guard byte == Self.lf else { return HTTP1Fault.lineEnd }
    guard !line.isEmpty else {
      place = .end
      return nil
    }
    guard !Self.isSpace(line[0]) else { return HTTP1Fault.folded }
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    guard !name.isEmpty, name.count < line.count, name.allSatisfy(isTokenByte) else { return HTTP1Fault.fieldName }
    guard !line.contains(where: Self.isControl) else { return HTTP1Fault.fieldForm }
    line.removeAll(keepingCapacity: true)
    place = .trailer
    return nil
  }

  private mutating func count(_ limits: HTTP1Limits) -> ControlError? {
    overhead += 1
    return overhead <= limits.headBytes ? nil : HTTP1Fault.headTooLarge(bytesMax: limits.headBytes)
  }

  private static let cr = UInt8(ascii: "\r")
  private static let lf = UInt8(ascii: "\n")
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7f }
}
