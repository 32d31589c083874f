/// The form of a route's path, such as `/v1/pushes/{id}`: literal segments and named ones that match anything but nothing.
struct RoutePattern: Sendable {
  enum Segment: Hashable, Sendable {
    case literal(String)
    case parameter(String)
  }

  let text: String
  let segments: [Segment]

  init(_ text: String) {
    precondition(text.hasPrefix("/"))
    self.text = text
    let parts = text == "/" ? [] : text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    segments = parts.map { part in
      part.hasPrefix("{") && part.hasSuffix("}") ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
    }
  }

  /// The values of the named segments if `path` has this form, else nil.
  func match(_ path: [String]) -> [String: String]? {
    guard path.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, value) in zip(segments, path) {
      switch segment {
      case .literal(let literal): guard literal == value else { return nil }
      case .parameter(let name):
        guard !value.isEmpty else { return nil }
        values[name] = value
      }
    }
    return values
  }

  /// This form with its named segments taken from `path` where it has them, for comparing likeness segment by segment.
  func filled(from path: [String]) -> [String] {
    segments.enumerated().map { index, segment in
      switch segment {
      case .literal(let literal): literal
      case .parameter(let name): index < path.count && !path[index].isEmpty ? path[index] : "{\(name)}"
      }
    }
  }
}
