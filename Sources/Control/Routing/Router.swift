import Primitives

/// Finds what serves a method and a path.
public struct Router<Endpoint: Sendable>: Sendable {
  /// What was found.
  public enum Match {
    /// An endpoint, and the values of the pattern's named segments.
    case found(Endpoint, [String: String])
    /// The path exists, with these methods only.
    case methodNotAllowed([HTTPMethod])
    /// There is no such path; `nearest` is the pattern most like it, if one is.
    case notFound(nearest: String?)
  }

  private struct Entry: Sendable {
    let method: HTTPMethod
    let pattern: RoutePattern
    let endpoint: Endpoint
  }

  private let entries: [Entry]

  /// A router of these endpoints; a pattern with literals goes before one that could match the same path by name.
  public init(_ endpoints: [(method: HTTPMethod, pattern: String, endpoint: Endpoint)]) {
    entries = endpoints.map { Entry(method: $0.method, pattern: RoutePattern($0.pattern), endpoint: $0.endpoint) }
  }

  /// What serves `method` on a path of these segments. HEAD is served by GET.
  public func match(_ method: HTTPMethod, _ path: [String]) -> Match {
    var allowed: [HTTPMethod] = []
    for entry in entries {
      guard let values = entry.pattern.match(path) else { continue }
      if entry.method == method || (entry.method == .get && method == .head) { return .found(entry.endpoint, values) }
      if !allowed.contains(entry.method) { allowed.append(entry.method) }
    }
    guard allowed.isEmpty else {
      if allowed.contains(.get) { allowed.append(.head) }
      return .methodNotAllowed(allowed)
    }
    return .notFound(nearest: nearestPattern(to: path))
  }

  /// Segments are cut before they are compared: a push token in the path would drown the difference that matters.
  private func nearestPattern(to path: [String]) -> String? {
    func comparable(_ segments: [String]) -> String { segments.map { $0.prefix(16) }.joined(separator: "/") }
    let forms = entries.map { comparable($0.pattern.filled(from: path)) }
    guard let nearest = nearestName(to: comparable(path), among: forms), let index = forms.firstIndex(of: nearest) else { return nil }
    return entries[index].pattern.text
  }
}
