// Stored properties and cases.
extension SwiftParser {
  /// Attributes that change nothing about what a property decodes from.
  private static let plainAttributes: Set<String> = [
    "MainActor", "Sendable", "available", "objc", "usableFromInline", "inlinable", "unknown",
  ]

  /// The stored properties that a `var` or `let` at the cursor declares.
  mutating func properties(_ attributes: [String]) -> [SwiftProperty] {
    let isConstant = isWord("let")
    let wrapper = attributes.first { $0.first?.isUppercase == true && !Self.plainAttributes.contains($0) }
    advance()
    var found: [SwiftProperty] = []
    repeat {
      if isMark(",") { advance() }
      let start = place
      guard let name = current?.name else {
        // A tuple of names, whose types no decoder reads one by one.
        skipOne()
        if isMark("=") {
          advance()
          _ = value()
        }
        continue
      }
      advance()
      var property = SwiftProperty(name: name, place: start, type: nil, isConstant: isConstant, hasValue: false, wrapper: wrapper)
      if isMark(":") {
        advance()
        property.type = type()
      }
      if isMark("=") {
        advance()
        let told = value()
        property.hasValue = true
        if property.type == nil { property.type = told }
      }
      let isComputed = isMark("{") && !isObserver
      if isMark("{") { skipOne() }
      if !isComputed { found.append(property) }
    } while isMark(",")
    // `var a, b: Int` gives both the type that is written last.
    for index in found.indices.dropLast().reversed() where found[index].type == nil && !found[index].hasValue {
      found[index].type = found[index + 1].type
    }
    return found
  }

  /// Whether the braces at the cursor hold observers, so that what they belong to is stored.
  private var isObserver: Bool { ahead(1)?.isWord("willSet") == true || ahead(1)?.isWord("didSet") == true }

  /// Passes over the value of a property; the type that it tells, or nil.
  private mutating func value() -> SwiftType? {
    let told = toldType
    var isOperand = true
    while let token = current {
      if token.isMark(",") || token.isMark("}") || token.isMark(")") || token.isMark(";") { break }
      if token.isMark("{"), isObserver { break }
      // A new line ends it, but for one that goes on with an operator or comes after one.
      if token.isFirstOnLine, !isOperand, !goesOn(token) { break }
      isOperand = isOperator(token)
      skipOne()
    }
    return told
  }

  private func isOperator(_ token: SwiftToken) -> Bool {
    if case .mark(let text) = token.kind { return "+-*/%=<>&|^~:".contains(text) || text == "." }
    return ["try", "await", "is", "as", "in"].contains { token.isWord($0) }
  }

  private func goesOn(_ token: SwiftToken) -> Bool {
    guard case .mark(let text) = token.kind else { return token.isWord("is") || token.isWord("as") }
    return ".?:+-*/%<>&|^=".contains(text)
  }

  /// What the value at the cursor is, as far as it can be seen: a literal, or a call or member of a type.
  private var toldType: SwiftType? {
    let start = place
    func known(_ name: String) -> SwiftType { .named([name], arguments: [], start) }
    let first = isMark("-") ? ahead(1) : current
    let next = isMark("-") ? ahead(2) : ahead(1)
    let isWhole = next.map { $0.isFirstOnLine || $0.isMark(",") || $0.isMark("}") || $0.isMark(";") || $0.isMark("{") } ?? true
    switch first?.kind {
    case .integer where isWhole: return known("Int")
    case .fraction where isWhole: return known("Double")
    case .string where isWhole: return known("String")
    case .word("true") where isWhole, .word("false") where isWhole: return known("Bool")
    case .mark("["):
      var copy = self
      let type = copy.type()
      return copy.isMark("(") && !copy.isNewLine ? type : nil
    case .word(let name) where name.first?.isUppercase == true:
      var copy = self
      guard case .named(let names, let arguments, _) = copy.type() else { return nil }
      // A member in lower case is a case or a static property, most likely of the same type; a call's result is anything.
      let path = Array(names.prefix { $0.first?.isUppercase == true })
      guard path.count == names.count ? copy.isMark("(") : path.count + 1 == names.count && !copy.isMark("(") else { return nil }
      guard copy.endsAfterCall() else { return nil }
      return .named(path, arguments: arguments, start)
    default: return nil
    }
  }

  /// Whether nothing but a call in parentheses comes before the end of the value.
  private mutating func endsAfterCall() -> Bool {
    if isMark("("), !isNewLine { skipOne() }
    guard let token = current else { return true }
    if token.isMark(",") || token.isMark("}") || token.isMark(";") || token.isMark("{") { return true }
    return token.isFirstOnLine && !goesOn(token)
  }

  /// The cases that a `case` at the cursor declares.
  mutating func cases() -> [SwiftCase] {
    var found: [SwiftCase] = []
    repeat {
      advance()
      guard let name = current?.name else { break }
      var one = SwiftCase(name: name, place: place)
      advance()
      if isMark("("), !isNewLine { one.values = associatedValues() }
      if isMark("=") {
        advance()
        if isMark("-") {
          one.isNegative = true
          advance()
        }
        one.rawValue = current?.kind
        advance()
      }
      found.append(one)
    } while isMark(",")
    return found
  }

  private mutating func associatedValues() -> [(label: String?, type: SwiftType)] {
    advance()
    var values: [(label: String?, type: SwiftType)] = []
    while !isMark(")"), current != nil {
      var label: String?
      if let name = current?.name, ahead(1)?.isMark(":") == true {
        label = name == "_" ? nil : name
        advance(2)
      } else if isWord("_"), ahead(1)?.name != nil, ahead(2)?.isMark(":") == true {
        advance(3)
      }
      values.append((label, type()))
      if isMark("=") {
        advance()
        while !isMark(","), !isMark(")"), current != nil { skipOne() }
      }
      if isMark(",") { advance() } else if !isMark(")") { skipOne() }
    }
    advance()
    return values
  }
}
