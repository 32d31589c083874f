/// Requests as text, which bears changes better than frames, whose lengths must fit: lines `name: value`, an empty line, the body.
/// The byte 0x1E stands between two requests.
enum RequestText {
  /// What such an input begins with: the colon of `:method`.
  static let mark = UInt8(ascii: ":")
  private static let lineEnd = UInt8(ascii: "\n")

  /// The frames of each request: HEADERS with literals only, and DATA if there is a body.
  static func frames(_ text: [UInt8]) -> [[UInt8]] {
    text.split(separator: 0x1E).enumerated().map { index, request in
      let stream = UInt8(truncatingIfNeeded: 2 * index + 1)
      var block: [UInt8] = []
      var rest = request
      while let end = rest.firstIndex(of: lineEnd), end > rest.startIndex {
        append(rest[..<end], to: &block)
        rest = rest[(end + 1)...]
      }
      let body = rest.first == lineEnd ? rest.dropFirst() : []
      if rest.first != lineEnd && !rest.isEmpty { append(rest, to: &block) }
      return frame(1, body.isEmpty ? 5 : 4, stream, block) + (body.isEmpty ? [] : frame(0, 1, stream, Array(body)))
    }
  }

  private static func append(_ line: ArraySlice<UInt8>, to block: inout [UInt8]) {
    // The colon of a pseudo-header field is part of the name.
    let colon = line.dropFirst().firstIndex(of: mark) ?? line.endIndex
    let value = line[colon...].dropFirst()
    block.append(0)
    appendString(line[..<colon], to: &block)
    appendString(value.first == UInt8(ascii: " ") ? value.dropFirst() : value, to: &block)
  }

  /// A string literal that is not Huffman-coded (RFC 7541 section 5.2).
  private static func appendString(_ bytes: ArraySlice<UInt8>, to block: inout [UInt8]) {
    var count = bytes.count
    if count < 127 {
      block.append(UInt8(count))
    } else {
      block.append(127)
      count -= 127
      while count >= 128 {
        block.append(UInt8(count & 127 | 128))
        count >>= 7
      }
      block.append(UInt8(count))
    }
    block += bytes
  }

  private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
  }
}
