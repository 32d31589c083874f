/// A request method (RFC 9110 section 9): a token, compared with regard to case.
public struct HTTPMethod: Hashable, Sendable {
  /// The method's text.
  public let text: String

  /// The method of that text, known or not.
  public init(_ text: String) { self.text = text }

  /// Reads.
  public static let get = HTTPMethod("GET")
  /// Reads, without the body.
  public static let head = HTTPMethod("HEAD")
  /// Acts.
  public static let post = HTTPMethod("POST")
  /// Creates or replaces.
  public static let put = HTTPMethod("PUT")
  /// Changes in part.
  public static let patch = HTTPMethod("PATCH")
  /// Removes.
  public static let delete = HTTPMethod("DELETE")
}

extension HTTPMethod: CustomStringConvertible {
  /// The method's text.
  public var description: String { text }
}
