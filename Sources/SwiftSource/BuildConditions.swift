/// Leaves out the branches of `#if` that an app for a device is not built with.
///
/// True are `os(iOS)`, `canImport`, `swift` and `compiler`; every other condition is false, such as `DEBUG`, as in the app that people have.
struct BuildConditions {
  private let tokens: [SwiftToken]
  private var index = 0
  private var kept: [SwiftToken] = []

  private init(_ tokens: [SwiftToken]) { self.tokens = tokens }

  /// The tokens that are compiled.
  static func compiled(_ tokens: [SwiftToken]) -> [SwiftToken] {
    var conditions = BuildConditions(tokens)
    conditions.run()
    return conditions.kept
  }

  private mutating func run() {
    /// For each `#if` that is open: whether its branch is compiled, whether one was, and whether what surrounds it is.
    var open: [(isActive: Bool, wasActive: Bool, isOuterActive: Bool)] = []
    while index < tokens.count {
      let token = tokens[index]
      let isActive = open.last?.isActive ?? true
      guard case .directive(let name) = token.kind, ["if", "elseif", "else", "endif"].contains(name) else {
        if isActive { kept.append(token) }
        index += 1
        continue
      }
      index += 1
      switch name {
      case "if":
        let holds = condition()
        open.append((isActive && holds, holds, isActive))
      case "endif": _ = open.popLast()
      default:
        let holds = name == "else" || condition()
        guard let last = open.popLast() else { continue }
        open.append((last.isOuterActive && !last.wasActive && holds, last.wasActive || holds, last.isOuterActive))
      }
    }
  }

  /// The condition that stands until the end of the line.
  private mutating func condition() -> Bool {
    var words: [SwiftToken] = []
    while index < tokens.count, !tokens[index].isFirstOnLine {
      words.append(tokens[index])
      index += 1
    }
    var rest = words[...]
    return Self.either(&rest, depth: 0)
  }

  private static func either(_ rest: inout ArraySlice<SwiftToken>, depth: Int) -> Bool {
    var result = both(&rest, depth: depth)
    while rest.first?.isMark("|") == true {
      rest = rest.dropFirst(2)
      let other = both(&rest, depth: depth)
      result = result || other
    }
    return result
  }

  private static func both(_ rest: inout ArraySlice<SwiftToken>, depth: Int) -> Bool {
    var result = single(&rest, depth: depth)
    while rest.first?.isMark("&") == true {
      rest = rest.dropFirst(2)
      let other = single(&rest, depth: depth)
      result = result && other
    }
    return result
  }

  private static func single(_ rest: inout ArraySlice<SwiftToken>, depth: Int) -> Bool {
    guard let token = rest.popFirst(), depth < 16 else { return false }
    if token.isMark("!") { return !single(&rest, depth: depth + 1) }
    if token.isMark("(") {
      let result = either(&rest, depth: depth + 1)
      if rest.first?.isMark(")") == true { rest = rest.dropFirst() }
      return result
    }
    guard let name = token.name else { return false }
    guard rest.first?.isMark("(") == true else { return name == "true" }
    var argument = ""
    var open = 0
    repeat {
      guard let part = rest.popFirst() else { break }
      if part.isMark("(") { open += 1 }
      if part.isMark(")") { open -= 1 }
      argument += part.name ?? ""
    } while open > 0
    return ["canImport", "swift", "compiler"].contains(name) || name == "os" && argument == "iOS"
  }
}
