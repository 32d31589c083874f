/// Every bound of the system, with its unit and its reason; nothing grows past what stands here and in the files beside this one.
///
/// Layers that cannot see this file take their bounds as parameters from the compositions, which read them here.
public enum Limits {
  // MARK: Connections and streams

  /// Connections a face serves at once, a loop: ten thousand that rest, and others beside them; one more is closed at accept. A
  /// descriptor and about 35 KB each, less than nghttpd takes (`scripts/bench --idle`).
  public static let connectionsPerLoop = 10_240
  /// Descriptors that the provider face leaves to the control face, the upstreams and the store, of 512 or more; a like part of
  /// fewer. A connection that would take one of them is closed at accept.
  public static let spareDescriptors = 128
  /// Descriptors that the control face leaves to everything else, and to the threads that run its handlers, which end the process
  /// where they get none.
  public static let controlSpareDescriptors = 64
  /// Descriptors (`ulimit -n`) without which no server starts: what one has open at rest, twice over.
  public static let descriptorsMin = 64
  /// Ports of the provider API; each costs a listening socket on each loop.
  public static let providerPorts = 16
  /// Streams a client may have open on one connection; Apple announces 1000.
  public static let concurrentStreams = 1000
  /// Open streams that a client may reset, or make us reset, in one go, and how many more each second: then ENHANCE_YOUR_CALM
  /// (rapid reset, CVE-2023-44487; made-you-reset, CVE-2025-8671). As many as may be open.
  public static let streamResets = (burst: 1000, perSecond: 33)
  /// Frames that bring nothing (PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, unknown ones, …) which a client may send in one
  /// go, how many more each second, and how many each complete request makes up for: then ENHANCE_YOUR_CALM. Ten thousand take half
  /// a millisecond; clients send a few a request. A stream over the limit counts as 2, a header list that is too large as 100 and
  /// more: clients that have not read SETTINGS yet open a thousand streams.
  public static let idleFrames = (burst: 10_000, perSecond: 100, perRequest: 16)
  /// Work of one turn of a connection, and of a round for all that have more to do than others, in units of about 40 ns: 400 µs. What
  /// a client sends at once with a hundred streams is one turn; floods of requests and header bombs are cut into many.
  public static let turnWork = 10_000
  /// What a step of a TLS handshake counts as, in the same unit: a whole round, for it takes some 300 µs, mostly for the signature. A
  /// connection that is accepted counts as a sixteenth of it. Both wait for the requests of connections that are there.
  public static let handshakeWork = 10_000
  /// CONTINUATION frames of one header list (CVE-2024-28182); a list of 8,000 bytes fits one frame.
  public static let continuations = 8
  /// Requests in flight in one loop, all connections together; for a further stream an unfinished one of a connection with more
  /// of them is given up, or it gets REFUSED_STREAM.
  public static let exchangesPerLoop = 16_384
  /// Bytes of header lists and bodies that one loop holds, of all its requests together.
  public static let exchangeBytes = 128 << 20
  /// Bytes of a header list, as Apple's SETTINGS_MAX_HEADER_LIST_SIZE announces (apns.md section 1.3).
  public static let headerListBytes = 8000
  /// Bytes of a request body kept on the provider side: the largest payload of any push type and one more, to see that it is too large.
  public static let providerBodyBytes = 5121
  /// Bytes of a request body on the control side; a registration is below 16 KB.
  public static let controlBodyBytes = 1 << 20
  /// Milliseconds a connection may take for its TLS handshake.
  public static let handshakeMilliseconds: Int64 = 10_000
  /// Milliseconds a request may take from its first header to its last byte; then `IdleTimeout`.
  public static let requestMilliseconds: Int64 = 30_000
  /// Milliseconds a peer may leave answers unread, or without a window, before its connection is closed.
  public static let stalledWriteMilliseconds: Int64 = 30_000
  /// Milliseconds a draining server waits for open requests after SIGTERM.
  public static let drainMilliseconds: Int64 = 5000
  /// Milliseconds before the end of that in which the answers are written that waited for upstreams until then.
  public static let drainAnswerMilliseconds: Int64 = 1000
  /// The most errors that a connection may be configured to be closed after.
  public static let closeAfterErrorsMax = 1_000_000

  /// Bytes of the certificate chain that a client may show, which are held before any of it is verified: Apple's certificate for
  /// pushes and its intermediate have under 4 KB. Stops clients that have 100 KB each held by OpenSSL, its own bound.
  public static let clientChainBytes = 16 << 10
  /// Topics that a client certificate may list; Apple's have three to a dozen. Each push that names its topic is compared with all.
  public static let certificateTopics = 64

  // MARK: Pushes

  /// Pushes that may wait in one token's lane; one more is answered 429 `TooManyRequests`.
  public static let lanePushes = 16
  /// The most that may be configured instead: a token's record counts its lane in a byte.
  public static let lanePushesMax = 250
  /// Bytes of all waiting and unfinished pushes together, unless configured; beyond it, or beyond its upstream's share, a push is
  /// answered 503 `ServiceUnavailable`.
  public static let waitingBytes = 512 << 20
  /// Megabytes that may be configured instead: room for some thousand pushes, and for as many as any machine holds.
  public static let waitingMegabytes = 4...16_384
  /// Bytes of `apns-collapse-id` (Apple, "Sending notification requests to APNs").
  public static let collapseIDBytes = 64
  /// Bytes of `apns-topic`: a bundle id has at most 155 characters, the longest suffix 23.
  public static let topicBytes = 255
  /// Longest storage of a push whose `apns-expiration` is absent or later, in seconds: 30 days.
  public static let storageSeconds: Int64 = 30 * 86_400
  /// Seconds in the past, and in the future, that a provider token's `iat` may lie.
  public static let providerTokenAgeSeconds: Int64 = 3600
  /// The most seconds in the future that may be configured instead: a day, for clocks set to a wrong time zone.
  public static let issuedAheadSecondsMax: Int64 = 86_400
  /// Provider tokens that may be new on a connection, and on all connections of one address with one key, within
  /// `providerTokenUpdateSeconds`: the first, and the small burst that Apple's servers let pass (apns.md section 4.2).
  public static let providerTokensFree = 4
  /// Provider tokens in a row that a connection may bring and that are none, each looked at for up to a tenth of a millisecond, most of
  /// it for its signature; then it is closed. Stops senders of ever new tokens with made-up signatures, who open connections instead,
  /// which costs them as much.
  public static let invalidProviderTokens = 16
  /// Seconds for which a provider token is to be kept (Apple, "Establishing a token-based connection to APNs").
  public static let providerTokenUpdateSeconds: Int64 = 1200
  /// Pairs of address and key whose new provider tokens are counted, a power of two; about 90 bytes each.
  public static let providerTokenSources = 4096
  /// Verified provider tokens remembered in one loop.
  public static let providerTokenVerdicts = 1024
  /// Bytes of an authorization header worth parsing; real provider tokens have under 400.
  public static let authorizationBytes = 2048
  /// Bytes of an error's JSON body; clients are known to read no more than 1024.
  public static let errorBodyBytes = 1024
  /// Bytes of the `detail` in an error's JSON body, escaped: what `errorBodyBytes` leaves of it, and a sentence never needs.
  public static let errorDetailBytes = 768
  /// Seconds that the `timestamp` of an activity push may lie ahead; a device drops it beyond (widgets.md section 4.2).
  public static let activityTimestampAheadSeconds: Int64 = 8 * 3600
  /// Seconds an activity may run before the system ends it.
  public static let activitySeconds: Int64 = 8 * 3600
  /// Seconds an ended activity may stay on the Lock Screen.
  public static let dismissalSeconds: Int64 = 4 * 3600
  /// Levels of nesting in a JSON payload.
  public static let jsonDepth = 64

  // MARK: Command line

  /// Bytes of a file that a command reads: configuration, keys and payloads are far below.
  public static let fileBytes = 16 << 20
  /// Server names that `dev` has certificates for beside the standard one; the oldest goes for a new one. As many others are told of.
  public static let leafNames = 64
  /// Malformed requests that are told in one go, on each loop, and how many more each second; all are counted.
  public static let malformedTold = (burst: 20, perSecond: 1)
  /// Mistakes of senders that the gateway's log tells apart, by warning, push type and field; each has about 150 bytes.
  public static let warningsTold = 256
  /// Seconds for which the log is silent about a mistake that it has told.
  public static let warningToldSeconds: Int64 = 600
  /// Names that a renewed certificate takes over from the one before it; the oldest are left behind.
  public static let keptCertificateNames = 64
  /// URLs of one curl command that `lint` looks at, each with all of the command's headers.
  public static let lintedURLs = 16
  /// Lines about events that may wait for a slow terminal; beyond it they are counted.
  public static let eventLines = 1000
  /// Pages of a list that a search by the beginning of an id or token reads.
  public static let searchPages = 20

  // MARK: Configuration

  /// Values in a configuration file, those that aliases stand for included: a hundred for each of the apps that may be listed.
  public static let configurationValues = 1_000_000
  /// Levels of nesting in a configuration file.
  public static let configurationDepth = 32

  /// Event loops of the data path; more than a machine's cores gain nothing.
  public static let loops = 64
  /// Apps in the configuration.
  public static let apps = 10_000
  /// Bytes of what was set at run time for all apps together: 800 for each of as many as there may be, and within `fileBytes`, which the
  /// next start reads.
  public static let savedAppsBytes = 8 << 20
  /// Keys that provider tokens are checked with; each loop prepares them all.
  public static let providerKeys = 1000
  /// The largest limit of requests a second for one provider key; more is as good as none.
  public static let providerRequestsPerSecond: Int64 = 1_000_000
  /// Teams that the gateway signs for.
  public static let teams = 1000
  /// Keys that the gateway signs with for one team: one for each environment, one for both, and as many topic-specific ones as Apple gives
  /// out for each environment.
  public static let keysPerTeam = 403
  /// Topics that one of them may be limited to, as at Apple.
  public static let topicsPerKey = 400
  /// The longest time between two batches of pushes with priority 5 and 1, in seconds.
  public static let batchSeconds: Int64 = 3600
  /// The longest delay of a push that an upstream has answered with a server error, before it is tried again, in seconds: a day.
  public static let serverErrorRetrySeconds: Int64 = 86_400
  /// Upstreams in the configuration.
  public static let upstreams = 256
  /// Access tokens in the configuration; each call on the control face compares with all.
  public static let accessTokens = 1000
  /// The largest allowance of a budget.
  public static let budgetAllowance: Int64 = 1_000_000_000
  /// The longest that a first reload signal may be held back, in seconds.
  public static let coalesceSeconds: Int64 = 3600
  /// Entries that the push log may be configured to keep.
  public static let pushLogEntriesMax = 10_000_000

  // MARK: Store

  /// Registered tokens.
  public static let registrations = 4_000_000
  /// Placed widgets of one registration.
  public static let widgetsPerRegistration = 64
  /// Operations one batch may carry from a loop to the store.
  public static let batchOperations = 1024
  /// Bytes for which a new batch has room, 128 an operation: the topic, bundle id and payload of a reload signal; larger ones make it grow.
  public static let batchArenaBytes = 128 << 10
  /// Bytes that the store keeps for pushes beyond as many as it has needed in the last two seconds; more are what a backlog has left
  /// behind, and are given back.
  public static let storeSpareBytes = 16 << 20
  /// Blocks of those that it frees between two rounds: some 2 ms.
  public static let storeSpareBlocks = 16_384
  /// Pushes for whose bytes there is memory ready at the start, 256 bytes each.
  public static let pushesPrepared = 4096
  /// Pushes that one loop has in the store's hands, unsettled, before it reads no more requests: three quarters of `exchangesPerLoop`, so
  /// that none has to be refused for want of an exchange. At 20,000 a second, a disk that stands still for half a second.
  public static let unsettledPushes = 12_288
  /// Bytes of their payloads and records before it reads no more.
  public static let unsettledBytes = 64 << 20
  /// Pushes of each loop that may wait for the store thread; a further batch is answered 503 at once. Twice the exchanges of a loop: only
  /// pushes whose clients have gone can be so many.
  public static let inboxPushesPerLoop = 32_768
  /// Bytes of each loop's batches that may wait for it; beyond, pushes are answered 503, and refused requests are left out of the log.
  public static let inboxBytesPerLoop = 128 << 20
  /// Pushes that one commit saves, unless a single batch has more: with a new token for each they change 8 pages of the store, half of what
  /// the write-ahead log may hold.
  public static let roundPushes = 4096
  /// Batches of a loop that wait for the store before further operations are gathered in the last of them: enough for the store to go on
  /// with while the loop adds to it.
  public static let batchesUngathered = 8
  /// Milliseconds of one round of the store after which `/readyz` warns: ten slow syncs of a good disk.
  public static let storeBehindMilliseconds: Int64 = 250
  /// Bytes of journal after which changed tokens are folded into their table.
  public static let journalFoldBytes = 64 << 20
  /// Bytes of changed pages that one commit carries while folding; more would make the commits of busy times slow.
  public static let foldSliceBytes = 256 << 10
  /// Bytes of journal rows that one commit removes: their pages must be read to be freed.
  public static let journalTrimBytes = 1 << 20
  /// Bytes of write-ahead log with which its pages begin to be copied into the database, on a thread of their own.
  public static let writeAheadBytes = 32 << 20
  /// Bytes of it that the store thread copies itself after such a pass, which takes milliseconds; with more left, another pass begins.
  public static let writeAheadRestBytes = 4 << 20
  /// Bytes of it with which commits wait for the pass.
  public static let writeAheadWaitBytes = 256 << 20
  /// Bytes of it that are never passed: commits fail before, and are answered 503. Only somebody who keeps the file open for reading, or a
  /// disk that does not take the copies, can bring it so far.
  public static let writeAheadBytesMax = 512 << 20
  /// Bytes before that bound with which the store takes no more: room for the largest commit, so that none has to be taken back.
  public static let writeAheadSpareBytes = 32 << 20
  /// Milliseconds that a lock of another process on the store's file is waited for; the store thread stands still for so long.
  public static let storeBusyMilliseconds: Int32 = 250
  /// Milliseconds after which the store looks again whether its files are where they were, which costs it some 10 µs.
  public static let storeCheckMilliseconds: Int64 = 1000
  /// Milliseconds after which an engine that has failed is tried again.
  public static let storeRetryMilliseconds: Int64 = 1000
  /// Emptied batches kept for reuse, each with a megabyte of address space; more are in use at once only when the store is behind.
  public static let batchesKept = 256
  /// Bytes of memory that they may take before no more is kept.
  public static let batchBytesKept = 32 << 20
  /// Entries of the push log kept in memory and on disk, unless configured.
  public static let pushLogEntries = 200_000
  /// Refused requests kept in memory and on disk, apart from the accepted ones, so that a flood of them drives out nothing.
  public static let refusedLogEntries = 10_000
  /// Steps remembered of one push; later ones replace the last.
  public static let stepsPerPush = 8
  /// Bytes of the texts that the log of accepted pushes keeps, and as many for the refused ones; beyond, the oldest details of warnings
  /// go, and then texts are left out.
  public static let logTextBytes = 64 << 20
  /// Entries of the push log that one list call looks at; it may then answer a short page, and the next call goes on from there.
  public static let logEntriesPerPage = 20_000
  /// Places of the log that the calls which wait look at in one round, all together: a quarter of a millisecond.
  public static let waitVisits = 16_384
  /// Near misses told when too few pushes match.
  public static let nearMisses = 5
  /// `GET /v1/pushes?wait=` calls open at once.
  public static let pushWaiters = 256
  /// Rows in one page of a list.
  public static let pageRows = 1000
  /// Rows that one call imports, each of some 200 bytes to some KB; `controlBodyBytes` bounds them as well.
  public static let importRows = 4000
  /// Rows that are registered between two rounds of the store, some 10 ms of its thread, in which no push is settled.
  public static let importSlice = 250
  /// Numbers of tokens that a reset looks at between two rounds of the store, under 10 ms of its thread where each has spent something.
  public static let resetTokens: UInt32 = 16_384
  /// Accepted pushes that it forgets between two rounds: some 10 ms, and 150 KB of journal.
  public static let resetPushes: UInt64 = 16_384
  /// Bytes that `widgetpush import` gathers for one call, below `controlBodyBytes`.
  public static let importBytes = 512 << 10

  // MARK: Upstreams

  /// Connections one loop keeps to one upstream, for each key that signs what is sent there.
  public static let upstreamConnections = 4
  /// Connections one loop keeps to upstreams, of all of them and all keys together; a further one cannot be made.
  public static let upstreamConnectionsPerLoop = 4096
  /// Streams one loop opens on one upstream connection, whatever the peer allows.
  public static let upstreamStreams = 1000
  /// Pushes queued in one loop for one upstream before they go back to wait in the store.
  public static let upstreamQueue = 65_536
  /// Milliseconds an upstream may take to connect.
  public static let upstreamConnectMilliseconds: Int64 = 5000
  /// Milliseconds an upstream may take to answer one push.
  public static let upstreamAnswerMilliseconds: Int64 = 15_000
  /// First and longest delay between attempts, in milliseconds.
  public static let retryMilliseconds: (first: Int64, longest: Int64) = (250, 60_000)

  /// Longest delay between attempts to connect to an upstream, in milliseconds: how late its return is noticed.
  public static let reconnectLongestMilliseconds: Int64 = 5000
  /// Server errors in a row with which an upstream is left alone for a while.
  public static let serverErrorsInARow = 10
  /// First and longest span for which it is, in milliseconds; then one push is tried.
  public static let upstreamRestMilliseconds: (first: Int64, longest: Int64) = (1000, 60_000)
  /// Milliseconds that an upstream is left alone after it refused the gateway's own provider token.
  public static let upstreamPauseMilliseconds: Int64 = 60_000
  /// The longest that may be configured instead, in seconds.
  public static let upstreamPauseSecondsMax: Int64 = 3600
  /// Bytes of the pushes queued in one loop, all upstreams together.
  public static let upstreamQueueBytes = 64 << 20

  // MARK: Faults

  /// Fault rules of one gateway or mock device; each push is compared with all of them, some 20 ns each.
  public static let faultRules = 100
  /// The longest that a fault holds a push back, in milliseconds.
  public static let faultDelayMilliseconds: Int64 = 60_000
  /// The longest outage that ends by itself, in milliseconds: a day.
  public static let faultOutageMilliseconds: Int64 = 86_400_000
  /// Pushes that faults hold back at once in one loop; a further one goes on at once.
  public static let faultsHeld = 8192

  // MARK: Control side

  /// Bytes of a request line and header fields on the control face; browsers add cookies of everything else on localhost.
  public static let controlHeadBytes = 16_384
  /// Header field lines of a request on the control face.
  public static let controlFields = 100
  /// Bytes of a name that somebody registers: a widget's kind, a user, a device.
  public static let nameBytes = 256
  /// Bytes of what a device says about a push in its outcome.
  public static let detailBytes = 1024
  /// Bytes of what the log keeps with a push about its warnings: a payload may have any number of keys, and two or three are told.
  public static let warningDetailsBytes = 1536
  /// Bytes of the log's texts from which on the collapse ids of the oldest pushes are forgotten: a text takes 256 bytes, so those of the
  /// last 130,000 pushes are known.
  public static let logCollapseBytes = logTextBytes / 2
  /// Bytes of one warning's detail: a sentence with five keys and their values.
  public static let warningDetailBytes = 640
  /// Values at fault that one sentence names: a reader mends these, and asks again.
  public static let mismatchesNamed = 5
  /// Longest minimum interval and budget window that may be set, in seconds: a week.
  public static let intervalSeconds: Int64 = 7 * 86_400
  /// Milliseconds an HTTP/1.1 connection of the control face may rest between two requests; clients keep pools of them.
  public static let controlIdleMilliseconds: Int64 = 60_000
  /// Bytes of header lists and bodies that the control face holds, of all its requests together.
  public static let controlBytes = 64 << 20
  /// Connections of the control face.
  public static let controlConnections = 1024
  /// The part of all descriptors that the connections of one port of it may have: what is left is the provider face's and the store's.
  public static let controlDescriptorPart = 8
  /// Requests in flight on the control face.
  public static let controlExchanges = 1024
  /// Longest `wait` of a list call, in seconds.
  public static let waitSeconds: Int64 = 300
}
