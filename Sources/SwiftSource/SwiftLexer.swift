import Push

/// Cuts Swift source into tokens. It accepts more than a compiler: what no compiler would take need not be told here.
///
/// The source is read by Unicode scalars, as compilers read it: what ends lines, names and literals is ASCII, and all else belongs to names.
/// `next` consumes the scalar that decides what comes, before the rest of that is read. So each turn moves on, whatever stands there.
struct SwiftLexer {
  private let text: [Unicode.Scalar]
  private var offset = 0
  private(set) var place = SourcePlace(line: 1, column: 1)
  var isFirstOnLine = true
  private(set) var tokens: [SwiftToken] = []
  /// What is not closed: from there on the tokens are not those of a compiler.
  private(set) var problems: [SourceProblem] = []
  /// Where the last token ends.
  private var end = -1
  /// Interpolations that are open, one within the other.
  private var interpolations = 0
  /// Up to here no regular expression ends that has begun on the same line.
  private var regexlessUntil = 0

  private init(_ text: String) { self.text = Array(text.unicodeScalars) }

  /// The tokens of `text`, and what of it is not closed.
  static func read(_ text: String) -> (tokens: [SwiftToken], problems: [SourceProblem]) {
    var lexer = SwiftLexer(text)
    while lexer.readOne() {}
    return (lexer.tokens, lexer.problems)
  }

  // MARK: The cursor

  func peek(_ ahead: Int = 0) -> Unicode.Scalar? { offset + ahead < text.count ? text[offset + ahead] : nil }

  /// Consumes a scalar. A line ends with LF, CR, or CR and LF.
  @discardableResult mutating func next() -> Unicode.Scalar? {
    guard let scalar = peek() else { return nil }
    offset += 1
    if scalar == "\n" || scalar == "\r" && peek() != "\n" {
      place.line += 1
      place.column = 1
      isFirstOnLine = true
    } else {
      place.column += 1
    }
    return scalar
  }

  mutating func advance(_ count: Int) { for _ in 0..<count { next() } }

  mutating func take(while isPart: (Unicode.Scalar) -> Bool) -> String {
    var result = String.UnicodeScalarView()
    while let scalar = peek(), isPart(scalar) {
      result.append(scalar)
      next()
    }
    return String(result)
  }

  mutating func add(_ kind: SwiftToken.Kind, at start: SourcePlace) {
    tokens.append(SwiftToken(kind: kind, place: start, isFirstOnLine: isFirstOnLine, isAdjacent: false))
    isFirstOnLine = false
  }

  mutating func refuse(_ message: String, at place: SourcePlace) {
    guard problems.count < Limits.swiftSourceProblems else { return }
    problems.append(SourceProblem(place: place, message: message))
  }

  static func isNewline(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }

  static func isName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    case _ where scalar.isASCII: false
    default: scalar != "\u{FEFF}" && !scalar.properties.isWhitespace
    }
  }

  // MARK: Tokens

  /// Reads what comes next, a token or what stands between two; false at the end.
  private mutating func readOne() -> Bool {
    let (start, first, count) = (place, offset, tokens.count)
    guard let scalar = next() else { return false }
    read(scalar, at: start)
    guard tokens.count > count else { return true }
    tokens[count].isAdjacent = first == end
    end = offset
    return true
  }

  /// Reads the rest of what begins with `first`, which has been consumed.
  private mutating func read(_ first: Unicode.Scalar, at start: SourcePlace) {
    switch first {
    case " ", "\t", "\n", "\r", "\u{B}", "\u{C}", "\0", "\u{FEFF}": break
    case "/" where peek() == "/": while let scalar = peek(), !Self.isNewline(scalar) { next() }
    case "/" where peek() == "*": skipBlockComment(from: start)
    case "/" where beginsRegex: readRegex(hashes: 0, at: start)
    case "\"": readString(hashes: 0, at: start)
    case "#": readHash(at: start)
    case "`":
      let name = take { $0 != "`" && !Self.isNewline($0) }
      if peek() == "`" { next() }
      add(.quotedName(name), at: start)
    case "0"..."9": readNumber(first, at: start)
    case _ where Self.isName(first): add(.word(String(first) + take(while: Self.isName)), at: start)
    case "-" where peek() == ">":
      next()
      add(.mark("->"), at: start)
    case _ where !first.isASCII: break
    default: add(.mark(String(first)), at: start)
    }
  }

  private mutating func skipBlockComment(from start: SourcePlace) {
    next()
    var depth = 1
    while depth > 0, let scalar = next() {
      if scalar == "/", peek() == "*" {
        depth += 1
        next()
      } else if scalar == "*", peek() == "/" {
        depth -= 1
        next()
      }
    }
    if depth > 0 { refuse("the comment that begins here is not closed; is the file cut off?", at: start) }
  }

  /// A raw string, a regular expression, or a word such as `#if`.
  private mutating func readHash(at start: SourcePlace) {
    var hashes = 1
    while peek() == "#" {
      hashes += 1
      next()
    }
    switch peek() {
    case "\"":
      next()
      readString(hashes: hashes, at: start)
    case "/":
      next()
      readRegex(hashes: hashes, at: start)
    default: add(.directive(take(while: Self.isName)), at: start)
    }
  }

  private mutating func readNumber(_ first: Unicode.Scalar, at start: SourcePlace) {
    func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCII && scalar.properties.isASCIIHexDigit || scalar == "_" }
    var digits = String(first) + take { isDigit($0) || $0 == "x" || $0 == "o" }
    var isFraction = digits.lowercased().contains("e") && !digits.hasPrefix("0x")
    if peek() == ".", let scalar = peek(1), ("0"..."9").contains(scalar) {
      isFraction = true
      next()
      digits += take { isDigit($0) || $0 == "p" || $0 == "P" }
    }
    if isFraction, peek() == "+" || peek() == "-", let last = digits.last, "eE".contains(last) {
      next()
      _ = take { ("0"..."9").contains($0) || $0 == "_" }
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

  // MARK: Within strings

  /// Passes over the parentheses of an interpolation, which begin at the cursor, with all the tokens within them.
  mutating func skipInterpolation() {
    let (start, kept) = (place, tokens.count)
    next()
    interpolations += 1
    if interpolations > Self.interpolationsMax {
      refuse("strings stand within strings deeper than \(Self.interpolationsMax) levels from here; take them apart", at: start)
    }
    var depth = 1
    while depth > 0, let scalar = peek() {
      if scalar == "(" { depth += 1 }
      if scalar == ")" { depth -= 1 }
      if scalar == "(" || scalar == ")" || interpolations > Self.interpolationsMax { next() } else { _ = readOne() }
    }
    if depth > 0 { refuse("the interpolation that begins here is not closed; is the file cut off?", at: start) }
    interpolations -= 1
    tokens.removeSubrange(kept...)
  }

  /// Strings within the interpolations of others that are read, so that recursion stays shallow.
  private static let interpolationsMax = 8

  // MARK: Regular expressions

  /// Whether the slash before the cursor begins a regular expression: no operand stands before it, and it is closed on its line.
  private var beginsRegex: Bool {
    mutating get {
      guard offset >= regexlessUntil, let following = peek(), !following.properties.isWhitespace, !endsOperand(tokens.last) else {
        return false
      }
      var (index, isEscaped) = (offset, false)
      while index < text.count, !Self.isNewline(text[index]) {
        if text[index] == "/", !isEscaped { return true }
        isEscaped = text[index] == "\\" && !isEscaped
        index += 1
      }
      regexlessUntil = index
      return false
    }
  }

  private func endsOperand(_ token: SwiftToken?) -> Bool {
    switch token?.kind {
    case .word(let name): !["return", "in", "case", "where", "if", "while", "try", "await", "else", "throw"].contains(name)
    case .mark(let mark): [")", "]", "}"].contains(mark)
    case nil: false
    default: true
    }
  }

  /// A regular expression, whose first slash has been consumed. With number signs around it, it may have several lines.
  private mutating func readRegex(hashes: Int, at start: SourcePlace) {
    let wasFirst = isFirstOnLine
    var isClosed = false
    while !isClosed, let scalar = next() {
      if scalar == "\\" { next() } else if scalar == "/" { isClosed = (0..<hashes).allSatisfy { peek($0) == "#" } }
    }
    advance(isClosed ? hashes : 0)
    if !isClosed { refuse("the regular expression that begins here is not closed", at: start) }
    isFirstOnLine = wasFirst
    add(.regularExpression, at: start)
  }
}
