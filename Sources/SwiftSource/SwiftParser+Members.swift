// Stored properties and cases.
extension SwiftParser {
  /// Attributes that change nothing about what a property decodes from.
  private static let plainAttributes: Set<String> = [
    "MainActor", "Sendable", "available", "objc", "nonobjc", "usableFromInline", "inlinable", "unknown", "preconcurrency", "GKInspectable",
    "IBInspectable", "IBOutlet", "nonisolated", "warn_unqualified_access", "backDeployed", "exclusivity",
  ]

  /// The properties that a `var` or `let` at the cursor declares.
  mutating func properties(_ attributes: [String]) -> (stored: [SwiftProperty], computed: [SwiftProperty]) {
    let isConstant = isWord("let")
    let wrapper = attributes.first { !Self.plainAttributes.contains($0) && !$0.hasPrefix("_") }
    advance()
    var (found, computed): ([SwiftProperty], [SwiftProperty]) = ([], [])
    repeat {
      if isMark(",") { advance() }
      let start = place
      let names = pattern()
      guard !names.isEmpty else { continue }
      var property = SwiftProperty(name: names[0], place: start, type: nil, isConstant: isConstant, hasValue: false, wrapper: wrapper)
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
      if isComputed { computed.append(property) } else { found += Self.each(of: names, property) }
    } while isMark(",")
    // `var a, b: Int` gives both the type that is written last.
    for index in found.indices.dropLast().reversed() where found[index].type == nil && !found[index].hasValue {
      found[index].type = found[index + 1].type
    }
    return (found, computed)
  }

  /// The name at the cursor, or those of a tuple; one within another stands as a whole, in its parentheses.
  private mutating func pattern() -> [String] {
    if let name = current?.name {
      advance()
      return [name]
    }
    guard isMark("(") else {
      skipOne()
      return []
    }
    advance()
    var names: [String] = []
    while !isMark(")"), current != nil {
      names.append(current?.name ?? "(…)")
      skipOne()
      if isMark(",") { advance() }
    }
    advance()
    return names
  }

  /// A property for each name of a tuple, as the compiler makes them, with its part of the tuple's type.
  private static func each(of names: [String], _ whole: SwiftProperty) -> [SwiftProperty] {
    guard names.count > 1 else { return [whole] }
    var parts: [SwiftType?] = Array(repeating: nil, count: names.count)
    if case .tuple(let types, _)? = whole.type, types.count == names.count { parts = types }
    return zip(names, parts).filter { $0.0 != "_" }.map { name, part in
      var property = whole
      property.name = name
      property.type = part
      return property
    }
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
    let isWhole = next.map(endsValue) ?? true
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
      let path = Array(names.prefix { $0.first?.isUppercase == true })
      if path.count == names.count, copy.isMark("("), !copy.isNewLine {
        let form = SwiftType.ToldForm.call(hasArguments: copy.ahead(1)?.isMark(")") != true)
        return copy.endsAfterCall() ? .told(path, arguments: arguments, form, start) : nil
      }
      guard path.count + 1 == names.count, arguments.isEmpty, copy.current.map(copy.endsValue) ?? true else { return nil }
      return .told(path, arguments: [], .member(names[path.count]), start)
    default: return nil
    }
  }

  /// Whether nothing but a call in parentheses comes before the end of the value.
  private mutating func endsAfterCall() -> Bool {
    skipOne()
    return current.map(endsValue) ?? true
  }

  private func endsValue(_ token: SwiftToken) -> Bool {
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
