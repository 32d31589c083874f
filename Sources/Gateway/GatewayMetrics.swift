import Delivery
import HTTP2
import Push
import Storage
public import Telemetry

/// What the gateway counts. No label ever holds anything that a sender chose.
public final class GatewayMetrics: Sendable {
  private let requests: Counter
  private let attempts: Counter
  private let refusedConnections: Counter
  private let malformedRequests: Counter
  private let others: [any Metric]

  /// The first place of a type's row; the last row is for requests whose type was not understood.
  private static let answers = 1 + Reason.allCases.count
  private static let outcomes = [
    "accepted", "applied", "ignored", "pending", "retry", "notAttempted", "unregistered", "suspect", "refused",
  ]

  /// Metrics with one shard for each loop, and gauges that ask `store`, whose upstreams have these names.
  init(loops: Int, store: Store, upstreams: [String] = []) {
    let types = Dimension("push_type", PushType.allCases.map(\.description) + ["none"])
    let answers = Dimension(["status", "reason"], [["200", ""]] + Reason.allCases.map { ["\($0.status)", $0.description] })
    requests = Counter(
      "widgetpush_requests_total", help: "Answers of the provider API.", dimensions: [types, answers], shards: loops)
    attempts = Counter(
      "widgetpush_upstream_attempts_total", help: "Outcomes of attempts to forward a push.",
      dimensions: [Dimension("outcome", Self.outcomes)], shards: loops)
    refusedConnections = Counter(
      "widgetpush_connections_refused_total", help: "Connections to the provider API that were refused or ended below HTTP.",
      dimensions: [Dimension("kind", ConnectionRefusal.allCases.map(\.rawValue))], shards: loops)
    malformedRequests = Counter(
      "widgetpush_requests_malformed_total", help: "Requests to the provider API that were reset for breaking a rule of HTTP/2.",
      dimensions: [Dimension("fault", MalformedRequest.Fault.allCases.map(\.rawValue))], shards: loops)
    let final = Disposition.allCases.filter { $0.isFinal && $0 != .refused }
    let perUpstream: [any Metric] = upstreams.isEmpty ? [] : Self.shares(of: upstreams, store)
    others =
      perUpstream + [
        Gauge("widgetpush_ready", help: "1 when the gateway takes pushes.") { store.readiness == .ready ? 1 : 0 },
        Gauge("widgetpush_registrations", help: "Registered push tokens.") { Double(store.counters.registrations) },
        Gauge("widgetpush_pushes_waiting", help: "Pushes that wait for budget or upstream.") { Double(store.counters.waiting) },
        Gauge("widgetpush_pushes_in_flight", help: "Pushes on their way to an upstream.") { Double(store.counters.inFlight) },
        Gauge("widgetpush_pushes_unsettled", help: "Pushes that wait until the store has saved those before them.") {
          Double(store.pushesInInbox)
        },
        Gauge("widgetpush_channels", help: "Broadcast channels.") { Double(store.counters.channels) },
        Gauge("widgetpush_broadcasts_pending", help: "Broadcasts that have not reached every upstream.") {
          Double(store.counters.broadcastsPending)
        },
        Gauge("widgetpush_waiting_bytes", help: "Bytes held for pushes that have not ended.") { Double(store.counters.waitingBytes) },
        Gauge("widgetpush_journal_bytes", help: "Bytes of journal not folded yet.") { Double(store.counters.journalBytes) },
        CounterReading("widgetpush_commits_total", help: "Commits since the start.") { store.counters.commits },
        CounterReading("widgetpush_commits_failed_total", help: "Commits that failed since the start.") { store.counters.failedCommits },
        CounterReading(
          "widgetpush_checkpoints_failed_total",
          help: "Copies from the store's write-ahead log into its database that failed since the start."
        ) { store.counters.failedCheckpoints },
        CounterReading(
          "widgetpush_pushes_total", help: "Accepted pushes by their end, since the start.",
          dimension: Dimension(
            ["push_type", "disposition"], PushType.allCases.flatMap { type in final.map { [type.description, $0.name] } })
        ) {
          let counters = store.counters
          return PushType.allCases.flatMap { type in final.map { counters.finished(type, $0) } }
        },
      ]
  }

  /// What waits for each upstream, whose names are the configuration's own.
  private static func shares(of upstreams: [String], _ store: Store) -> [any Metric] {
    let dimension = Dimension("upstream", upstreams)
    return [
      Gauge(
        "widgetpush_upstream_waiting_bytes", help: "Bytes held for pushes that have not ended, by their upstream.", dimension: dimension
      ) { store.bytesByUpstream.map(Double.init) },
      Gauge(
        "widgetpush_upstream_full",
        help: "1 when the pushes for an upstream hold all that they may, so that further ones are answered 503.",
        dimension: dimension
      ) {
        let warnings = store.warnings
        return upstreams.map { warnings.contains(.upstreamFull($0)) ? 1 : 0 }
      },
    ]
  }

  /// Everything that `/metrics` shows of the gateway.
  public var all: [any Metric] { [requests, attempts, refusedConnections, malformedRequests] + others }

  func accepted(_ type: PushType, shard: Int) { requests.add(at: Int(type.rawValue) * Self.answers, shard: shard) }

  func answered(_ type: PushType?, _ reason: Reason, shard: Int) {
    let row = type.map { Int($0.rawValue) } ?? PushType.allCases.count
    requests.add(at: row * Self.answers + 1 + Int(reason.rawValue), shard: shard)
  }

  func refused(_ kind: ConnectionRefusal, shard: Int) {
    refusedConnections.add(at: ConnectionRefusal.allCases.firstIndex(of: kind)!, shard: shard)
  }

  func malformed(_ fault: MalformedRequest.Fault, shard: Int) {
    malformedRequests.add(at: MalformedRequest.Fault.allCases.firstIndex(of: fault)!, shard: shard)
  }

  func forwarded(_ outcome: UpstreamOutcome, shard: Int) {
    let index =
      switch outcome {
      case .accepted: 0
      case .finished(.applied, _): 1
      case .finished: 2
      case .pending: 3
      case .retry: 4
      case .notAttempted: 5
      case .unregistered, .expired: 6
      case .suspect: 7
      case .refused: 8
      }
    attempts.add(at: index, shard: shard)
  }
}
