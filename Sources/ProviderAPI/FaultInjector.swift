public import Faults
public import HTTP2
public import Primitives
public import Push
import Reactor
public import Transport

/// Does to pushes, and to the connections that they came by, what the faults say; one for each loop.
///
/// It has no say in what is answered: whoever owns the exchange writes that, and goes on with the pushes that were held back.
public final class FaultInjector {
  /// What is left to do for a push.
  public enum Effect {
    /// It goes on as if there were no faults.
    case none
    /// It goes on; a fault has touched it.
    case passes(FaultStrike)
    /// It is held back: `resume` will be called with it, unless its client goes away.
    case held
    /// It is to be answered with the error, and not done.
    case answer(FaultStrike, Reason, timestamp: Instant?)
    /// It is not to be done, and is not to be answered any more; what the fault does to its connection is done.
    case ended(FaultStrike)
  }

  private struct Held {
    let due: Uptime
    let key: ExchangeKey
    weak var connection: HTTP2ServerConnection?
    let strike: FaultStrike
  }

  /// The faults.
  public let book: FaultBook
  /// Goes on with a push that was held back; its fault's action is still to be applied.
  public var resume: (Exchange, HTTP2ServerConnection, FaultStrike) -> Void = { _, _, _ in }
  private unowned let loop: EventLoop
  private let exchanges: ExchangePool
  private var held: [Held] = []
  private var timer: Timer?

  /// An injector for the requests of `transport`.
  public init(_ book: FaultBook, on transport: TransportLoop) {
    self.book = book
    loop = transport.loop
    exchanges = transport.exchanges
    timer = loop.makeTimer { [unowned self] in release() }
  }

  /// Whether any fault is set: asked for each push, before anything else here is.
  @inlinable public var isArmed: Bool { book.isArmed }

  /// Looks whether a fault strikes a push, or a request about broadcasts, which has no token, and does it.
  ///
  /// When it has ended the push, its connection may be gone with all exchanges.
  public func strike(
    _ exchange: Exchange, on connection: HTTP2ServerConnection, token: DeviceToken?, bundleID: RawSpan, _ type: PushType
  ) -> Effect {
    guard let strike = book.strike(token, bundleID: bundleID, type, at: loop.steadyNow) else { return .none }
    guard strike.delay > .zero, held.count < Limits.faultsHeld else { return apply(strike, to: exchange, on: connection) }
    held.append(Held(due: loop.uptime + strike.delay, key: exchange.key, connection: connection, strike: strike))
    armTimer()
    return .held
  }

  /// Does what the fault does after the push was held back.
  public func apply(_ strike: FaultStrike, to exchange: Exchange, on connection: HTTP2ServerConnection) -> Effect {
    switch strike.action {
    case .passes: return .passes(strike)
    case .answer(let reason, let timestamp): return .answer(strike, reason, timestamp: timestamp)
    case .goAway(isAnswered: true):
      connection.goAway(debug: Self.goAwayReason)
      return .passes(strike)
    case .concurrentStreams(let count):
      connection.limit(concurrentStreams: count)
      return .passes(strike)
    case .goAway(isAnswered: false): exchange.turnAway(debug: Self.goAwayReason)
    case .reset(let code): exchange.reset(code)
    case .close, .outage: connection.close()
    // Its slot is given back when its client gives up.
    case .stall: break
    }
    return .ended(strike)
  }

  /// What Apple's servers say when they shut down (apns.md section 1.4).
  private static let goAwayReason = #"{"reason":"Shutdown"}"#

  /// Lets the pushes go on whose time is up, the earliest first.
  private func release() {
    let now = loop.uptime
    let due = held.filter { $0.due <= now }.sorted { $0.due < $1.due }
    held.removeAll { $0.due <= now }
    for push in due {
      guard let exchange = exchanges.exchange(for: push.key), let connection = push.connection else { continue }
      resume(exchange, connection, push.strike)
    }
    armTimer()
  }

  private func armTimer() {
    guard let earliest = held.lazy.map(\.due).min() else { return }
    timer?.arm(at: earliest)
  }
}
