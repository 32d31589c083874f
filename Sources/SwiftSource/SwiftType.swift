/// A type as it is written.
indirect enum SwiftType {
  /// Names with dots between them; the last one's arguments.
  case named([String], arguments: [SwiftType], SourcePlace)
  case optional(SwiftType)
  case array(SwiftType)
  case dictionary(SwiftType, SwiftType, SourcePlace)
  /// One that no decoder reads, such as a function or a tuple; in words.
  case other(String, SourcePlace)
}

extension SwiftParser {
  /// The type that comes next.
  mutating func type(depth: Int = 0) -> SwiftType {
    let start = place
    guard depth < depthMax else {
      skipOne()
      return .other("a type nested deeper than \(depthMax) levels", start)
    }
    while let name = word, ["inout", "some", "any", "borrowing", "consuming", "sending"].contains(name) { advance() }
    while isMark("@") { _ = attribute() }
    var result = primary(depth: depth)
    while true {
      if isMark("?") || isMark("!"), !isNewLine {
        advance()
        result = .optional(result)
      } else if isMark("."), let next = ahead(1)?.name, ["Type", "Protocol"].contains(next) {
        advance(2)
        result = .other("a metatype", start)
      } else if isMark("&") {
        advance()
        _ = type(depth: depth + 1)
        result = .other("a composition of protocols", start)
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
      return elements.count == 1 && !isMark("->") ? elements[0] : .other("a tuple", start)
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
