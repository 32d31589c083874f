/// A request as HTTP/1.1 framed it.
struct HTTP1Message: Sendable {
  var method = HTTPMethod.get
  /// The request target as it was sent.
  var target = ""
  /// The minor version: 0 or 1.
  var minorVersion = 1
  var fields = HTTPFields()
  var body: [UInt8] = []
  /// Whether the client will send another request on the connection.
  var keepsAlive = true
}
