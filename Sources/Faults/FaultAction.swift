public import Primitives
public import Push

/// What a fault does to a push, and to the connection that the push came by.
public enum FaultAction: Hashable, Sendable {
  /// Nothing: the push goes on, later where the rule has a latency.
  case passes
  /// An answer with this reason and its status, and the push is not done; a 410 has the timestamp, or the present time.
  case answer(Reason, timestamp: Instant?)
  /// GOAWAY: the push is still answered where `isAnswered`, and else among those that were not done.
  case goAway(isAnswered: Bool)
  /// RST_STREAM with this error code (RFC 9113 section 7), and the push is not done.
  case reset(code: UInt32)
  /// SETTINGS that permit so many streams, for as long as the connection lasts; the push goes on.
  case concurrentStreams(Int)
  /// The end of the connection, and the push is not done.
  case close
  /// No answer at all, and the push is not done.
  case stall
  /// The end of the connection and, for so long (nil: until the rule is removed), of every other one that brings a push.
  case outage(TimeSpan?)
}

extension FaultAction {
  /// Error codes of RFC 9113 section 7 that a stream can be reset with, by name.
  public static let resetCodes: [(name: String, code: UInt32)] = [
    ("PROTOCOL_ERROR", 1), ("INTERNAL_ERROR", 2), ("FLOW_CONTROL_ERROR", 3), ("STREAM_CLOSED", 5), ("REFUSED_STREAM", 7), ("CANCEL", 8),
    ("ENHANCE_YOUR_CALM", 11),
  ]

  /// Whether the push goes on to be done.
  public var letsPass: Bool {
    switch self {
    case .passes, .goAway(isAnswered: true), .concurrentStreams: true
    case .answer, .goAway(isAnswered: false), .reset, .close, .stall, .outage: false
    }
  }

  /// Whether it touches nothing but the push itself, so that whoever sees one app only may ask for it.
  public var isOfPushAlone: Bool {
    switch self {
    case .passes, .answer, .reset, .stall: true
    case .goAway, .concurrentStreams, .close, .outage: false
    }
  }

  /// What was done, to go on from "fault 3: ".
  public var sentence: String {
    switch self {
    case .passes: "the push was held back for a while"
    case .answer(let reason, _): "answered \(reason.status) \(reason)"
    case .goAway(isAnswered: true): "the connection was ended with GOAWAY after this push"
    case .goAway(isAnswered: false): "the connection was ended with GOAWAY before this push, which was not done"
    case .reset(let code):
      "the stream was reset with \(Self.resetCodes.first { $0.code == code }?.name ?? "\(code)")"
    case .concurrentStreams(let count): "the connection was limited to \(count) \(count == 1 ? "stream" : "streams")"
    case .close: "the connection was closed"
    case .stall: "the push was never answered"
    case .outage: "an outage: the connection was closed"
    }
  }
}
