import Glibc
import Primitives

/// The client connection preface (RFC 9113 section 3.4), matched as its bytes arrive.
///
/// nghttp2 would match it too, but forgets what came instead, and Apple's GOAWAY quotes that (apns.md section 1.4).
struct Preface {
  private static let expected: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
  static let count = 24
  /// How far back from a mismatch the version of an HTTP/1.x request line is looked for; longer lines are not requests.
  private static let lineBytesMax = 1024

  private var matched = 0

  var isComplete: Bool { matched == Preface.count }

  /// Matches the next bytes; on a mismatch, says what they seem to be.
  mutating func match(_ bytes: RawSpan) -> SessionFailure? {
    let length = min(bytes.byteCount, Preface.count - matched)
    let same = bytes.withUnsafeBytes { length == 0 || memcmp($0.baseAddress!, Preface.expected.utf8Start + matched, length) == 0 }
    guard !same else {
      matched += length
      return nil
    }
    var received = Array(UnsafeBufferPointer(start: Preface.expected.utf8Start, count: matched))
    received += bytes.extracting(first: min(bytes.byteCount, Preface.lineBytesMax)).array
    if let end = received.firstOffset(of: "HTTP/1.") { return .http1Request(String(decoding: received[..<end], as: UTF8.self)) }
    return .badPreface(Hexadecimal.encode(received.prefix(Preface.count)))
  }
}

extension SessionFailure {
  /// The debug data of the GOAWAY for a failed preface, in the words of Apple's servers.
  var prefaceDebugData: String? {
    switch self {
    case .http1Request(let line): "Unexpected HTTP/1.x request: \(line)"
    case .badPreface(let hex): "HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: \(hex)"
    case .rapidReset, .violation: nil
    }
  }
}

extension [UInt8] {
  fileprivate func firstOffset(of text: StaticString) -> Int? {
    let length = text.utf8CodeUnitCount
    guard count >= length else { return nil }
    return withUnsafeBytes { bytes in
      (0...(count - length)).first { memcmp(bytes.baseAddress! + $0, text.utf8Start, length) == 0 }
    }
  }
}
