import Delivery
import Primitives
import Push
import Reactor

/// Pushes whose senders are answered once their upstreams have answered, or once that takes too long; those of one loop.
///
/// By the clock that only runs forward, as everything that has to do with sockets.
final class AwaitedAnswers {
  /// A push whose sender has no answer yet.
  struct Push {
    /// The exchange to answer.
    let reply: UInt64
    let id: PushID
    let token: DeviceToken
    let type: PushType
    let environment: PushEnvironment?
    let expiration: Expiration
    let received: Instant
  }

  /// Told of each push whose time is up.
  var whenLate: (Push) -> Void = { _ in }
  private unowned let loop: EventLoop
  /// By the ticket's number, which is never given twice.
  private var pushes: [UInt64: Push] = [:]
  /// When each has to be answered, the earliest first; most of those in front have been answered meanwhile.
  private var deadlines: [(at: Uptime, sequence: UInt64)] = []
  private var timer: Timer?
  /// By when all have to be answered; nil while there is no such time.
  private var end: Uptime?

  init(on loop: EventLoop) {
    self.loop = loop
    timer = loop.makeTimer { [unowned self] in giveUp() }
  }

  /// Whether none is waited for.
  var isEmpty: Bool { pushes.isEmpty }

  /// Waits for the outcome of `ticket`, for at most `timeout`.
  func add(_ push: Push, _ ticket: PushTicket, for timeout: TimeSpan) {
    let deadline = min(loop.uptime + timeout, end ?? .never)
    pushes[ticket.sequence] = push
    // Apps mostly wait for as long as each other, so that the place is nearly always the last.
    var place = deadlines.count
    while place > 0, deadlines[place - 1].at > deadline { place -= 1 }
    deadlines.insert((deadline, ticket.sequence), at: place)
    if place == 0 { timer?.arm(at: deadline) }
  }

  /// Waits for none, and for none that comes, longer than `span` from now.
  func end(after span: TimeSpan) {
    let end = loop.uptime + span
    self.end = end
    for place in deadlines.indices where deadlines[place].at > end { deadlines[place].at = end }
    if let first = deadlines.first { timer?.arm(at: first.at) }
  }

  /// The push of the ticket, which is waited for no longer; nil where it was not.
  func take(_ ticket: PushTicket) -> Push? {
    let push = pushes.removeValue(forKey: ticket.sequence)
    if pushes.isEmpty { deadlines.removeAll(keepingCapacity: true) }
    return push
  }

  private func giveUp() {
    let now = loop.uptime
    let late = deadlines.prefix { $0.at <= now }
    deadlines.removeFirst(late.count)
    for entry in late {
      if let push = pushes.removeValue(forKey: entry.sequence) { whenLate(push) }
    }
    if let next = deadlines.first(where: { pushes[$0.sequence] != nil }) { timer?.arm(at: next.at) }
  }
}
