// String literals.
extension SwiftLexer {
  /// A string literal with so many number signs before its quotes; they and the first quote have been consumed.
  mutating func readString(hashes: Int, at start: SourcePlace) {
    let wasFirst = isFirstOnLine
    let isMultiline = peek() == "\"" && peek(1) == "\""
    let quotes = isMultiline ? 3 : 1
    advance(quotes - 1)
    var (content, isPlain, isClosed) = (String.UnicodeScalarView(), true, false)
    while let scalar = peek() {
      if isClosing(quotes: quotes, hashes: hashes) {
        advance(quotes + hashes)
        isClosed = true
        break
      }
      // One that is not closed ends with its line, so that the rest of the file is read.
      if Self.isNewline(scalar), !isMultiline { break }
      if scalar == "\\", (0..<hashes).allSatisfy({ peek(1 + $0) == "#" }) {
        advance(1 + hashes)
        readEscape(into: &content, isPlain: &isPlain)
      } else {
        content.append(scalar)
        next()
      }
    }
    if !isClosed { refuse("the string that begins here is not closed", at: start) }
    isFirstOnLine = wasFirst
    add(.string(isPlain && !isMultiline ? String(content) : nil), at: start)
  }

  private func isClosing(quotes: Int, hashes: Int) -> Bool {
    (0..<quotes).allSatisfy { peek($0) == "\"" } && (0..<hashes).allSatisfy { peek(quotes + $0) == "#" }
  }

  /// What follows a backslash; the text of an interpolation is passed over.
  private mutating func readEscape(into content: inout String.UnicodeScalarView, isPlain: inout Bool) {
    guard let scalar = peek(), !Self.isNewline(scalar) else { return }
    switch scalar {
    case "(":
      isPlain = false
      return skipInterpolation()
    case "u" where peek(1) == "{":
      advance(2)
      let digits = take { $0.isASCII && $0.properties.isASCIIHexDigit }
      if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) { content.append(scalar) }
    case "n": content.append("\n")
    case "r": content.append("\r")
    case "t": content.append("\t")
    case "0": content.append("\0")
    default: content.append(scalar)
    }
    next()
  }
}
