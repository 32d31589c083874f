public import Push

/// What an HTTP/1.1 request may take.
public struct HTTP1Limits: Sendable {
  /// Bytes of the request line and the header fields together.
  public var headBytes: Int
  /// Header field lines.
  public var fields: Int
  /// Bytes of the body.
  public var bodyBytes: Int

  /// Limits with these values.
  public init(
    headBytes: Int = Limits.controlHeadBytes, fields: Int = Limits.controlFields, bodyBytes: Int = Limits.controlBodyBytes
  ) {
    self.headBytes = headBytes
    self.fields = fields
    self.bodyBytes = bodyBytes
  }
}
