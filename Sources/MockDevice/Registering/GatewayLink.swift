import Telemetry

/// How a mock device stands with its gateway: a pure state machine that tells each change once, however many calls find the same.
struct GatewayLink {
  /// What a call has found.
  enum Finding: Equatable {
    /// The gateway answered, which does not say yet that it tells what it is asked.
    case reached
    /// It told what it was asked.
    case told
    /// It answered, and does not tell: the clause says what it answered.
    case unwilling(String)
    /// It did not answer, or is not known: the clause says why.
    case unreachable(String)
  }

  /// What has changed.
  enum Change: Equatable {
    case lost(String)
    case refuses(String)
    case restored
  }

  private enum State {
    case untried, good, unwilling, unreachable
  }

  private var state = State.untried

  /// Whether it is worth looking, by itself, whether the gateway is there.
  var isToBeLookedFor: Bool { state == .unreachable || state == .untried }

  /// Takes what a call has found; what has changed by it, if anything.
  mutating func note(_ finding: Finding) -> Change? {
    let before = state
    switch finding {
    case .reached: if before != .unwilling { state = .good }
    case .told: state = .good
    case .unwilling: state = .unwilling
    case .unreachable: state = .unreachable
    }
    guard state != before else { return nil }
    switch finding {
    case .unreachable(let why): return .lost(why)
    case .unwilling(let why): return .refuses(why)
    case .reached, .told: return before == .untried ? nil : .restored
    }
  }
}

extension GatewayLink.Change {
  /// Writes it to the log.
  ///
  /// - Parameter url: Where the gateway is; nil where none is known.
  func write(to log: Log, url: String?) {
    let gateway = url.map { [LogField("gateway", $0)] } ?? []
    switch self {
    case .lost(let why):
      log.write(
        .warning, "there is no gateway to ask what push tokens were registered as; it is looked for until there is",
        gateway + [LogField("reason", why)])
    case .refuses(let why):
      log.write(.warning, "the gateway does not tell what push tokens were registered as", gateway + [LogField("reason", why)])
    case .restored: log.write(.info, "the gateway answers", gateway)
    }
  }
}
