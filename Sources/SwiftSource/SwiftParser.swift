import Push

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

  /// What `text` declares; nothing where it cannot be read as a compiler would.
  static func declarations(of text: String, depthMax: Int) -> SwiftDeclarations {
    let (tokens, unclosed) = SwiftLexer.read(text)
    let (compiled, conditions) = BuildConditions.compiled(tokens)
    var parser = SwiftParser(compiled, depthMax: depthMax)
    parser.declarations.problems = unclosed.isEmpty ? conditions : unclosed
    if parser.declarations.problems.isEmpty, let problem = SwiftBrackets.problem(in: compiled) { parser.declarations.problems = [problem] }
    guard parser.declarations.problems.isEmpty else { return parser.declarations }
    while parser.current != nil { parser.member(of: [], depth: 0) }
    parser.declarations.settle()
    return parser.declarations
  }

  private mutating func refuse(_ message: String, at place: SourcePlace) {
    guard declarations.problems.count < Limits.swiftSourceProblems else { return }
    declarations.problems.append(SourceProblem(place: place, message: message))
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

  /// What stands behind `class` where that is a modifier.
  private static let followers = modifiers.union(["var", "func", "let", "subscript"])

  /// Reads a member of the type of that path, or of the file.
  mutating func member(of path: [String], depth: Int) {
    var (attributes, modifiers): ([String], Set<String>) = ([], [])
    while true {
      if isMark("@") {
        attributes.append(attribute())
      } else if let name = word, Self.modifiers.contains(name), ahead(1)?.isMark(":") != true {
        // `class` is a modifier before a member, and else a type.
        if name == "class", !Self.followers.contains(ahead(1)?.name ?? "") { break }
        modifiers.insert(name)
        advance()
        if isMark("(") { skipOne() }
      } else {
        break
      }
    }
    switch word {
    case "struct", "class", "enum", "actor", "extension", "protocol": typeDeclaration(in: path, attributes, depth: depth)
    case "typealias": alias(in: path)
    case "var", "let":
      let isLeftOut = !modifiers.isDisjoint(with: ["static", "class", "lazy"])
      let (stored, computed) = properties(attributes)
      guard !isLeftOut, !path.isEmpty else { return }
      for property in stored { declarations.update(path, at: property.place) { $0.properties.append(property) } }
      for property in computed where Self.decodedBy.contains(property.name) {
        declarations.update(path, at: property.place) { $0.computed[property.name] = property }
      }
    case "case":
      for one in cases() { declarations.update(path, at: one.place) { $0.cases.append(one) } }
    case "init": initializer(of: path)
    case "import":
      repeat { advance() } while current != nil && !isNewLine && !isMark(";")
    case "func", "deinit", "subscript", "operator", "precedencegroup", "associatedtype", "macro", "prefix", "infix", "postfix":
      advance()
      skipBody()
    default:
      if case .directive(let name)? = current?.kind, !path.isEmpty, !Self.plainDirectives.contains(name) {
        let problem = SourceProblem(
          place: place,
          message: "the macro #\(name) may declare what is decoded, and what it makes is not seen here; write its schema by hand")
        declarations.update(path, at: place) { $0.unseen = problem }
      }
      skipOne()
    }
  }

  /// Computed properties that decoding may go by.
  private static let decodedBy: Set<String> = ["rawValue", "stringValue", "codingKey"]
  private static let plainDirectives: Set<String> = ["warning", "error", "sourceLocation", "Preview"]

  /// Notes an `init(from:)` that a decoder calls, and what of `init(rawValue:)` decoding goes by.
  private mutating func initializer(of path: [String]) {
    let start = place
    advance()
    let canFail = isMark("?") || isMark("!")
    while isMark("?") || isMark("!") { advance() }
    let constraints = genericConstraints()
    if isMark("<") { skipGenerics() }
    let label = isMark("(") ? ahead(1)?.name : nil
    if label == "from", !path.isEmpty, let (type, isOpaque) = onlyParameter() {
      let constraint = type.lastName.flatMap { constraints[$0] }
      let parameter = SwiftDeclaration.DecodingInit(type: constraint ?? type, isGeneric: isOpaque || constraint != nil, place: start)
      declarations.update(path, at: start) { $0.decodingInits.append(parameter) }
    }
    if !path.isEmpty, canFail {
      declarations.update(path, at: start) { if label == "rawValue" { $0.failableRawInit = start } else { $0.failableInit = start } }
    }
    skipBody()
  }

  /// What generic parameters at the cursor must conform to, by their names.
  private func genericConstraints() -> [String: SwiftType] {
    guard isMark("<") else { return [:] }
    var (copy, constraints) = (self, [String: SwiftType]())
    repeat {
      copy.advance()
      guard let name = copy.current?.name else { break }
      copy.advance()
      guard copy.isMark(":") else { continue }
      copy.advance()
      constraints[name] = copy.type()
    } while copy.isMark(",")
    return constraints
  }

  /// The type of the parameter in the parentheses at the cursor, if it is the only one, and whether it is `some` type.
  private func onlyParameter() -> (type: SwiftType, isOpaque: Bool)? {
    var copy = self
    copy.advance(2)
    if copy.current?.name != nil { copy.advance() }
    guard copy.isMark(":") else { return nil }
    copy.advance()
    let isOpaque = copy.isWord("some")
    let type = copy.type()
    return copy.isMark(")") ? (type, isOpaque) : nil
  }

  private static let beginnings: Set<String> = modifiers.union([
    "struct", "class", "enum", "actor", "extension", "protocol", "typealias", "var", "let", "case", "init", "func", "deinit", "subscript",
    "import", "associatedtype", "macro",
  ])

  /// Passes over a signature and the body behind it, if there is one.
  private mutating func skipBody() {
    var isFirst = true
    while let token = current {
      if token.isMark("}") || token.isMark(";") { return }
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

  /// Attributes of a type that change nothing about what it decodes from.
  private static let plainTypeAttributes: Set<String> = [
    "available", "MainActor", "frozen", "objc", "objcMembers", "dynamicMemberLookup", "dynamicCallable", "propertyWrapper", "resultBuilder",
    "main", "usableFromInline", "preconcurrency", "globalActor", "nonobjc", "unchecked", "retroactive", "Sendable", "inlinable",
  ]

  private mutating func typeDeclaration(in outer: [String], _ attributes: [String], depth: Int) {
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
    while let token = current, !token.isMark("{"), !token.isMark("}") {
      // `protocol Trackable where Self: ActivityAttributes`.
      if keyword == "protocol", token.isWord("Self"), ahead(1)?.isMark(":") == true {
        advance(2)
        inherits.append(type())
      } else {
        skipOne()
      }
    }
    guard isMark("{") else {
      if keyword != "actor" { refuse("\(names.joined(separator: ".")) has no braces; is the file cut off?", at: start) }
      return
    }
    guard isReadable(path, depth: depth, at: start) else { return skipOne() }
    let kind: SwiftDeclaration.Kind? =
      switch keyword {
      case "struct": .structure
      case "class": .reference
      case "enum": .enumeration
      case "actor": .actor
      case "protocol": .protocolType
      default: nil
      }
    if let kind {
      declare(kind, path, generics, inherits, attributes, at: start)
    } else {
      declarations.update(path, at: start) { $0.extensions += inherits }
    }
    guard kind != .protocolType else { return skipOne() }
    advance()
    while let token = current, !token.isMark("}") { member(of: path, depth: depth + 1) }
    advance()
  }

  private mutating func declare(
    _ kind: SwiftDeclaration.Kind, _ path: [String], _ generics: [String], _ inherits: [SwiftType], _ attributes: [String],
    at start: SourcePlace
  ) {
    let name = path.joined(separator: ".")
    if let other = declarations.types[name], other.kind != .extended {
      return refuse("\(name) is declared at \(other.place) already", at: start)
    }
    if let other = declarations.aliases[name] { return refuse("\(name) is declared at \(other.place) already", at: start) }
    let macro = attributes.first { !Self.plainTypeAttributes.contains($0) && !$0.hasPrefix("_") }
    declarations.update(path, at: start) { declaration in
      declaration.kind = kind
      declaration.place = start
      declaration.inherits = inherits
      declaration.generics = generics
      guard let macro else { return }
      declaration.unseen = SourceProblem(
        place: start,
        message: "\(name) has the macro @\(macro), and what that makes it decode from is not seen here; write its schema by hand")
    }
  }

  /// Whether a declaration is within the bounds of what is read, told where it is not.
  private mutating func isReadable(_ path: [String], depth: Int, at start: SourcePlace) -> Bool {
    if depth >= depthMax || path.count > depthMax + 1 {
      refuse("declarations are nested deeper than \(depthMax) levels here; give the file of the attributes alone", at: start)
      return false
    }
    if let long = path.first(where: { $0.utf8.count > Limits.nameBytes }) {
      refuse("a name of \(long.utf8.count) bytes is longer than the \(Limits.nameBytes) that a type's name may have here", at: start)
      return false
    }
    return true
  }

  private mutating func alias(in path: [String]) {
    advance()
    let start = place
    guard let name = current?.name else { return }
    advance()
    let generics = isMark("<") ? skipGenerics() : []
    guard isMark("=") else { return }
    advance()
    guard isReadable(path + [name], depth: 0, at: start) else { return }
    let key = (path + [name]).joined(separator: ".")
    let other = declarations.aliases[key]?.place ?? declarations.types[key].flatMap { $0.kind == .extended ? nil : $0.place }
    if let other { refuse("\(key) is declared at \(other) already", at: start) }
    declarations.aliases[key] = SwiftAlias(generics: generics, type: type(), place: start)
    declarations.order.append(key)
  }
}
