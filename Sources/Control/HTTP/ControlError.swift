public import JSON

/// Why a request failed; the body is `{"error":{"code","message","field"?}}`.
public struct ControlError: Error, Hashable, Sendable {
  /// The HTTP status.
  public var status: Int
  /// A word for programs, in lower camel case.
  public var code: String
  /// A sentence for people: what is wrong, where, and what would be right.
  public var message: String
  /// The field, query parameter or part of the request that is wrong, where it is one.
  public var field: String?
  /// Header fields of the answer.
  public var fields: HTTPFields = [:]

  /// An error with these values.
  public init(status: Int, code: String, message: String, field: String? = nil, fields: HTTPFields = [:]) {
    self.status = status
    self.code = code
    self.message = message
    self.field = field
    self.fields = fields
  }

  /// The body of the answer.
  public var json: JSONValue {
    var error: JSONObject = ["code": .string(code), "message": .string(message)]
    if let field { error["field"] = .string(field) }
    return ["error": .object(error)]
  }

  /// 400: a part of the request has the wrong form.
  public static func badRequest(_ message: String, field: String? = nil) -> ControlError {
    ControlError(status: 400, code: "badRequest", message: message, field: field)
  }

  /// 401: no access token, or one that is unknown or no longer valid.
  public static func unauthorized(_ message: String) -> ControlError {
    ControlError(status: 401, code: "unauthorized", message: message, fields: ["www-authenticate": "Bearer realm=\"widgetpush\""])
  }

  /// 403: the access token does not reach so far.
  public static func forbidden(_ message: String, field: String? = nil) -> ControlError {
    ControlError(status: 403, code: "forbidden", message: message, field: field)
  }

  /// 404: there is no such thing, or it belongs to an app that the access token does not see.
  public static func notFound(_ message: String) -> ControlError {
    ControlError(status: 404, code: "notFound", message: message)
  }

  /// 409: the request does not fit what is there.
  public static func conflict(_ message: String) -> ControlError {
    ControlError(status: 409, code: "conflict", message: message)
  }

  /// 413: the body is larger than `bytesMax`.
  public static func tooLarge(bytesMax: Int) -> ControlError {
    ControlError(status: 413, code: "tooLarge", message: "the body must have at most \(bytesMax) bytes", field: "body")
  }

  /// 503: try again later.
  public static func unavailable(_ message: String) -> ControlError {
    ControlError(status: 503, code: "unavailable", message: message, fields: ["retry-after": "1"])
  }

  /// 400 for a body that is not JSON.
  public init(_ error: JSONError) {
    self = ControlError(status: 400, code: "invalidJSON", message: "the body is not valid JSON: \(error)", field: "body")
  }

  /// 400 for a field of the body.
  public init(_ error: FieldError) {
    self = ControlError(status: 400, code: "invalidField", message: error.message, field: error.field)
  }
}
