// What pushes are told by.
extension Limits {
  /// Bytes of a body written bit by bit that wait until its client reads them; then its writer has to wait.
  public static let streamedBytes = 64 << 10
  /// Calls of `GET /v1/events` open at once; each event is written anew for every one of them.
  public static let eventFollowers = 64
  /// Events that wait for one such call, some KB each; beyond it they are counted, and the caller is told how many it has lost.
  public static let eventsQueued = 1024
  /// Bytes of them, as `PushEvent` counts them: 1 KB for each on average, so that all followers together have at most 64 MB unread.
  public static let eventQueueBytes = 1 << 20
  /// Milliseconds for which a client that does not read its events is left alone before it is tried again.
  public static let eventPauseMilliseconds: Int64 = 50
  /// Milliseconds between two comments on a stream of events, which tell both ends that the other is there; proxies close what rests
  /// for a minute.
  public static let eventHeartbeatMilliseconds: Int64 = 15_000
  /// Seconds after which a stream of events ends, so that its access token is looked at again when the client goes on.
  public static let eventStreamSeconds: Int64 = 3600
  /// Bytes on disk of the payloads that the push log keeps, where it keeps any: as many as 200,000 pushes of ordinary size have.
  public static let pushLogPayloadBytes = 64 << 20
  /// Bytes of refused requests that one commit saves at most: nobody has authenticated those who can have them written.
  public static let refusedSaveBytes = 256 << 10
  /// Milliseconds between two commits that save any; a crash forgets those of so long.
  public static let refusedSaveMilliseconds: Int64 = 1000
  /// The longest time that the push log may be configured to keep a push, in seconds: a year.
  public static let pushLogAgeSecondsMax: Int64 = 366 * 86_400
  /// Attributes types of one app whose content-states are checked; a push is compared with each, so that a word of bits holds the result.
  public static let contentStatesPerApp = 32
  /// Bytes of the schemas of one attributes type: some hundred properties with their types.
  public static let schemaBytes = 64 << 10
  /// Bytes of the schemas that one app brings along, all its types together: eight of the largest, and an eighth of what all apps may bring.
  public static let broughtSchemaBytesOfApp = 512 << 10
  /// Bytes of the schemas that all apps bring along: half of `savedAppsBytes`, so that whoever may register tokens leaves the other half to
  /// what administrators set.
  public static let broughtSchemaBytes = savedAppsBytes / 2
  /// Apps that are known by the schemas that they have brought along and by nothing else: half of `apps`, for the same reason.
  public static let broughtApps = apps / 2
}
