/// What a server session announces to its client and what it bears.
public struct ServerSettings: Sendable {
  /// SETTINGS_MAX_CONCURRENT_STREAMS of the first SETTINGS, below 2^24; a stream more is refused.
  public var concurrentStreams = 1000
  /// What it is raised to for a client that is trusted (`ServerSession.init`); Apple announces 1000 (apns.md section 1.3).
  public var concurrentStreamsTrusted = 1000
  /// SETTINGS_MAX_HEADER_LIST_SIZE in bytes by RFC 9113 section 6.5.2, at most 65535; a larger list is answered 431.
  public var headerListBytesMax = 8000
  /// Bytes of a request body that are kept; the rest is counted.
  public var bodyBytesMax: Int
  /// Open streams a client may reset, or break the rules of a message on, in one go, at least 1, and as many more each second
  /// as `streamResetsPerSecond`: beyond it, the connection is closed (rapid reset, CVE-2023-44487).
  public var streamResetBurst = 1000
  /// How many more of them each second allows, at least 1.
  public var streamResetsPerSecond = 33
  /// Frames that bring nothing, which a client may send in one go, at least 1: all but HEADERS of streams that are opened, and DATA
  /// that ends a body or has 64 bytes of it; streams over the limit and header lists that are too large count too. Beyond it, the
  /// connection is closed with ENHANCE_YOUR_CALM (RFC 9113 section 10.5).
  public var idleFrameBurst = 10_000
  /// How many more of them each second allows, at least 1.
  public var idleFramesPerSecond = 100
  /// How many of them a complete request makes up for: clients send window updates, pings and acknowledgements.
  public var idleFramesPerRequest = 16
  /// CONTINUATION frames that one header list may be split into (CVE-2024-28182).
  public var continuationsMax = 8

  /// Whether the stream of a header list that is too large is reset with PROTOCOL_ERROR rather than answered 431.
  public var resetsHeaderOverflow = false

  /// Whether spaces around the values of `authorization` and of Apple's own fields are passed over; else such a request is malformed, as one
  /// with spaces around any other value is (RFC 9113 section 8.2.1).
  public var trimsFields = false

  /// Answers of status 400 and above, but for 410, after which GOAWAY is said and the connection is closed; 0 means never.
  public var errorAnswersMax = 0

  /// Apple's settings, with at most `bodyBytesMax` bytes of each body kept.
  public init(bodyBytesMax: Int) { self.bodyBytesMax = bodyBytesMax }
}
