import CHTTPParser

/// Why bytes are no acceptable HTTP/1.1 request, in words for whoever wrote the client.
enum HTTP1Fault {
  static let folded = bad("a header field must stand on one line (RFC 9112 section 5.2)", "headers")
  static let fieldName = bad("a header field must have a name of letters, digits and hyphens, directly followed by a colon", "headers")
  static let version = ControlError(
    status: 505, code: "versionNotSupported", message: "the request line must end in HTTP/1.1 or HTTP/1.0", field: "version")

  static let lineEnd = bad("every line must end in CR LF", "headers")
  static let fieldForm = bad("a header field must have the form Name: value, without control characters", "headers")
  static let chunkSize = bad(
    "a chunk must begin with its size in hexadecimal digits on a line of its own, which may have extensions behind a semicolon", "body")
  static let chunkEnd = bad("the data of a chunk must have as many bytes as its size says, and end in CR LF", "body")

  /// What comes in place of a method; `first` is its first byte.
  static func method(first: UInt8) -> ControlError {
    // The record of a TLS handshake.
    if first == 0x16 {
      return bad("this port speaks plain HTTP and the client speaks TLS; use an http:// URL, or the port that speaks TLS", "scheme")
    }
    return bad("a request must begin with a line such as GET /v1/pushes HTTP/1.1", "method")
  }

  static func headTooLarge(bytesMax: Int) -> ControlError {
    ControlError(
      status: 431, code: "headTooLarge", message: "the request line and header fields must have at most \(bytesMax) bytes",
      field: "headers")
  }

  static func tooManyFields(max: Int) -> ControlError {
    ControlError(status: 431, code: "headTooLarge", message: "a request must have at most \(max) header fields", field: "headers")
  }

  /// What is wrong with a head that the library accepted.
  static func inHead(_ message: HTTP1Message) -> ControlError? {
    let hosts = message.fields.all("host")
    if hosts.count > 1 || (hosts.isEmpty && message.minorVersion == 1) {
      return bad("an HTTP/1.1 request must have exactly one host header field, not \(hosts.count)", "host")
    }
    let codings = message.fields.tokens("transfer-encoding")
    if message.fields["transfer-encoding"] != nil, message.minorVersion == 0 {
      return bad("HTTP/1.0 has no transfer-encoding (RFC 9112 section 6.1); send content-length, or HTTP/1.1", "transfer-encoding")
    }
    if message.fields["transfer-encoding"] != nil && codings != ["chunked"] {
      return bad("transfer-encoding must be chunked and nothing else", "transfer-encoding")
    }
    if !message.fields.tokens("expect").allSatisfy({ $0 == "100-continue" }) {
      return ControlError(status: 417, code: "expectationFailed", message: "expect must be 100-continue", field: "expect")
    }
    return nil
  }

  /// What the library found.
  static func error(_ problem: http_errno) -> ControlError {
    switch problem {
    case HPE_INVALID_VERSION, HPE_INVALID_CONSTANT: return bad("the request line must end in HTTP/1.1", "version")
    case HPE_INVALID_URL, HPE_INVALID_HOST, HPE_INVALID_PORT, HPE_INVALID_PATH, HPE_INVALID_QUERY_STRING, HPE_INVALID_FRAGMENT:
      return bad("the request target must be a path that begins with a slash, percent-encoded, such as /v1/pushes", "path")
    case HPE_INVALID_CONTENT_LENGTH: return bad("content-length must be a number of bytes in decimal digits", "content-length")
    case HPE_UNEXPECTED_CONTENT_LENGTH:
      return bad("content-length must be given once, and not together with transfer-encoding", "content-length")
    case HPE_INVALID_TRANSFER_ENCODING: return bad("transfer-encoding must be chunked and nothing else", "transfer-encoding")
    case HPE_HEADER_OVERFLOW:
      return ControlError(
        status: 431, code: "headTooLarge", message: "the request line and header fields are too large", field: "headers")
    case HPE_INVALID_HEADER_TOKEN: return fieldForm
    case HPE_LF_EXPECTED, HPE_STRICT: return lineEnd
    default: return bad("the request is not HTTP/1.1: \(String(cString: http_errno_description(problem)))", nil)
    }
  }

  private static func bad(_ message: String, _ field: String?) -> ControlError {
    ControlError(status: 400, code: "badRequest", message: message, field: field)
  }
}
