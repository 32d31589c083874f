/// Cuts Swift source into tokens. It accepts more than a compiler: what no compiler would take need not be told here.
struct SwiftLexer {
  private let text: [Character]
  private var offset = 0
  private var place = SourcePlace(line: 1, column: 1)
  private var isFirstOnLine = true
  private var tokens: [SwiftToken] = []
  /// Where the last token ends.
  private var end = -1
  /// Strings within the interpolations of others that are open.
  private var nesting = 0

  private init(_ text: String) { self.text = Array(text) }

  /// The tokens of `text`.
  static func tokens(of text: String) -> [SwiftToken] {
    var lexer = SwiftLexer(text)
    while let next = lexer.peek() {
      let start = lexer.offset
      let count = lexer.tokens.count
      lexer.read(next)
      guard lexer.tokens.count > count else { continue }
      lexer.tokens[count].isAdjacent = start == lexer.end
      lexer.end = lexer.offset
    }
    return lexer.tokens
  }

  private func peek(_ ahead: Int = 0) -> Character? { offset + ahead < text.count ? text[offset + ahead] : nil }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count {
      guard let character = peek() else { return }
      offset += 1
      if character.isNewline {
        place.line += 1
        place.column = 1
        isFirstOnLine = true
      } else {
        place.column += 1
      }
    }
  }

  private mutating func add(_ kind: SwiftToken.Kind, at start: SourcePlace) {
    tokens.append(SwiftToken(kind: kind, place: start, isFirstOnLine: isFirstOnLine, isAdjacent: false))
    isFirstOnLine = false
  }

  private mutating func read(_ next: Character) {
    let start = place
    switch next {
    case _ where next.isWhitespace: advance()
    case "/" where peek(1) == "/": while let character = peek(), !character.isNewline { advance() }
    case "/" where peek(1) == "*": skipBlockComment()
    case "\"": readString(hashes: 0)
    case "#": readHash()
    case "`":
      advance()
      let name = take { $0 != "`" && !$0.isNewline }
      advance()
      add(.quotedName(name), at: start)
    case _ where next.isNumber: readNumber()
    case _ where Self.isName(next): add(.word(take(while: Self.isName)), at: start)
    case "-" where peek(1) == ">":
      advance(2)
      add(.mark("->"), at: start)
    default:
      advance()
      add(.mark(String(next)), at: start)
    }
  }

  private static func isName(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_" || character == "$" || (!character.isASCII && !character.isWhitespace)
  }

  private mutating func take(while isPart: (Character) -> Bool) -> String {
    var result = ""
    while let character = peek(), isPart(character) {
      result.append(character)
      advance()
    }
    return result
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if peek() == "/", peek(1) == "*" {
        depth += 1
        advance(2)
      } else if peek() == "*", peek(1) == "/" {
        depth -= 1
        advance(2)
      } else {
        advance()
      }
    } while depth > 0 && peek() != nil
  }

  /// A raw string, or a word such as `#if`.
  private mutating func readHash() {
    let start = place
    var hashes = 0
    while peek(hashes) == "#" { hashes += 1 }
    guard peek(hashes) != "\"" else {
      advance(hashes)
      return readString(hashes: hashes)
    }
    advance()
    add(.directive(take(while: Self.isName)), at: start)
  }

  private mutating func readNumber() {
    let start = place
    var digits = take { $0.isHexDigit || $0 == "_" || $0 == "x" || $0 == "o" }
    var isFraction = digits.lowercased().contains("e") && !digits.hasPrefix("0x")
    if peek() == ".", let next = peek(1), next.isNumber {
      isFraction = true
      advance()
      digits += take { $0.isHexDigit || $0 == "_" || $0 == "p" || $0 == "P" }
    }
    if isFraction, let sign = peek(), "+-".contains(sign), let last = digits.last, "eE".contains(last) {
      advance()
      _ = take { $0.isNumber || $0 == "_" }
    }
    let plain = digits.filter { $0 != "_" }
    let value =
      switch plain.prefix(2) {
      case "0x": Int64(plain.dropFirst(2), radix: 16)
      case "0o": Int64(plain.dropFirst(2), radix: 8)
      case "0b": Int64(plain.dropFirst(2), radix: 2)
      default: Int64(plain)
      }
    add(isFraction ? .fraction : .integer(value), at: start)
  }

  // MARK: Strings

  /// A string literal with so many number signs before its quotes, which have been consumed.
  private mutating func readString(hashes: Int) {
    let (start, wasFirst) = (place, isFirstOnLine)
    let isMultiline = peek(1) == "\"" && peek(2) == "\""
    let quotes = isMultiline ? 3 : 1
    advance(quotes)
    var (content, isPlain) = ("", true)
    while let character = peek() {
      if isClosing(quotes: quotes, hashes: hashes) {
        advance(quotes + hashes)
        break
      }
      // One that is not closed ends with its line, so that the rest of the file is read.
      if character.isNewline, !isMultiline { break }
      if character == "\\", (0..<hashes).allSatisfy({ peek(1 + $0) == "#" }) {
        advance(1 + hashes)
        readEscape(into: &content, isPlain: &isPlain)
      } else {
        content.append(character)
        advance()
      }
    }
    isFirstOnLine = wasFirst
    add(.string(isPlain && !isMultiline ? content : nil), at: start)
  }

  private func isClosing(quotes: Int, hashes: Int) -> Bool {
    (0..<quotes).allSatisfy { peek($0) == "\"" } && (0..<hashes).allSatisfy { peek(quotes + $0) == "#" }
  }

  /// What follows a backslash; the text of an interpolation is passed over.
  private mutating func readEscape(into content: inout String, isPlain: inout Bool) {
    guard let character = peek() else { return }
    switch character {
    case "(":
      isPlain = false
      skipInterpolation()
      return
    case "u" where peek(1) == "{":
      advance(2)
      let digits = take { $0.isHexDigit }
      if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) { content.unicodeScalars.append(scalar) }
    case "n": content.append("\n")
    case "r": content.append("\r")
    case "t": content.append("\t")
    case "0": content.append("\0")
    default: content.append(character)
    }
    advance()
  }

  /// Parentheses in turn; a string within them is one more string.
  private mutating func skipInterpolation() {
    var depth = 0
    let kept = tokens.count
    nesting += 1
    defer { nesting -= 1 }
    repeat {
      switch peek() {
      case "(":
        depth += 1
        advance()
      case ")":
        depth -= 1
        advance()
      case "\"" where nesting < 8: readString(hashes: 0)
      default: advance()
      }
    } while depth > 0 && peek() != nil
    tokens.removeSubrange(kept...)
  }
}
