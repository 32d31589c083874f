public import JSON

/// A complete response as a handler makes it, whatever the protocol version it leaves by.
public struct HTTPResponse: Sendable {
  /// The status code.
  public var status: Int
  /// The header fields, without the ones that frame the message (`content-length`, `connection`, `date`).
  public var fields: HTTPFields
  /// The body; a HEAD request is answered without it.
  public var body: [UInt8]
  /// What writes the body bit by bit, in place of `body`; nil for a body that is whole.
  public var stream: BodyStream?

  /// A response with these values.
  public init(status: Int, fields: HTTPFields = [:], body: [UInt8] = [], stream: BodyStream? = nil) {
    self.status = status
    self.fields = fields
    self.body = body
    self.stream = stream
  }

  /// A JSON value, followed by a line feed so that a terminal shows it well.
  public static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, fields: ["content-type": "application/json"], body: Array((value.serialized() + "\n").utf8))
  }

  /// Text of a media type.
  public static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> HTTPResponse {
    HTTPResponse(status: status, fields: ["content-type": type], body: Array(text.utf8))
  }

  /// 204.
  public static let noContent = HTTPResponse(status: 204)

  /// The answer to a request that failed.
  public init(_ error: ControlError) {
    self = .json(error.json, status: error.status)
    for line in error.fields.lines { fields.append(line.name, line.value) }
  }
}
