import Push

/// What a type conforms to, as far as the file says.
struct SwiftConformances {
  /// Protocols of Swift and Apple's frameworks, through those of the file and through other names as well.
  var names: Set<String> = []
  /// The protocols of the file.
  var protocols: [SwiftDeclaration] = []
  /// Classes of the file that it inherits from.
  var superclasses: [SwiftDeclaration] = []
  /// What is neither declared in the file nor known.
  var unknown: [(name: String, place: SourcePlace)] = []

  /// Whether it is said to decode; what is not known may say so.
  var mayDecode: Bool { decodes || !unknown.isEmpty }
  /// Whether it is said to decode.
  var decodes: Bool { !names.isDisjoint(with: ["Codable", "Decodable", "ActivityAttributes"]) }

  /// Protocols that change nothing about decoding but by their names.
  static let known: Set<String> = [
    "Codable", "Decodable", "Encodable", "ActivityAttributes", "Hashable", "Equatable", "Comparable", "Sendable", "SendableMetatype",
    "Copyable", "BitwiseCopyable", "Escapable", "Identifiable", "CaseIterable", "RawRepresentable", "OptionSet", "SetAlgebra", "CodingKey",
    "CodingKeyRepresentable", "CustomStringConvertible", "CustomDebugStringConvertible", "CustomReflectable", "LosslessStringConvertible",
    "ExpressibleByStringLiteral", "ExpressibleByIntegerLiteral", "ExpressibleByStringInterpolation", "ExpressibleByArrayLiteral",
    "ExpressibleByDictionaryLiteral", "Error", "LocalizedError", "CustomNSError", "Strideable", "AdditiveArithmetic", "Sequence",
    "Collection", "AnyObject", "ObservableObject", "Observable", "AppEnum", "AppEntity", "TransientAppEntity", "AppValue",
    "CustomLocalizedStringResourceConvertible", "Transferable", "Plottable", "VectorArithmetic", "Animatable", "View", "Widget", "Shape",
    "ShapeStyle", "PreviewProvider", "TimelineEntry", "TimelineProvider", "AppIntentTimelineProvider", "WidgetConfigurationIntent",
    "AppIntent",
    "LiveActivityIntent",
  ]
}

extension SwiftDeclarations {
  func conformances(of type: SwiftDeclaration) -> SwiftConformances {
    var result = SwiftConformances()
    let most = Limits.swiftSourceConformances + 1
    var waiting = (type.inherits.prefix(most) + type.extensions.prefix(most)).map { (type: $0, path: type.path) }
    var (index, seen) = (0, Set<String>())
    while index < waiting.count {
      let (next, path) = waiting[index]
      index += 1
      guard index < most else {
        result.unknown.append(("more than \(Limits.swiftSourceConformances) protocols", type.place))
        break
      }
      if case .composition(let parts, _) = next { waiting += parts.prefix(most).map { ($0, path) } }
      guard case .named(let names, _, let place) = next else { continue }
      switch meaning(of: names, from: path) {
      case _ where names.last == "ActivityAttributes": result.names.insert("ActivityAttributes")
      case .type(let found) where found.kind == .protocolType:
        guard seen.insert(found.name).inserted else { continue }
        result.protocols.append(found)
        waiting += found.inherits.prefix(most).map { ($0, found.path) }
      case .type(let found): if found.kind == .reference { result.superclasses.append(found) }
      case .alias(let alias, let path):
        guard seen.insert(path.joined(separator: ".")).inserted else { continue }
        waiting.append((alias.type, Array(path.dropLast())))
      case .parameter: break
      case nil:
        let plain = Self.plain(names)
        if plain.count == 1, SwiftConformances.known.contains(plain[0]) {
          result.names.insert(plain[0])
        } else if !SchemaWriter.plainNames.contains(plain.joined(separator: ".")) {
          result.unknown.append((names.joined(separator: "."), place))
        }
      }
    }
    return result
  }
}
