/// A type as it is written.
indirect enum SwiftType {
  /// Names with dots between them; the last one's arguments.
  case named([String], arguments: [SwiftType], SourcePlace)
  case optional(SwiftType)
  case array(SwiftType)
  case dictionary(SwiftType, SwiftType, SourcePlace)
  /// A tuple of types.
  case tuple([SwiftType], SourcePlace)
  /// Protocols that are joined by `&`.
  case composition([SwiftType], SourcePlace)
  /// One that no decoder reads, such as a function; in words.
  case other(String, SourcePlace)
  /// The type of a value that is a call or a member of a type.
  case told([String], arguments: [SwiftType], ToldForm, SourcePlace)

  enum ToldForm {
    case call(hasArguments: Bool)
    case member(String)
  }
}

extension SwiftParser {
  /// The type that comes next.
  mutating func type(depth: Int = 0) -> SwiftType {
    let start = place
    guard depth < depthMax else {
      skipOne()
      return .other("a type nested deeper than \(depthMax) levels", start)
    }
    while true {
      if isMark("@") {
        _ = attribute()
      } else if isMark("~") || word.map(Self.specifiers.contains) == true && ahead(1)?.name != nil || isSpecifiedBracket {
        advance()
      } else {
        break
      }
    }
    var result = primary(depth: depth)
    var optionals = 0
    while true {
      if isMark("?") || isMark("!"), !isNewLine {
        advance()
        optionals += 1
        result = optionals > depthMax ? .other("a type nested deeper than \(depthMax) levels", start) : .optional(result)
      } else if isMark("."), let next = ahead(1)?.name, ["Type", "Protocol"].contains(next) {
        advance(2)
        result = .other("a metatype", start)
      } else if isMark("&") {
        advance()
        var parts = [result]
        if case .composition(let all, _) = result { parts = all }
        result = .composition(parts + [type(depth: depth + 1)], start)
      } else if isMark("->") || isWord("async") || isWord("throws") {
        let isArrow = isMark("->")
        advance()
        if isArrow { _ = type(depth: depth + 1) }
        result = .other("a function", start)
      } else {
        return result
      }
    }
  }

  private static let specifiers: Set<String> = ["inout", "some", "any", "borrowing", "consuming", "sending", "nonisolated"]

  /// Whether a specifier stands before a type in brackets.
  private var isSpecifiedBracket: Bool {
    word.map(Self.specifiers.contains) == true
      && (ahead(1)?.isMark("(") == true || ahead(1)?.isMark("[") == true || ahead(1)?.isMark("@") == true)
  }

  private mutating func primary(depth: Int) -> SwiftType {
    let start = place
    if isMark("[") {
      advance()
      let first = type(depth: depth + 1)
      var result = SwiftType.array(first)
      if isMark(":") {
        advance()
        result = .dictionary(first, type(depth: depth + 1), start)
      }
      if isMark("]") { advance() } else { result = .other("a type that is not understood", start) }
      return result
    }
    if isMark("(") {
      let elements = tuple(depth: depth)
      return elements.count == 1 && !isMark("->") ? elements[0] : .tuple(elements, start)
    }
    guard var name = current?.name else {
      skipOne()
      return .other("a type that is not understood", start)
    }
    var (names, arguments): ([String], [SwiftType]) = ([], [])
    while true {
      advance()
      names.append(name)
      arguments = isMark("<") ? genericArguments(depth: depth) : []
      guard isMark("."), let next = ahead(1)?.name, !["Type", "Protocol"].contains(next) else { break }
      advance()
      name = next
    }
    return .named(names, arguments: arguments, start)
  }

  private mutating func tuple(depth: Int) -> [SwiftType] {
    advance()
    var elements: [SwiftType] = []
    while !isMark(")"), current != nil {
      if ahead(1)?.isMark(":") == true { advance(2) }
      elements.append(type(depth: depth + 1))
      if isMark(",") { advance() } else if !isMark(")") { skipOne() }
    }
    advance()
    return elements
  }

  private mutating func genericArguments(depth: Int) -> [SwiftType] {
    advance()
    var arguments: [SwiftType] = []
    while !isMark(">"), current != nil {
      arguments.append(type(depth: depth + 1))
      if isMark(",") { advance() } else if !isMark(">") { break }
    }
    if isMark(">") { advance() }
    return arguments
  }
}
