import Push

// What a name means at its place.
extension SwiftDeclarations {
  enum Meaning {
    case type(SwiftDeclaration)
    case alias(SwiftAlias, path: [String])
    /// A generic parameter of the type of that path.
    case parameter(of: [String])
  }

  /// What a name means within the type of that path: the innermost that has it. Types that are only extended here are not meant.
  func meaning(of names: [String], from path: [String]) -> Meaning? {
    for count in stride(from: path.count, through: 0, by: -1) {
      let around = Array(path.prefix(count))
      if let found = member(names, of: around, steps: 0) { return found }
      let owner = around.joined(separator: ".")
      if names.count == 1, types[owner]?.generics.contains(names[0]) ?? aliases[owner]?.generics.contains(names[0]) ?? false {
        return .parameter(of: around)
      }
    }
    return nil
  }

  private func member(_ names: [String], of path: [String], steps: Int) -> Meaning? {
    let full = path + names
    let key = full.joined(separator: ".")
    if let type = types[key], type.kind != .extended { return .type(type) }
    if let alias = aliases[key] { return .alias(alias, path: full) }
    // The first of several may be another name of a type.
    guard names.count > 1, steps < Self.stepsMax, let alias = aliases[(path + names.prefix(1)).joined(separator: ".")],
      let type = declared(alias.type, from: path)
    else { return nil }
    return member(Array(names.dropFirst()), of: type.path, steps: steps + 1)
  }

  /// The type of this file that a type is, by whichever name.
  func declared(_ type: SwiftType, from path: [String]) -> SwiftDeclaration? {
    if case .declared(let type) = followed(type, from: path) { type } else { nil }
  }

  /// What a type is once other names are followed.
  enum Followed {
    case declared(SwiftDeclaration)
    /// One that the file does not declare, without the name of a module of Swift's own.
    case foreign(String, SourcePlace)
    /// No name, such as an array or a composition, or a generic parameter.
    case other(SwiftType)
  }

  func followed(_ type: SwiftType, from path: [String]) -> Followed {
    var (type, path) = (type, path)
    for _ in 0..<Self.stepsMax {
      guard case .named(let names, let arguments, let place) = type else { return .other(type) }
      switch meaning(of: names, from: path) {
      case .type(let found): return .declared(found)
      case .parameter: return .other(type)
      case nil: return arguments.isEmpty ? .foreign(Self.plain(names).joined(separator: "."), place) : .other(type)
      case .alias(let alias, let found):
        type = alias.type
        path = Array(found.dropLast())
      }
    }
    return .other(type)
  }

  /// Without the name of a module whose types are known.
  static func plain(_ names: [String]) -> [String] {
    names.count > 1 && ["Swift", "Foundation", "CoreFoundation", "ActivityKit", "AppIntents"].contains(names[0])
      ? Array(names.dropFirst()) : names
  }

  /// Other names that are followed one after the other.
  private static let stepsMax = 16

  /// Tells what can be told once all is known: which `init(from:)` decode, and whom extensions of other names belong to.
  mutating func settle() {
    for key in order {
      for one in types[key]?.decodingInits ?? [] {
        guard let path = types[key]?.path, case .foreign("Decoder", _) = followed(one.type, from: path) else { continue }
        if one.isGeneric {
          types[key]?.unseen = SourceProblem(
            place: one.place,
            message:
              "the compiler does not take a generic init(from:) for the one that decoders call, and makes another; write init(from decoder: any Decoder)"
          )
        } else {
          types[key]?.ownDecoding = one.place
        }
      }
    }
    mergeExtensionsOfOtherNames()
  }

  /// Gives what extensions of another name of a type add to the type itself.
  private mutating func mergeExtensionsOfOtherNames() {
    var firstNested: [Substring: String] = [:]
    for key in order { if let end = key.lastIndex(of: "."), firstNested[key[..<end]] == nil { firstNested[key[..<end]] = key } }
    for key in order {
      guard let added = types[key], added.kind == .extended, let alias = aliases[key],
        let type = declared(alias.type, from: Array(added.path.dropLast()))
      else { continue }
      types[key] = nil
      update(type.path, at: type.place) { type in
        type.extensions += added.inherits + added.extensions
        type.computed.merge(added.computed) { own, _ in own }
        type.ownDecoding = type.ownDecoding ?? added.ownDecoding
        type.failableRawInit = type.failableRawInit ?? added.failableRawInit
        type.failableInit = type.failableInit ?? added.failableInit
        type.unseen = type.unseen ?? added.unseen
      }
      guard let nested = firstNested[key[...]] else { continue }
      let place = types[nested]?.place ?? aliases[nested]?.place ?? added.place
      problems.append(
        SourceProblem(place: place, message: "\(key) is another name of \(type.name); declare \(nested) within \(type.name) itself"))
    }
  }
}
