public import Primitives
public import Push

/// A reload of many widgets and controls: what was asked for, and how far it has come.
public struct Reload: Hashable, Sendable {
  /// Where it is.
  public enum State: UInt8, CaseIterable, Sendable {
    /// Its pushes are being made.
    case running
    /// Each match has got its push; those that wait go when their budgets allow.
    case finished
    /// Somebody has stopped it.
    case stopped

    /// The name used in JSON.
    public var name: String { "\(self)" }
  }

  /// Its id, of which each of its pushes has the first half in its own.
  public let id: PushID
  /// What was asked for.
  public let request: ReloadRequest
  /// When it was asked for.
  public let created: Instant
  /// Where it is.
  public internal(set) var state = State.running
  /// When it was finished or stopped.
  public internal(set) var ended: Instant?
  /// How many registrations matched when it began; nil while they are being counted.
  public internal(set) var matches: Int?
  /// How many matches it has come past.
  public internal(set) var visited = 0
  /// How many of those got no push, since the token is dead, or gone meanwhile.
  public internal(set) var skipped = 0
  /// Pushes that have been taken in and have not ended.
  public internal(set) var open = 0
  /// Pushes among those that are on their way to their upstream.
  public internal(set) var forwarding = 0

  /// How far the walk is.
  var position = ReloadPosition.start
  /// How it is spread; nil until it goes on.
  var pace: ReloadPace?
  /// When the next slice is due; what a reload that is spread has to know after a restart, so as not to send one early.
  var resumesAt: Instant?
  /// The pushes that have ended, by the raw value of their disposition.
  var ends = ContiguousArray(repeating: 0, count: Disposition.allCases.count)

  init(id: PushID, request: ReloadRequest, created: Instant) {
    self.id = id
    self.request = request
    self.created = created
  }

  /// How many of its pushes are, or have ended, so.
  public func count(_ disposition: Disposition) -> Int {
    switch disposition {
    case .waiting: max(0, open - forwarding)
    case .forwarding: forwarding
    default: ends[Int(disposition.rawValue)]
    }
  }
}

/// What is asked of a reload.
public struct ReloadRequest: Hashable, Sendable {
  /// Which registrations.
  public var selector: ReloadSelector
  /// Over how long a time its pushes are spread; zero for as fast as it goes.
  public var spread: TimeSpan
  /// The caller's name for the request, by which it is known again; nil when it has none.
  public var key: String?
  /// Who asks: keys of different callers have nothing to do with each other.
  public var caller: String

  /// A request with these values.
  public init(selector: ReloadSelector, spread: TimeSpan = .zero, key: String? = nil, caller: String = "") {
    self.selector = selector
    self.spread = spread
    self.key = key
    self.caller = caller
  }
}

/// What became of a request for a reload.
public enum ReloadAnswer: Hashable, Sendable {
  /// It has begun.
  case begun(Reload)
  /// The very same request came before, under the same key: that reload.
  case repeated(Reload)
  /// The key stands for another request.
  case keyInUse(PushID)
  /// As many run as may, in all or for those who ask.
  case tooMany(ShareRefusal)
}

/// What a reload would do at this moment.
public struct ReloadForecast: Hashable, Sendable {
  /// How many registrations match.
  public internal(set) var matches = 0
  /// How many of them would get no push, since the token is dead.
  public internal(set) var skipped = 0
  /// What would become of the pushes at first, by the raw value of their disposition.
  var first = ContiguousArray(repeating: 0, count: Disposition.allCases.count)

  /// How many pushes would be so at first.
  public func count(_ disposition: Disposition) -> Int { first[Int(disposition.rawValue)] }
}
