import Push

/// Leaves out the branches of `#if` that an app for a device is not built with.
///
/// True are `os(iOS)`, `arch(arm64)`, `canImport` of what a device has, and the versions of a new `swift` and `compiler`; every other condition
/// is false, such as `DEBUG`, as in the app that people have.
struct BuildConditions {
  private let tokens: [SwiftToken]
  private var index = 0
  private var kept: [SwiftToken] = []
  private var problems: [SourceProblem] = []

  private init(_ tokens: [SwiftToken]) { self.tokens = tokens }

  /// The tokens that are compiled, and the conditions that stand alone.
  static func compiled(_ tokens: [SwiftToken]) -> (tokens: [SwiftToken], problems: [SourceProblem]) {
    var conditions = BuildConditions(tokens)
    conditions.run()
    return (conditions.kept, conditions.problems)
  }

  private mutating func refuse(_ message: String, at place: SourcePlace) {
    if problems.count < Limits.swiftSourceProblems { problems.append(SourceProblem(place: place, message: message)) }
  }

  private mutating func run() {
    /// For each `#if` that is open: whether its branch is compiled, whether one was, and whether what surrounds it is.
    var open: [(isActive: Bool, wasActive: Bool, isOuterActive: Bool, place: SourcePlace)] = []
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
        open.append((isActive && holds, holds, isActive, token.place))
      case "endif": if open.popLast() == nil { refuse("#endif without an #if before it", at: token.place) }
      default:
        let holds = name == "else" || condition()
        guard let last = open.popLast() else {
          refuse("#\(name) without an #if before it", at: token.place)
          continue
        }
        open.append((last.isOuterActive && !last.wasActive && holds, last.wasActive || holds, last.isOuterActive, last.place))
      }
    }
    if let last = open.last { refuse("the #if that stands here has no #endif; is the file cut off?", at: last.place) }
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
    var (argument, isBelow, open) = ("", false, 0)
    repeat {
      guard let part = rest.popFirst() else { break }
      if part.isMark("(") { open += 1 }
      if part.isMark(")") { open -= 1 }
      if part.isMark("<") { isBelow = true }
      argument += part.name ?? ""
    } while open > 0
    switch name {
    case "swift", "compiler": return !isBelow
    case "canImport": return !absentModules.contains(argument)
    case "os": return argument == "iOS"
    case "arch": return argument == "arm64"
    default: return false
    }
  }

  /// Modules of other systems.
  private static let absentModules: Set<String> = [
    "AppKit", "Cocoa", "Glibc", "Musl", "Android", "WinSDK", "CRT", "ucrt", "FoundationNetworking", "FoundationXML", "WatchKit",
  ]
}
