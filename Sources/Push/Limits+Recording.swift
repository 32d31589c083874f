// What recordings are bound by.
extension Limits {
  /// Calls of `GET /v1/recording` open at once: while there is one, every push is copied for each of them.
  public static let recorders = 8
  /// Bytes of requests and changes that wait for one such call; beyond it they are counted, and the caller is told how many it has lost.
  public static let recordingBytes = 16 << 20
  /// Bytes that something which waits for a recorder counts beside its payload and header fields.
  public static let recordedItemBytes = 512
  /// Push tokens of which is remembered that a recorder was told of their registration, 100 bytes each; beyond it they are told again.
  public static let recordedTokens = 65_536
  /// Seconds after which a recording ends, so that its access token is looked at again when the caller goes on: a day, which is what
  /// people record.
  public static let recordingSeconds: Int64 = 86_400
  /// Seconds for which `widgetpush record` waits for what becomes of the last pushes that it was to record.
  public static let recordedOutcomeSeconds: Int64 = 5
  /// Seconds for which `widgetpush replay` waits for what becomes of the last pushes, where the clock cannot be moved.
  public static let replayedOutcomeSeconds: Int64 = 10
  /// Pushes in a row that a server may leave without an answer before a replay gives it up.
  public static let replayFailures = 3
  /// Replays that may be under way at one server: each has app names of its own, which the server's list of apps bounds anyway.
  public static let replaysAtOnce = 9
}
