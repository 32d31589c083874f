/// Reads the declarations of Swift source, and passes over everything else: bodies, expressions, and what no type's decoding depends on.
struct SwiftParser {
  private let tokens: [SwiftToken]
  private var index = 0
  private(set) var declarations = SwiftDeclarations()
  let depthMax: Int

  private init(_ tokens: [SwiftToken], depthMax: Int) {
    self.tokens = tokens
    self.depthMax = depthMax
  }

  /// What `text` declares.
  static func declarations(of text: String, depthMax: Int) -> SwiftDeclarations {
    var parser = SwiftParser(BuildConditions.compiled(SwiftLexer.tokens(of: text)), depthMax: depthMax)
    while parser.current != nil { parser.member(of: [], depth: 0) }
    return parser.declarations
  }

  // MARK: The cursor

  var current: SwiftToken? { ahead(0) }
  /// Where the cursor is; at the end of the file where the last token is.
  var place: SourcePlace { (current ?? tokens.last)?.place ?? SourcePlace(line: 1, column: 1) }
  /// The word at the cursor.
  var word: String? { if case .word(let text)? = current?.kind { text } else { nil } }
  /// Whether the token at the cursor begins a line.
  var isNewLine: Bool { current?.isFirstOnLine ?? true }

  func ahead(_ count: Int) -> SwiftToken? { tokens.indices.contains(index + count) ? tokens[index + count] : nil }
  func isMark(_ text: String) -> Bool { current?.isMark(text) ?? false }
  func isWord(_ text: String) -> Bool { current?.isWord(text) ?? false }
  mutating func advance(_ count: Int = 1) { index = min(index + count, tokens.count) }

  /// Passes over one token, or over brackets with all that is within them.
  mutating func skipOne() {
    var depth = 0
    repeat {
      if isMark("(") || isMark("[") || isMark("{") { depth += 1 }
      if isMark(")") || isMark("]") || isMark("}") { depth -= 1 }
      advance()
    } while depth > 0 && current != nil
  }

  /// Passes over an attribute; its name.
  mutating func attribute() -> String {
    advance()
    var names: [String] = []
    while let name = current?.name {
      names.append(name)
      advance()
      guard isMark("."), ahead(1)?.name != nil else { break }
      advance()
    }
    if isMark("<") { skipGenerics() }
    if isMark("("), current?.isAdjacent == true { skipOne() }
    return names.joined(separator: ".")
  }

  // MARK: Members

  private static let modifiers: Set<String> = [
    "public", "private", "fileprivate", "internal", "package", "open", "final", "static", "class", "lazy", "weak", "unowned", "nonisolated",
    "indirect", "mutating", "nonmutating", "override", "required", "convenience", "dynamic", "consuming", "borrowing", "isolated",
    "distributed",
  ]

  /// Reads a member of the type of that path, or of the file.
  mutating func member(of path: [String], depth: Int) {
    var (attributes, modifiers): ([String], Set<String>) = ([], [])
    while true {
      if isMark("@") {
        attributes.append(attribute())
      } else if let name = word, Self.modifiers.contains(name), ahead(1)?.isMark(":") != true {
        // `class` is a modifier before a member, and else a type.
        if name == "class", !["var", "func", "let", "subscript"].contains(ahead(1)?.name ?? "") { break }
        modifiers.insert(name)
        advance()
        if isMark("(") { skipOne() }
      } else {
        break
      }
    }
    switch word {
    case "struct", "class", "enum", "actor", "extension", "protocol": typeDeclaration(in: path, depth: depth)
    case "typealias": alias(in: path)
    case "var", "let":
      let isLeftOut = !modifiers.isDisjoint(with: ["static", "class", "lazy"])
      for property in properties(attributes) where !isLeftOut && !path.isEmpty {
        declarations.update(path, at: property.place) { $0.properties.append(property) }
      }
    case "case":
      for one in cases() { declarations.update(path, at: one.place) { $0.cases.append(one) } }
    case "init":
      let start = place
      advance()
      while isMark("?") || isMark("!") { advance() }
      if isMark("<") { skipGenerics() }
      let decodes = isMark("(") && ahead(1)?.isWord("from") == true
      if decodes, !path.isEmpty { declarations.update(path, at: start) { $0.ownDecoding = start } }
      skipBody()
    case "func", "deinit", "subscript", "import", "operator", "precedencegroup", "associatedtype", "macro", "prefix", "infix", "postfix":
      advance()
      skipBody()
    default: skipOne()
    }
  }

  private static let beginnings: Set<String> = modifiers.union([
    "struct", "class", "enum", "actor", "extension", "protocol", "typealias", "var", "let", "case", "init", "func", "deinit", "subscript",
    "import", "associatedtype", "macro",
  ])

  /// Passes over a signature and the body behind it, if there is one.
  private mutating func skipBody() {
    var isFirst = true
    while let token = current {
      if token.isMark("}") { return }
      if token.isMark("{") { return skipOne() }
      if !isFirst, token.isFirstOnLine, token.isMark("@") || word.map(Self.beginnings.contains) == true { return }
      isFirst = false
      skipOne()
    }
  }

  /// Passes over the parameters of something generic; their names.
  @discardableResult private mutating func skipGenerics() -> [String] {
    var (depth, names, isName) = (0, [String](), false)
    repeat {
      if isMark("<") {
        depth += 1
        isName = depth == 1
      } else if isMark(">") {
        depth -= 1
      } else if isMark(",") {
        isName = depth == 1
      } else if isName, let name = current?.name {
        names.append(name)
        isName = false
      }
      advance()
    } while depth > 0 && current != nil
    return names
  }

  private mutating func typeDeclaration(in outer: [String], depth: Int) {
    let keyword = word
    advance()
    let start = place
    var names: [String] = []
    while let name = current?.name {
      names.append(name)
      advance()
      guard isMark("."), ahead(1)?.name != nil else { break }
      advance()
    }
    guard !names.isEmpty else { return }
    let generics = isMark("<") ? skipGenerics() : []
    let path = (keyword == "extension" ? [] : outer) + names
    var inherits: [SwiftType] = []
    if isMark(":") {
      repeat {
        advance()
        inherits.append(type())
      } while isMark(",")
    }
    while let token = current, !token.isMark("{"), !token.isMark("}") { skipOne() }
    guard isMark("{") else { return }
    guard depth < depthMax, keyword != "protocol" else { return skipOne() }
    declarations.update(path, at: start) { declaration in
      declaration.inherits += inherits
      guard keyword != "extension" else { return }
      declaration.kind = keyword == "struct" || keyword == "class" ? .structure : keyword == "enum" ? .enumeration : .other
      declaration.place = start
      declaration.generics = generics
    }
    advance()
    while let token = current, !token.isMark("}") { member(of: path, depth: depth + 1) }
    advance()
  }

  private mutating func alias(in path: [String]) {
    advance()
    guard let name = current?.name else { return }
    advance()
    let generics = isMark("<") ? skipGenerics() : []
    guard isMark("=") else { return }
    advance()
    let key = (path + [name]).joined(separator: ".")
    declarations.aliases[key] = SwiftAlias(generics: generics, type: type())
    declarations.order.append(key)
  }
}
