/// What a client session announces to its server and what it bears.
public struct ClientSettings: Sendable {
  /// The most streams it opens at once, whatever the server allows; memory for a stream is touched when first used.
  public var streamsMax = 1000
  /// SETTINGS_MAX_HEADER_LIST_SIZE in bytes, at most 65535; fields of a response beyond it are dropped.
  public var headerListBytesMax = 8000
  /// Bytes of a response body that are kept; the rest is counted.
  public var bodyBytesMax = 4096
  /// Bytes of body that the server may have on the way over all streams together.
  public var connectionWindowBytes = 4 << 20

  /// The defaults above.
  public init() {}
}
