/// A request that breaks a rule of RFC 9113 section 8, so that its stream was reset and nobody was given it; or whose header list is too
/// large to be kept.
public struct MalformedRequest: Hashable, Sendable {
  /// What is wrong with it.
  public enum Fault: String, CaseIterable, Sendable {
    /// A field's name has capitals (section 8.2.1).
    case uppercaseName = "uppercase_name"
    /// A field's name is empty or has a byte that none has (section 8.2.1).
    case badName = "bad_name"
    /// A field's value begins with white space (section 8.2.1).
    case leadingSpace = "leading_space"
    /// A field's value ends with white space (section 8.2.1).
    case trailingSpace = "trailing_space"
    /// A field's value has a control character (section 8.2.1).
    case controlCharacter = "control_character"
    /// A field speaks of a connection of HTTP/1.1 (section 8.2.2).
    case connectionField = "connection_field"
    /// A pseudo-header field that requests do not have (section 8.3).
    case unknownPseudoField = "unknown_pseudo_field"
    /// A pseudo-header field that stands after an ordinary field (section 8.3).
    case latePseudoField = "late_pseudo_field"
    /// A pseudo-header field in the trailers (section 8.1).
    case trailingPseudoField = "trailing_pseudo_field"
    /// A field that may stand once stands twice (section 8.3).
    case repeatedField = "repeated_field"
    /// A pseudo-header field that each request has is not there (section 8.3.1).
    case missingField = "missing_field"
    /// A field has a value that it cannot have (section 8.3.1).
    case badValue = "bad_value"
    /// The body is longer or shorter than `content-length` says (section 8.1.1).
    case bodyLength = "body_length"
    /// Trailers that do not end the request (section 8.1).
    case unendedTrailers = "unended_trailers"
    /// The header list is larger than SETTINGS_MAX_HEADER_LIST_SIZE, which is answered 431 unless `ServerSettings` resets it.
    case listTooLarge = "list_too_large"
  }

  /// What is wrong.
  public let fault: Fault
  /// The name of the field at fault, as far as it can be printed; empty where it is none's, or where several requests were malformed at
  /// once. No value is ever kept: it may be a credential.
  public let field: String

  /// That fault of that field.
  public init(_ fault: Fault, field: String) {
    self.fault = fault
    self.field = field
  }

  /// The part of a sender's own name that is kept: printable ASCII that a name may have, at most 32 bytes.
  static func printable(_ name: UnsafePointer<UInt8>, _ count: Int) -> String {
    var kept = ""
    for index in 0..<min(count, 32) {
      let scalar = Unicode.Scalar(name[index])
      guard scalar.value > 0x20, scalar.value < 0x7f, index == 0 || scalar != ":" else { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept
  }
}

extension MalformedRequest: CustomStringConvertible {
  /// What is wrong, as a clause without a full stop, with the section of RFC 9113 that says so.
  public var description: String {
    let name = field.isEmpty ? "a field" : field
    return switch fault {
    case .uppercaseName: "the name \(name) has capitals, which no name has in HTTP/2 (RFC 9113 section 8.2.1)"
    case .badName:
      field.isEmpty
        ? "a field has no name (RFC 9113 section 8.2.1)"
        : "a name that begins with \(name) has a character that none has (RFC 9113 section 8.2.1)"
    case .leadingSpace: "\(name) begins with white space (RFC 9113 section 8.2.1)"
    case .trailingSpace: "\(name) ends with white space (RFC 9113 section 8.2.1)"
    case .controlCharacter: "\(name) has a control character in its value, such as a line's end (RFC 9113 section 8.2.1)"
    case .connectionField: "\(name) is a field of HTTP/1.1's connections, which HTTP/2 does not have (RFC 9113 section 8.2.2)"
    case .unknownPseudoField: "\(name) is no pseudo-header field of a request (RFC 9113 section 8.3)"
    case .latePseudoField: "\(name) stands after an ordinary field (RFC 9113 section 8.3)"
    case .trailingPseudoField: "\(name) stands in the trailers (RFC 9113 section 8.1)"
    case .repeatedField: "\(name) stands there twice (RFC 9113 section 8.3)"
    case .missingField: "\(name) is not there (RFC 9113 section 8.3.1)"
    case .badValue: "\(name) has a value that it cannot have (RFC 9113 section 8.3.1)"
    case .bodyLength: "the body has another length than content-length says (RFC 9113 section 8.1.1)"
    case .unendedTrailers: "the trailers do not end the request (RFC 9113 section 8.1)"
    case .listTooLarge: "the header list is larger than SETTINGS_MAX_HEADER_LIST_SIZE, from \(name) on (RFC 9113 section 6.5.2)"
    }
  }
}
